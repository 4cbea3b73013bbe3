// SPDX-License-Identifier: Apache-2.0
// Objects that threads hand to each other through a pointer in shared memory.
#pragma once

/// Put `object` into *place and return the pointer that was there, as one operation: of several
/// threads that exchange at once, each gets another object. Either may be null.
void* mabd_handover_exchange(void** place, void* object);

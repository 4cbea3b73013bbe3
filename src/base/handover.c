// SPDX-License-Identifier: Apache-2.0
#include "base/handover.h"

void* mabd_handover_exchange(void** place, void* object) {
    return __atomic_exchange_n(place, object, __ATOMIC_ACQ_REL);
}

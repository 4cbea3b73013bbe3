// SPDX-License-Identifier: Apache-2.0
// Marks of the definitions of mabd/gradient.h that come from their default functions.
#pragma once

#include "mabd/gradient.h"

#define MABD_GRADIENT_COOKIE UINT32_C(0x6d616772)
#define MABD_OPTIMIZE_COOKIE UINT32_C(0x6d616f70)

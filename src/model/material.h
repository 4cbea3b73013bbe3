// SPDX-License-Identifier: Apache-2.0
// Mass and elasticity of a class of equal bodies.
#pragma once

#include "math/shared.h"

/// Mass and elasticity of a class of equal bodies.
typedef struct mabd_body_material {
    mabd_real mass;       // [kg]
    mabd_real s[3];       // second moments along the principal axes [kg m^2]
    mabd_real volume;     // [m^3]
    mabd_real mu, lambda; // Lame constants [Pa]
    mabd_real drag;       // [N s/m]
} mabd_body_material;

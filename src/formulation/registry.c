// SPDX-License-Identifier: Apache-2.0
// The formulations of this library. No other file names one of them.

#include "formulation/affine/affine_sim.h"
#include "formulation/formulation.h"
#include "formulation/impulse/impulse_sim.h"
#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/redmax/redmax_sim.h"
#include "formulation/variational/variational_sim.h"

static const mabd_formulation_ops* const formulations[MABD_FORMULATION_COUNT] = {
    [MABD_FORMULATION_AFFINE] = &mabd_formulation_affine,
    [MABD_FORMULATION_QUATERNION] = &mabd_formulation_quaternion,
    [MABD_FORMULATION_REDMAX] = &mabd_formulation_redmax,
    [MABD_FORMULATION_VARIATIONAL] = &mabd_formulation_variational,
    [MABD_FORMULATION_IMPULSE] = &mabd_formulation_impulse,
};

const mabd_formulation_ops* mabd_formulation_ops_of(mabd_formulation formulation) {
    return (unsigned)formulation < MABD_FORMULATION_COUNT ? formulations[formulation] : NULL;
}

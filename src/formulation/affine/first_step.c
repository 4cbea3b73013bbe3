// SPDX-License-Identifier: Apache-2.0
// Division of the first step of a simulation.

#include "formulation/affine/first_step.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/element/body_inertia.h"

// Largest square of the rate of the bodies of a range that hang on something fixed.
static mabd_real fastest_square(const mabd_affine_sim* sim, int32_t first, int32_t last) {
    mabd_real most = 0;
    for (int32_t i = first; i < last; i++) {
        if (!mabd_affine_turns(sim, i) || !sim->anchored[i]) continue;
        const mabd_vec3 o = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)i).o;
        const mabd_real square = mabd_v3_dot(o, o);
        if (square > most) most = square;
    }
    return most;
}

static bool whirls(const mabd_affine_sim* sim, int32_t first, int32_t last) {
    const mabd_real h = sim->def.h, square = h * h * fastest_square(sim, first, last);
    return square > MABD_START_SLOW_RAD * MABD_START_SLOW_RAD &&
           square <= MABD_START_FAST_RAD * MABD_START_FAST_RAD;
}

static bool every_copy_whirls(const mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    const int32_t count = sim->sizes.copies > 0 ? m->copy_bodies : m->body_count;
    bool all = count > 0;
    for (int32_t i = 0; all && i + count <= m->body_count; i += count) {
        all = whirls(sim, i, i + count);
    }
    return all;
}

// True if strain of the bodies that turn in their own frame is quasi-static at steps of h.
static bool is_quasi_static(const mabd_affine_sim* sim, mabd_real h) {
    const mabd_model* m = sim->model;
    bool is = true;
    for (int32_t i = 0; i < m->class_count; i++) {
        const mabd_body_material* material = &m->classes[i].material;
        is &= !mabd_affine_turns_in_frame(material, &sim->def) ||
              mabd_affine_strain_inertia(material, h) < MABD_START_STRAIN_PART;
    }
    return is;
}

int32_t mabd_affine_start_units(const mabd_affine_sim* sim) {
    int32_t units = 1;
    if (sim->sizes.spins == 0 || !every_copy_whirls(sim)) return units;
    for (int i = 0; i < MABD_START_HALVINGS; i++) {
        const mabd_real part = sim->def.h / (mabd_real)(2 * units);
        if (part < MABD_START_MIN_PART_S || !is_quasi_static(sim, part)) break;
        units *= 2;
    }
    return units;
}

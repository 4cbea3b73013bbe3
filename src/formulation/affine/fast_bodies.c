// SPDX-License-Identifier: Apache-2.0
// A body that turns too far in a step (affine/element/spin.h):
//
//   h |o| > 1.2 rad, moments of inertia that differ   nutation is not resolved
//   h |o| > pi                                        whole turns are not told apart by joints
//   damped by mabd_spin_damp                          its torque varies within the step
//
// A simulation warns once. A pass over all bodies in each step would take 5 % of the step of a long
// chain, so each step looks at a window of bodies that moves on.

#include "formulation/affine/fast_bodies.h"

#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/limits.h"

static bool has_equal_moments(const mabd_real* J) {
    const mabd_real most = (mabd_real)fmax(J[0], fmax(J[1], J[2]));
    const mabd_real least = (mabd_real)fmin(J[0], fmin(J[1], J[2]));
    return most - least <= MABD_FAST_EQUAL_PART * most;
}

// Returns why a body turns too far, or null.
static const char* reason_of(const mabd_affine_sim* sim, int32_t body, mabd_real* rate) {
    if (!mabd_affine_turns(sim, body)) return NULL;
    const mabd_spin s = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    const mabd_real* J = mabd_affine_block_of(sim, body)->J;
    mabd_affine_step_scale step = sim->step;
    step.lead = sim->def.h, step.beta_h = 2 * sim->def.h / 3; // of the next step, by BDF2
    *rate = (mabd_real)sqrt(mabd_v3_dot(s.o, s.o));
    const mabd_real angle = sim->def.h * *rate;
    if (angle > MABD_PI) return "that is more than half a turn";
    if (angle > MABD_FAST_RAD && !has_equal_moments(J)) return "its nutation is not resolved";
    mabd_spin damped = s;
    if (!mabd_spin_is_wild(&step, &s)) return NULL;
    mabd_spin_damp(&step, J, &damped);
    const mabd_real left = (mabd_real)sqrt(mabd_v3_dot(damped.o, damped.o));
    if (left > (1 - MABD_FAST_DAMPED_PART) * *rate) return NULL;
    return "its torque varies within the step, and its rotation is damped";
}

static void warn_of(mabd_affine_sim* sim, int32_t body, const char* reason, mabd_real rate,
                    mabd_real time) {
    char label[160];
    const int64_t step = (int64_t)(time / sim->def.h + (mabd_real)1.5);
    mabd_model_body_label(sim->model, body, label, sizeof label);
    mabd_warn(&sim->warnings, body, -1, step,
              "%s turns at %.3g rad/s, %.2g rad in a step: %s; h = %.2g s would turn it by half a "
              "radian",
              label, (double)rate, (double)(rate * sim->def.h), reason, 0.5 / (double)rate);
}

void mabd_affine_watch_fast(mabd_affine_sim* sim, mabd_real time, bool all) {
    const int32_t count = (int32_t)sim->sizes.spins;
    if (sim->warned_fast || count == 0) return;
    const int32_t first = all || sim->watched >= count ? 0 : sim->watched;
    const int32_t last = all || count - first <= MABD_FAST_BODIES_PER_STEP
                             ? count
                             : first + MABD_FAST_BODIES_PER_STEP;
    for (int32_t i = first; i < last && !sim->warned_fast; i++) {
        mabd_real rate = 0;
        const char* reason = reason_of(sim, i, &rate);
        if (!reason) continue;
        warn_of(sim, i, reason, rate, time);
        sim->warned_fast = true;
    }
    sim->watched = last;
}

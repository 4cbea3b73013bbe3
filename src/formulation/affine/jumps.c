// SPDX-License-Identifier: Apache-2.0
// Jumps of controls and forces. BDF2 obtains the acceleration at the end of a step from
//   v' = (3 v_{n+1} - 4 v_n + v_{n-1})/2h
// which is of second order if v' is smooth in the last two steps. A force on a mass m that jumps
// from f0 to f1 at t_n gives instead
//   v_{n+1} - v_n = (2/3) h f1/m + (1/3)(v_n - v_{n-1}) = h f1/m - (h/3)(f1 - f0)/m
// and so on: v lacks (h/2)(f1 - f0)/m in the end, as if the force came h/2 late. With controls that
// are held for some steps, every jump adds this error: the method is of first order. A step by
// SDIRK2 has no history: v_{n+1} - v_n = h f1/m, exactly. So a copy takes the step after a jump by
// SDIRK2 (step.c), and the error of held controls is of second order again.
//
// What counts as a jump at the beginning t of a step:
//   target    a target from outside (mabd_sim_set_targets) that differs from that of the last step,
//             or from the signal it replaces or returns to. Setting the same value is no jump.
//   applied   forces for one step (mabd_sim_apply_force) that differ from those of the last step
//   signal    a signal of kind `steps` that changes inside t - h < s < t + h. A change at s = t is
//             exact: the step that begins there has the new value. A step with a change inside has
//             the mean over the step (layout.c), so the impulse of the force is exact and the error
//             of the position O(h^2), once; this step and the next one have another value than the
//             step before, and both restart.
// All are functions of the state and of t, so a resumed run restarts at the same steps.
//
// Not a jump: the target of a rigid servo. It is a position, which a program moves along a path,
// one target a step, and SDIRK2 with the target of the end at both of its solves would make a
// velocity of -4.8 times the true one. Within a step such a target moves on (targets.c).
//
// Forces of the last step are compared by a fingerprint of 64 bits for each copy, because a second
// array of wrenches would be a tenth of the state of a long chain.

#include "formulation/affine/jumps.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/targets.h"

#include "base/hash.h"
#include "scene/signal.h"

#include <string.h>

static bool by_copy(const mabd_affine_sim* sim) {
    return sim->sizes.by_copy > 0;
}

// ---- applied forces ----------------------------------------------------------------------------

// Fingerprint of the forces applied to a copy, 0 without any.
static uint64_t applied_print(const mabd_affine_sim* sim, int32_t copy) {
    const size_t bodies = (size_t)sim->model->copy_bodies, first = 6 * bodies * (size_t)copy;
    uint64_t print = 0;
    for (size_t i = 0; i < 6 * bodies; i++) {
        const mabd_real value = sim->applied[first + i];
        if (value == 0) continue;
        if (print == 0) print = MABD_HASH_START;
        print = mabd_hash(print, &i, sizeof i);
        print = mabd_hash(print, &value, sizeof value);
    }
    return print;
}

static void find_applied(mabd_affine_sim* sim) {
    if (!sim->has_applied && !sim->had_applied) return;
    for (int32_t i = 0; i < mabd_model_control_copies(sim->model); i++) {
        const uint64_t print = sim->has_applied ? applied_print(sim, i) : 0;
        sim->jumps[i] |= print != sim->applied_print[i];
    }
}

// ---- controls ----------------------------------------------------------------------------------

// True if the control of a copy, number `at` of all, jumps at t.
static bool control_jumps(const mabd_affine_sim* sim, size_t at, const mabd_affine_control_of* of,
                          mabd_real time) {
    const mabd_real h = sim->def.h;
    const bool set = sim->target_set[at], was_set = sim->last_set[at];
    if (of->rigid) return false;
    if (set && was_set) return sim->target[at] != sim->last_target[at];
    if (!set && !was_set) return of->signal && mabd_signal_jumps(of->signal, time - h, time + h);
    // the signal in the last step, or in this one
    const mabd_real from = set ? time - h : time;
    const mabd_real value = of->signal ? mabd_signal_over(of->signal, from, h, time) : 0;
    return (set ? sim->target[at] : sim->last_target[at]) != value;
}

static bool is_any_set(const mabd_affine_sim* sim) {
    const size_t n = sim->sizes.targets;
    return n > 0 && (memchr(sim->target_set, true, n) || memchr(sim->last_set, true, n) ||
                     memchr(sim->older_set, true, n));
}

static void find_controls(mabd_affine_sim* sim, bool signals, mabd_real time) {
    const mabd_model* m = sim->model;
    size_t at = 0;
    if (!signals && !is_any_set(sim)) return;
    for (int32_t copy = 0; copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++, at++) {
            const mabd_affine_control_of of = mabd_affine_find_control(m, copy, k);
            sim->jumps[copy] = sim->jumps[copy] || control_jumps(sim, at, &of, time);
        }
    }
}

// ---- signals -----------------------------------------------------------------------------------

static bool any_signal_jumps(const mabd_affine_sim* sim, mabd_real time) {
    const mabd_model* m = sim->model;
    const mabd_real h = sim->def.h;
    for (int32_t i = 0; sim->has_steps && i < m->signal_count; i++) {
        if (mabd_signal_jumps(&m->signals[i], time - h, time + h)) return true;
    }
    return false;
}

// Forces and wind of the scene. The wind blows on all copies.
static void find_forces(mabd_affine_sim* sim, mabd_real time) {
    const mabd_model* m = sim->model;
    const mabd_real h = sim->def.h;
    const bool wind = m->wind && mabd_signal_jumps(m->wind, time - h, time + h);
    for (int32_t i = 0; i < mabd_model_control_copies(m); i++) sim->jumps[i] |= wind;
    for (int32_t i = 0; i < m->force_count; i++) {
        const mabd_signal* signal = m->forces[i].signal;
        if (!signal || !mabd_signal_jumps(signal, time - h, time + h)) continue;
        sim->jumps[m->forces[i].body / m->copy_bodies] = true;
    }
}

// ---- a step ------------------------------------------------------------------------------------

mabd_affine_jump mabd_affine_find_jumps(mabd_affine_sim* sim, mabd_real time) {
    const int32_t copies = mabd_model_control_copies(sim->model);
    const bool signals = any_signal_jumps(sim, time);
    int32_t count = 0;
    memset(sim->jumps, 0, (size_t)copies * sizeof *sim->jumps);
    find_applied(sim);
    find_controls(sim, signals, time);
    if (signals) find_forces(sim, time);
    for (int32_t i = 0; i < copies; i++) count += sim->jumps[i];
    if (count == 0) return MABD_JUMP_NONE;
    return by_copy(sim) && count < copies ? MABD_JUMP_SOME : MABD_JUMP_ALL;
}

void mabd_affine_keep_inputs(mabd_affine_sim* sim) {
    const size_t n = sim->sizes.targets;
    if (is_any_set(sim)) {
        memcpy(sim->older_target, sim->last_target, n * sizeof *sim->target);
        memcpy(sim->older_set, sim->last_set, n * sizeof *sim->target_set);
        memcpy(sim->last_target, sim->target, n * sizeof *sim->target);
        memcpy(sim->last_set, sim->target_set, n * sizeof *sim->target_set);
    }
    if (!sim->has_applied && !sim->had_applied) return;
    for (int32_t i = 0; i < mabd_model_control_copies(sim->model); i++) {
        sim->applied_print[i] = sim->has_applied ? applied_print(sim, i) : 0;
    }
    sim->had_applied = sim->has_applied;
}

void mabd_affine_forget_inputs(mabd_affine_sim* sim) {
    const size_t n = sim->sizes.targets, copies = (size_t)mabd_model_control_copies(sim->model);
    memset(sim->last_target, 0, n * sizeof *sim->last_target);
    memset(sim->last_set, 0, n * sizeof *sim->last_set);
    memset(sim->older_target, 0, n * sizeof *sim->older_target);
    memset(sim->older_set, 0, n * sizeof *sim->older_set);
    memset(sim->applied_print, 0, copies * sizeof *sim->applied_print);
    sim->had_applied = false;
}

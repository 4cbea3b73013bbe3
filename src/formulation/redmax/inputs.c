// SPDX-License-Identifier: Apache-2.0
// Controls, motors and forces of a step.
//
// A value that a program has set replaces that of the signal and is held during the step; the
// target of a rigid servo is a position, which the axis reaches at the end of the step, along a
// line from where it is. An input that jumps at the start of a step ends the history of its part.

#include "formulation/redmax/redmax_sim.h"

#include "scene/signal.h"

#include <string.h>

// ---- values of a solve -------------------------------------------------------------------------

static mabd_real signal_value(const mabd_redmax_solve* s, const mabd_signal* signal) {
    return signal ? mabd_signal_over(signal, s->from, s->h, s->time) : 0;
}

static size_t motor_place(const mabd_redmax_sim* sim, int32_t motor) {
    return (size_t)(sim->model->coordinate_count + motor);
}

void mabd_redmax_set_inputs(mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[k];
        s->force[k] = s->motor[k] = 0;
        if (f->control && !f->control->rigid) {
            const bool set = sim->target_set[f->coordinate];
            const mabd_real target =
                set ? sim->target[f->coordinate] : signal_value(s, f->control->servo);
            s->force[k] = f->control->offset + f->control->gain * target;
        }
        if (f->engine) {
            const size_t at = motor_place(sim, f->motor);
            s->motor[k] = sim->target_set[at] ? sim->target[at] : signal_value(s, f->engine->force);
        }
    }
    s->wind = mabd_v3_scale(signal_value(s, m->wind), mabd_v3_load(m->wind_direction));
}

// Signal of a prescribed freedom; null: its target was set from outside.
static const mabd_signal* signal_of(const mabd_redmax_sim* sim, const mabd_redmax_freedom* f) {
    if (f->script) return f->script;
    return sim->target_set[f->coordinate] ? NULL : f->control->servo;
}

bool mabd_redmax_has_rate(const mabd_redmax_sim* sim, int32_t k) {
    const mabd_signal* signal = signal_of(sim, &sim->freedoms[k]);
    return !signal || signal->kind != MABD_SIGNAL_STEPS;
}

void mabd_redmax_prescribed(const mabd_redmax_solve* s, int32_t k, mabd_real* q, mabd_real* rate) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_signal* signal = signal_of(sim, f);
    if (signal) {
        *q = signal_value(s, signal), *rate = mabd_signal_rate(signal, s->time);
        return;
    }
    if (!f->script && !sim->target_set[f->coordinate]) { // a servo without a signal holds 0
        *q = *rate = 0;
        return;
    }
    *rate = (sim->target[f->coordinate] - sim->now.q[k]) / sim->def.h;
    *q = sim->now.q[k] + (s->time - sim->time) * *rate;
}

// ---- jumps -------------------------------------------------------------------------------------

static bool differs(const mabd_redmax_sim* sim, size_t k) {
    return sim->target_set[k] != sim->last_set[k] ||
           (sim->target_set[k] && sim->target[k] != sim->last_target[k]);
}

static bool freedom_jumps(const mabd_redmax_sim* sim, const mabd_redmax_freedom* f) {
    bool jumps = false;
    const bool position = f->control && mabd_axis_is_position(f->control);
    if (f->control && !position) jumps |= differs(sim, (size_t)f->coordinate);
    if (f->engine) jumps |= differs(sim, motor_place(sim, f->motor));
    return jumps;
}

static bool body_jumps(const mabd_redmax_sim* sim, int32_t body) {
    const size_t at = 6 * (size_t)body;
    if (body < 0 || (!sim->has_applied && !sim->had_applied)) return false;
    return memcmp(sim->applied + at, sim->last_applied + at, 6 * sizeof(mabd_real)) != 0;
}

bool mabd_redmax_jumps(const mabd_redmax_sim* sim, const mabd_redmax_part* part, mabd_real time) {
    const mabd_model* m = sim->model;
    bool jumps = false;
    for (int32_t i = 0; i < m->signal_count; i++) {
        jumps |= mabd_signal_jumps(&m->signals[i], time - sim->def.h, time + sim->def.h);
    }
    for (int32_t k = 0; k < part->freedom_count && !jumps; k++) {
        jumps = freedom_jumps(sim, &sim->freedoms[part->freedom_first + k]);
    }
    for (int32_t i = 0; i < part->link_count && !jumps; i++) {
        jumps = body_jumps(sim, sim->links[part->link_first + i].body);
    }
    return jumps;
}

void mabd_redmax_keep_inputs(mabd_redmax_sim* sim) {
    const size_t n = (size_t)(sim->model->coordinate_count + sim->motor_count);
    const size_t bytes = 6 * (size_t)sim->model->body_count * sizeof *sim->applied;
    memcpy(sim->last_target, sim->target, n * sizeof *sim->target);
    memcpy(sim->last_set, sim->target_set, n * sizeof *sim->target_set);
    if (!sim->has_applied && !sim->had_applied) return;
    memcpy(sim->last_applied, sim->applied, bytes);
    memset(sim->applied, 0, bytes);
    sim->had_applied = sim->has_applied, sim->has_applied = false;
}

// ---- entries of the table ----------------------------------------------------------------------

// Place of a control of a copy in sim->target.
static size_t place_of(const mabd_redmax_sim* sim, int32_t copy, int32_t control) {
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const int32_t joint = copy * m->copy_joints + own->joint;
    if (own->kind != MABD_CONTROL_FORCE) return (size_t)(m->joints[joint].coordinate + own->row);
    return motor_place(sim, sim->joint_motor[joint] + own->row);
}

void mabd_redmax_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                             const mabd_real* values) {
    mabd_redmax_sim* sim = self;
    const int32_t n = sim->model->control_count;
    for (int32_t i = 0; i < count * n; i++) {
        if (which && !which[i % n]) continue;
        const size_t k = place_of(sim, first + i / n, i % n);
        sim->target[k] = values ? values[i] : 0;
        sim->target_set[k] = values != NULL;
    }
}

bool mabd_redmax_get_target(const void* self, int32_t copy, int32_t control, mabd_real* target) {
    const mabd_redmax_sim* sim = self;
    const size_t k = place_of(sim, copy, control);
    *target = sim->target[k];
    return sim->target_set[k];
}

void mabd_redmax_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_redmax_sim* sim = self;
    const mabd_model* m = sim->model;
    size_t at = 0;
    mabd_redmax_place_now(sim);
    for (int32_t copy = 0; copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++, at++) {
            mabd_real x[2];
            mabd_redmax_control_state(sim, copy, k, x);
            if (coordinates) coordinates[at] = x[0];
            if (rates) rates[at] = x[1];
        }
    }
}

void mabd_redmax_apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                             const mabd_real* torques) {
    mabd_redmax_sim* sim = self;
    for (int32_t i = 0; i < n; i++) {
        mabd_real* wrench = sim->applied + 6 * (size_t)bodies[i];
        for (size_t k = 0; k < 3; k++) {
            if (forces) wrench[k] += forces[3 * (size_t)i + k];
            if (torques) wrench[3 + k] += torques[3 * (size_t)i + k];
        }
    }
    sim->has_applied |= n > 0;
}

// SPDX-License-Identifier: Apache-2.0
// Controls, motors and forces of a step.
//
// Inputs are those of rigid/inputs.h. The target of a rigid servo that is set is a position, which
// the axis reaches at the end of the step, along a line from where it is.

#include "formulation/redmax/redmax_sim.h"

static mabd_real signal_value(const mabd_redmax_solve* s, const mabd_signal* signal) {
    return mabd_rigid_signal(signal, s->from, s->h, s->time);
}

void mabd_redmax_set_inputs(mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_rigid_inputs* in = &sim->inputs;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[k];
        s->force[k] = s->motor[k] = 0;
        if (f->control && !f->control->rigid) {
            const bool set = in->target_set[f->coordinate];
            const mabd_real target =
                set ? in->target[f->coordinate] : signal_value(s, f->control->servo);
            s->force[k] = f->control->offset + f->control->gain * target;
        }
        if (f->engine) {
            const size_t at = (size_t)(sim->model->coordinate_count + f->motor);
            s->motor[k] = in->target_set[at] ? in->target[at] : signal_value(s, f->engine->force);
        }
    }
    s->wind = mabd_rigid_wind(sim->model, s->from, s->h, s->time);
}

// Signal of a prescribed freedom; null: its target was set from outside.
static const mabd_signal* signal_of(const mabd_redmax_sim* sim, const mabd_redmax_freedom* f) {
    if (f->script) return f->script;
    return sim->inputs.target_set[f->coordinate] ? NULL : f->control->servo;
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
    if (!f->script && !sim->inputs.target_set[f->coordinate]) { // a servo without a signal holds 0
        *q = *rate = 0;
        return;
    }
    const mabd_real left = sim->whole_h - sim->begun; // of a step in parts
    *rate = (sim->inputs.target[f->coordinate] - sim->now.q[k]) / left;
    *q = sim->now.q[k] + (s->time - sim->time) * *rate;
}

bool mabd_redmax_jumps(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    bool jumps = sim->signals_jump;
    for (int32_t i = 0; i < part->link_count && !jumps; i++) {
        const mabd_redmax_link* link = &sim->links[part->link_first + i];
        jumps = mabd_rigid_force_jumps(&sim->inputs, link->body);
        if (link->last && link->joint >= 0)
            jumps |= mabd_rigid_joint_jumps(&sim->inputs, link->joint);
    }
    return jumps;
}

// ---- entries of the table ----------------------------------------------------------------------

void mabd_redmax_restart_input(void* self, int32_t control, int32_t body) {
    mabd_rigid_restart_input(&((mabd_redmax_sim*)self)->inputs, control, body);
}

void mabd_redmax_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                             const mabd_real* values) {
    mabd_rigid_set_targets(&((mabd_redmax_sim*)self)->inputs, first, count, which, values);
}

bool mabd_redmax_get_target(const void* self, int32_t copy, int32_t control, mabd_real* target) {
    return mabd_rigid_get_target(&((const mabd_redmax_sim*)self)->inputs, copy, control, target);
}

void mabd_redmax_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_redmax_sim* sim = self;
    mabd_redmax_place_now(sim);
    mabd_rigid_get_controls(sim->model, mabd_redmax_control_state, sim, coordinates, rates);
}

void mabd_redmax_apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                             const mabd_real* torques) {
    mabd_rigid_apply_force(&((mabd_redmax_sim*)self)->inputs, n, bodies, forces, torques);
}

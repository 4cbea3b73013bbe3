// SPDX-License-Identifier: Apache-2.0
// The time step of the impulse formulation: substeps, each
//
//   contacts    points, once a step (contact.c)
//   loads       V with forces and without impulses (forces.c)
//   rows        of joints (rows.c), axes (axes.c), contacts (contact_rows.c) at the current pose
//   warm start  the impulses of the last substep
//   sweeps      impulses that end the rates of the rows, errors included (sweep.c)
//   move        poses by V
//   relax       sweeps without errors: V loses the velocities of corrections
//   rebound     in the last one (contact_sweep.c)

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_direct.h"

#include "base/clock.h"
#include "base/error.h"
#include "formulation/impulse/impulse_limits.h"
#include "rigid/measure.h"

#include <math.h>
#include <string.h>

mabd_impulse_soft mabd_impulse_soft_row(const mabd_impulse_def* def, mabd_real hertz,
                                        mabd_real damping, mabd_real h) {
    mabd_impulse_soft soft = {0, 1, 0};
    if (def->correction == MABD_CORRECTION_BAUMGARTE) soft.rate = def->baumgarte / h;
    if (def->correction != MABD_CORRECTION_SOFT) return soft;
    const mabd_real most = MABD_IMPULSE_HERTZ_MAX / h;
    const mabd_real om = 2 * MABD_PI * (hertz < most ? hertz : most);
    const mabd_real a1 = 2 * damping + h * om, a2 = h * om * a1;
    soft.rate = om / a1, soft.mass = a2 / (1 + a2), soft.leak = 1 / (1 + a2);
    return soft;
}

// Rows at the start of a substep, and the impulses of the last one.
static mabd_status start_rows(mabd_impulse_sim* sim, mabd_error* error) {
    if (sim->direct) {
        MABD_TRY(mabd_impulse_direct_factor(sim, error));
    } else {
        mabd_impulse_blocks_place(sim);
    }
    mabd_impulse_set_axes(sim);
    if (sim->contacts) mabd_impulse_set_contacts(sim);
    mabd_impulse_warm_start(sim, sim->part > 0 ? sim->h / sim->part : 0);
    if (sim->direct) mabd_impulse_direct_solve(sim, false);
    return MABD_OK;
}

// The state at the end of a substep whose velocities are known.
static mabd_status end_substep(mabd_impulse_sim* sim, bool last, mabd_error* error) {
    mabd_impulse_turn_velocities(sim);
    mabd_impulse_end_poses(sim);
    if (sim->direct) {
        mabd_impulse_direct_keep(sim);
        MABD_TRY(mabd_impulse_project(sim, error));
    } else if (last || sim->firm) {
        mabd_impulse_blocks_read(sim);
    }
    mabd_impulse_read_coordinates(sim);
    mabd_impulse_book_substep(sim);
    return MABD_OK;
}

static mabd_status do_substep(mabd_impulse_sim* sim, bool last, mabd_error* error) {
    const mabd_impulse_def* def = &sim->def.impulse;
    double clock = mabd_clock();
    mabd_impulse_add_loads(sim);
    MABD_TRY(start_rows(sim, error));
    sim->part = sim->h;
    sim->times[MABD_IMPULSE_ROWS] += mabd_clock() - clock, clock = mabd_clock();
    for (int32_t k = 0; k < def->sweeps; k++) mabd_impulse_sweep(sim, false);
    sim->times[MABD_IMPULSE_SWEEP] += mabd_clock() - clock;
    mabd_impulse_move(sim);
    mabd_impulse_move_axes(sim);
    if (sim->contacts) mabd_impulse_move_contacts(sim);
    clock = mabd_clock();
    for (int32_t k = 0; k < def->relaxations; k++) mabd_impulse_sweep(sim, true);
    sim->times[MABD_IMPULSE_SWEEP] += mabd_clock() - clock;
    if (sim->contacts && last) mabd_impulse_rebound(sim);
    mabd_impulse_book_velocities(sim);
    return end_substep(sim, last, error);
}

// ---- the step ----------------------------------------------------------------------------------

// First body whose state is not finite, -1 = none.
static int32_t find_lost_body(const mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_impulse_line* line = &sim->lines[i];
        const mabd_vec3 v = mabd_v3_load(line->v), w = mabd_v3_load(line->w);
        const mabd_real sum =
            mabd_v3_dot(v, v) + mabd_v3_dot(w, w) + mabd_v3_dot(sim->c[i], sim->c[i]);
        if (!isfinite(sum + sim->q[i].w)) return i;
    }
    return -1;
}

// Openings of ball joints, in lanes.
static void report_balls(const mabd_impulse_sim* sim, mabd_step_info* info) {
    int32_t joint = -1;
    const mabd_real gap = sim->blocks ? mabd_impulse_blocks_gap(sim, &joint) : -1;
    if (joint >= 0) info->gap = gap, info->worst_joint = joint;
}

static void report(const mabd_impulse_sim* sim, mabd_step_info* info) {
    const mabd_impulse_def* def = &sim->def.impulse;
    const int32_t parts = (int32_t)floor(sim->def.h / sim->h + (mabd_real)0.5);
    info->substeps = parts;
    info->iterations = parts * (def->sweeps + def->relaxations);
    info->impulse.colors = sim->blocks ? sim->blocks->packs.order.color_count : 0;
    info->impulse.impulse_change = sim->largest > 0 ? sim->change / sim->largest : 0;
    info->impulse.carriers = sim->carrier_count;
    info->impulse.carried = sim->carried_most;
    info->converged = !(info->impulse.impulse_change > MABD_IMPULSE_CONVERGED);
    if (sim->contacts) mabd_impulse_report_contacts(sim, info);
    report_balls(sim, info);
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        if (mabd_impulse_blocks_measure(sim, i)) continue;
        const mabd_model_joint* joint = &sim->model->joints[i];
        const mabd_joint_view view = mabd_impulse_view(sim, joint);
        mabd_rigid_keep_error(&view, &sim->model->row_sets[joint->row_set], i, &info->gap,
                              &info->angle_error, &info->worst_joint);
    }
}

static mabd_status find_contacts(mabd_impulse_sim* sim, mabd_real time, mabd_error* error) {
    if (!sim->contacts) return MABD_OK;
    const double clock = mabd_clock();
    const mabd_status status = mabd_impulse_find_contacts(sim);
    sim->times[MABD_IMPULSE_CONTACTS] += mabd_clock() - clock;
    if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "finding contacts");
    if (status == MABD_OK) return MABD_OK;
    const int32_t body = sim->contacts->geometry->bad_body;
    char label[160];
    mabd_model_body_label(sim->model, body, label, sizeof label);
    return mabd_fail_at(error, status, body, -1, time, "the pose is not finite at %s (t = %g s)",
                        label, (double)time);
}

// True if no body turns so far in a step that K^-1 of its first substep is not good enough.
static bool turn_little(const mabd_impulse_sim* sim) {
    mabd_real most = 0;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_vec3 w = mabd_v3_load(sim->lines[i].w);
        const mabd_real w2 = mabd_v3_dot(w, w);
        if (!(w2 <= most)) most = w2;
    }
    return sim->def.h * (mabd_real)sqrt(most) <= MABD_IMPULSE_SHARED_TURN;
}

static mabd_status advance(mabd_impulse_sim* sim, mabd_real time, mabd_error* error) {
    const mabd_impulse_def* def = &sim->def.impulse;
    const int32_t parts = mabd_impulse_substeps(sim);
    const int64_t number = llround((double)(time / sim->def.h)); // of the step
    const bool alone = (def->sweeps == 1 || def->relaxations == 1) &&
                       (def->sweeps + def->relaxations) % 2 == 0; // one kind goes one way
    char label[160];
    sim->h = sim->def.h / (mabd_real)parts;
    sim->soft = mabd_impulse_soft_row(def, def->joint_hertz, MABD_IMPULSE_JOINT_DAMPING, sim->h);
    sim->soft_contact =
        mabd_impulse_soft_row(def, def->contact_hertz, MABD_IMPULSE_CONTACT_DAMPING, sim->h);
    const bool little = turn_little(sim);
    sim->sweep = 0;
    mabd_impulse_find_carriers(sim);
    MABD_TRY(find_contacts(sim, time, error));
    for (int32_t k = 0; k < parts; k++) {
        sim->from = time + (mabd_real)k * sim->h;
        sim->keep_rows = little && k > 0;
        sim->turned = alone && (number * parts + k) % 2 == 1;
        MABD_TRY(do_substep(sim, k == parts - 1, error));
    }
    const int32_t lost = find_lost_body(sim);
    if (lost < 0 && sim->contacts && mabd_impulse_keep_contacts(sim) != MABD_OK) {
        return mabd_fail_memory(error, "keeping contacts");
    }
    if (lost < 0) return MABD_OK;
    mabd_model_body_label(sim->model, lost, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_DIVERGED, lost, -1, time,
                        "the motion is not finite at %s (t = %g s)", label, (double)time);
}

static double timed(const mabd_impulse_sim* sim) {
    return sim->times[MABD_IMPULSE_CONTACTS] + sim->times[MABD_IMPULSE_ROWS] +
           sim->times[MABD_IMPULSE_SWEEP];
}

mabd_status mabd_impulse_step(void* self, mabd_real time, mabd_step_info* info, mabd_error* error) {
    mabd_impulse_sim* sim = self;
    mabd_step_info local;
    const double inside = timed(sim);
    const double clock = mabd_clock();
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->worst_joint = -1;
    sim->time = time;
    mabd_impulse_keep(sim);
    memset(sim->axis_work, 0, (size_t)sim->model->coordinate_count * sizeof *sim->axis_work);
    mabd_status status = advance(sim, time, error);
    if (status == MABD_OK) {
        mabd_impulse_book_step(sim, time);
        status = mabd_impulse_check_gain(sim, time, error);
    }
    if (status != MABD_OK) {
        mabd_impulse_undo(sim);
        return status;
    }
    sim->time = time + sim->def.h;
    report(sim, info);
    mabd_impulse_watch_stability(sim);
    mabd_rigid_inputs_keep(&sim->inputs);
    sim->times[MABD_IMPULSE_STEP] += mabd_clock() - clock + inside - timed(sim);
    return MABD_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Sweeps over all rows, one after the other, in the order of impulse_data.h; every second sweep
// goes backwards. ([SI] leaves order and accumulation open.) Impulses are accumulated and the sums
// are held to their bounds; a step begins with those of the last one.

#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_sim.h"

#include <math.h>

// ---- blocks ------------------------------------------------------------------------------------

static void push(mabd_impulse_sim* sim, int32_t a, int32_t b, mabd_impulse_pair* V, mabd_vec3 p,
                 mabd_vec3 on_a, mabd_vec3 on_b) {
    mabd_impulse_push(V, sim->lines[a].inverse_mass, &sim->inertia[a], sim->lines[b].inverse_mass,
                      &sim->inertia[b], p, on_a, on_b);
}

static void push_ball(mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                      const mabd_impulse_arms* r, mabd_impulse_pair* V, mabd_vec3 p) {
    push(sim, j->a, j->b, V, p, mabd_v3_cross(p, r->a), mabd_v3_cross(r->b, p));
}

static void push_rows(mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_impulse_pair* V,
                      const mabd_real* dl) {
    mabd_vec3 p = mabd_v3(0, 0, 0), on_a = p, on_b = p;
    for (int32_t r = 0; r < j->width; r++) {
        const mabd_impulse_row* J = &sim->J[j->jacobian + r];
        p = mabd_v3_axpy(dl[r], J->f, p);
        on_a = mabd_v3_axpy(dl[r], J->ta, on_a), on_b = mabd_v3_axpy(dl[r], J->tb, on_b);
    }
    push(sim, j->a, j->b, V, p, on_a, on_b);
}

static void note(mabd_impulse_sim* sim, mabd_real change, mabd_real l) {
    sim->change = (mabd_real)fmax(sim->change, fabs(change));
    sim->largest = (mabd_real)fmax(sim->largest, fabs(l));
}

static void sweep_ball(mabd_impulse_sim* sim, int32_t index, bool relax) {
    const mabd_impulse_joint* j = &sim->joints[index];
    const mabd_impulse_arms* r = &sim->arms[index];
    mabd_impulse_line *a = &sim->lines[j->a], *b = &sim->lines[j->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    mabd_real* l = sim->lambda + j->row;
    mabd_vec3 u = mabd_impulse_ball_rate(r, &V);
    if (!relax) u = mabd_v3_add(u, mabd_v3_load(sim->bias + j->row));
    const mabd_vec3 p = mabd_impulse_ball(sim->L + j->block, u, relax ? 1 : sim->soft.mass,
                                          relax ? 0 : sim->soft.leak, l);
    push_ball(sim, j, r, &V, p);
    mabd_impulse_store(&V, a, b);
    note(sim, p.x, l[0]), note(sim, p.y, l[1]), note(sim, p.z, l[2]);
}

static void sweep_block(mabd_impulse_sim* sim, const mabd_impulse_joint* j, bool relax) {
    mabd_impulse_line *a = &sim->lines[j->a], *b = &sim->lines[j->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    mabd_real x[MABD_IMPULSE_MAX_ROWS], *l = sim->lambda + j->row;
    const mabd_real *bias = (relax ? sim->hold : sim->bias) + j->row, *give = sim->give + j->row;
    const bool rigid = relax || j->firm;
    const mabd_real mass = rigid ? 1 : sim->soft.mass, leak = rigid ? 0 : sim->soft.leak;
    for (int32_t r = 0; r < j->width; r++) {
        x[r] = -(mabd_impulse_rate(&sim->J[j->jacobian + r], &V) + bias[r] + give[r] * l[r]);
    }
    mabd_impulse_solve_block(j->width, sim->L + j->block, x);
    for (int32_t r = 0; r < j->width; r++) {
        x[r] = mass * x[r] - leak * l[r];
        l[r] += x[r];
        note(sim, x[r], l[r]);
    }
    push_rows(sim, j, &V, x);
    mabd_impulse_store(&V, a, b);
}

static void sweep_joint(mabd_impulse_sim* sim, int32_t index, bool relax) {
    const mabd_impulse_joint* j = &sim->joints[index];
    if (j->jacobian < 0) {
        sweep_ball(sim, index, relax);
    } else if (j->width > 0) {
        sweep_block(sim, j, relax);
    }
}

// ---- axes --------------------------------------------------------------------------------------

static void push_axis(mabd_impulse_sim* sim, const mabd_impulse_axis* axis, mabd_impulse_pair* V,
                      mabd_real dp) {
    push(sim, axis->a, axis->b, V, mabd_v3_scale(dp, axis->J.f), mabd_v3_scale(dp, axis->J.ta),
         mabd_v3_scale(dp, axis->J.tb));
}

static void sweep_axis(mabd_impulse_sim* sim, mabd_impulse_axis* axis, mabd_real* impulse) {
    mabd_impulse_line *a = &sim->lines[axis->a], *b = &sim->lines[axis->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    const mabd_real h = sim->h, w = h * h * axis->K;
    const mabd_real D = h * (mabd_impulse_rate(&axis->J, &V) + axis->shift);
    const mabd_real z = D - h * axis->K * *impulse; // D + w lambda
    const mabd_axis_branch branch = mabd_axis_find(&axis->law, w, z);
    const mabd_axis_line line = mabd_axis_row(&axis->law, branch);
    const mabd_real lambda = line.flat ? line.lambda : (z - mabd_axis_point(&line, w, z)) / w;
    const mabd_real dp = -h * lambda - *impulse;
    *impulse = -h * lambda;
    push_axis(sim, axis, &V, dp);
    mabd_impulse_store(&V, a, b);
    note(sim, dp, *impulse);
}

// ---- sweeps ------------------------------------------------------------------------------------

void mabd_impulse_warm_start(mabd_impulse_sim* sim, mabd_real scale) {
    for (int32_t i = 0; i < sim->row_count; i++) sim->lambda[i] *= scale;
    for (int32_t i = 0; i < sim->axis_count; i++) sim->axis_impulse[i] *= scale;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        const mabd_real* l = sim->lambda + j->row;
        mabd_impulse_line *a = &sim->lines[j->a], *b = &sim->lines[j->b];
        mabd_impulse_pair V = mabd_impulse_load(a, b);
        if (j->jacobian < 0) {
            push_ball(sim, j, &sim->arms[i], &V, mabd_v3_load(l));
        } else {
            push_rows(sim, j, &V, l);
        }
        for (int32_t k = j->axis; k < j->axis + j->axis_count; k++) {
            push_axis(sim, &sim->axes[k], &V, sim->axis_impulse[k]);
        }
        mabd_impulse_store(&V, a, b);
    }
}

void mabd_impulse_sweep(mabd_impulse_sim* sim, bool relax) {
    const bool back = sim->sweep++ % 2 == 1;
    sim->change = sim->largest = 0;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        sweep_joint(sim, back ? sim->joint_count - 1 - i : i, relax);
    }
    for (int32_t i = 0; i < sim->axis_count; i++) {
        const int32_t k = back ? sim->axis_count - 1 - i : i;
        sweep_axis(sim, &sim->axes[k], &sim->axis_impulse[k]);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Bodies that carry more than their inertia holds in a substep of h: light ones in the way of a
// large force or torque, such as rods of grams under a load of kilograms.
//
// Rows and impulses are those of the start of a substep, so the force F of a joint at the point X
// of a body acts as an explicit spring S against its turns (rigid/stability.c), which gains energy
// without bound beyond h w = 2, w^2 = S/I. A net of rods over a cylinder flew apart at h w = 3.
// The torque T of rotation rows has two effects. The rows of soft joints give way: they come to
// rest open by T/(I om^2), om = pi/(2 h) at most (MABD_IMPULSE_HERTZ_MAX), and a head on a neck of
// grams opened by half a radian and flew off. And the impulses of springs that are stiff against
// the inertia of their bodies, h^2 k > I, lag behind what the springs do as sweeps converge slowly:
// a delayed spring gains energy, and a tree on springs of 6000 N m burst in half a second at 4
// substeps of 10 sweeps as well as of one. Both grow with h^2 T/I.
//
// So impulses turn such a body as if it had the inertia
//
//   I + I^1/2 (h^2 I^-1/2 (sum over its joints of S + N |T| 1) I^-1/2 - 1)^+ I^1/2
//
// where ^+ takes the positive eigenvalues: h w is 1 at most, and soft rows open by at most
// 4/(pi^2 N) rad. A body that holds its loads has its own inertia; with h -> 0 all have. Loads of
// the substep, other than gravity at its centre, turn it as impulses do. The angular momentum that
// is wrong is that of the inertia added, which belongs to light bodies and does not pile up: a
// body that turns there and back has given back what it took. (Inertia added all the time would
// slow what is stable; a force law of turns instead would damp it.)
//
// Forces are those of the last substep before the step: they hold for all of its substeps. A bound
// by |F| |X| finds the bodies for which S is needed. With joints solved at once, substeps are what
// bounds h w (substeps.c).

#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "math/eigen3.h"
#include "rigid/twist.h"

#include <math.h>
#include <string.h>

// ---- what joints carry -------------------------------------------------------------------------

/// What a joint carries: on its body b, world [N], [N m].
typedef struct burden {
    mabd_vec3 force;
    mabd_real torque; // of all rotation rows
} burden;

static void add_row(const mabd_impulse_row* J, mabd_real force, mabd_vec3* F, mabd_vec3* T) {
    const bool turns = mabd_v3_dot(J->f, J->f) == 0;
    if (turns) *T = mabd_v3_axpy(force, J->tb, *T);
    *F = mabd_v3_axpy(force, J->f, *F);
}

// Add the rows of axes with force laws.
static void add_axes(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_vec3* F,
                     mabd_vec3* T) {
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[own->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, own, sim->poses);
    const mabd_real* impulse = sim->axis_impulse + j->axis;
    for (int32_t r = 0; j->axis_count > 0 && r < set->control_count; r++) {
        const mabd_real* near = sim->x + 2 * (size_t)(own->coordinate + r);
        mabd_real x;
        mabd_rigid_row row;
        if (!set->control[r].law) continue;
        mabd_rigid_joint_rows(&view, 1, &set->control_row[r], near, &x, &row);
        const mabd_impulse_row J = mabd_impulse_world_row(sim, j->a, j->b, &row);
        add_row(&J, *impulse++ / sim->part, F, T);
    }
}

static burden burden_of(const mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const mabd_real* l = sim->lambda + j->row;
    mabd_real C[MABD_IMPULSE_MAX_ROWS];
    mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
    mabd_vec3 F = mabd_v3(0, 0, 0), T = F;
    mabd_impulse_joint_rows(sim, j, C, J);
    for (int32_t r = 0; r < j->width; r++) add_row(&J[r], l[r] / sim->part, &F, &T);
    add_axes(sim, j, &F, &T);
    const burden all = {F, mabd_v3_norm(T)};
    return all;
}

// ---- bounds ------------------------------------------------------------------------------------

static bool moves(const mabd_impulse_sim* sim, int32_t body) {
    return sim->lines[body].moves > 0;
}

// Length of the arm of the force of a joint on its body a: up to its anchor on a, or where it
// slides up to that on b.
static mabd_real arm_on_a(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                          const mabd_row_set* set) {
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const bool stays = set->rigid_count >= 3 && set->rigid[0].kind == MABD_ROW_POINT &&
                       set->rigid[2].kind == MABD_ROW_POINT;
    if (stays) return mabd_v3_norm(mabd_v3_load(own->Xa));
    const mabd_vec3 on_b = mabd_m3_mul(sim->poses[j->b].R, mabd_v3_load(own->Xb));
    const mabd_vec3 way = mabd_v3_sub(sim->poses[j->b].c, sim->poses[j->a].c);
    return mabd_v3_norm(mabd_v3_add(way, on_b));
}

// Bounds of the stiffness that a joint has against turns of both its bodies [N m]. Rigid rows along
// and about orthogonal directions need no directions for that.
static void bound_joint(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_real* of_a,
                        mabd_real* of_b) {
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[own->row_set];
    const mabd_real* l = sim->lambda + j->row;
    mabd_real force = 0, torque = 0;
    if (set->control_count > 0) {
        const burden all = burden_of(sim, j);
        force = mabd_v3_norm(all.force), torque = all.torque;
    } else {
        for (int32_t r = 0; r < set->rigid_count; r++) {
            const int kind = set->rigid[r].kind;
            const bool pulls = kind == MABD_ROW_POINT || kind == MABD_ROW_SLIDE;
            *(pulls ? &force : &torque) += l[r] * l[r];
        }
        force = (mabd_real)sqrt(force) / sim->part, torque = (mabd_real)sqrt(torque) / sim->part;
    }
    const mabd_real turns = MABD_IMPULSE_TORQUE_STIFFNESS * torque;
    *of_a = force * arm_on_a(sim, j, set) + turns;
    *of_b = force * mabd_v3_norm(mabd_v3_load(own->Xb)) + turns;
}

// True if the bound of the stiffness of a body is beyond its least moment.
static bool may_carry(const mabd_impulse_sim* sim, int32_t body) {
    const mabd_real *I = sim->made + 8 * (size_t)body + 2, h = sim->h;
    const mabd_real least = (mabd_real)fmin(I[0], fmin(I[1], I[2]));
    return moves(sim, body) && h * h * sim->carried[body] > least;
}

// ---- stiffness ---------------------------------------------------------------------------------

static void add_burden(mabd_impulse_sim* sim, int32_t body, mabd_vec3 arm, mabd_vec3 F,
                       mabd_real torque) {
    mabd_rigid_stability* s = &sim->stability[body];
    const mabd_mat3 R = sim->poses[body].R;
    const mabd_real turns = MABD_IMPULSE_TORQUE_STIFFNESS * torque;
    mabd_rigid_stability_add_force(s, mabd_m3_tmul(R, arm), mabd_m3_tmul(R, F));
    s->S.xx += turns, s->S.yy += turns, s->S.zz += turns;
}

static void add_joint(mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const bool on_a = may_carry(sim, j->a), on_b = may_carry(sim, j->b);
    if (!on_a && !on_b) return;
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const burden all = burden_of(sim, j);
    const mabd_vec3 arm = mabd_m3_mul(sim->poses[j->b].R, mabd_v3_load(own->Xb));
    const mabd_vec3 way = mabd_v3_sub(sim->poses[j->b].c, sim->poses[j->a].c);
    const mabd_vec3 back = mabd_v3_scale(-1, all.force);
    if (on_a) add_burden(sim, j->a, mabd_v3_add(way, arm), back, all.torque);
    if (on_b) add_burden(sim, j->b, arm, all.force, all.torque);
}

// sum of g_k I^1/2 u_k u_k' I^1/2 + I
static mabd_sym3 raised(const mabd_real* I, const mabd_real* g, const mabd_mat3* V) {
    const mabd_real root[3] = {(mabd_real)sqrt(I[0]), (mabd_real)sqrt(I[1]), (mabd_real)sqrt(I[2])};
    mabd_sym3 A = {I[0], I[1], I[2], 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 v = mabd_m3_column(V, k);
        const mabd_vec3 u = mabd_v3(root[0] * v.x, root[1] * v.y, root[2] * v.z);
        A.xx += g[k] * u.x * u.x, A.yy += g[k] * u.y * u.y, A.zz += g[k] * u.z * u.z;
        A.xy += g[k] * u.x * u.y, A.xz += g[k] * u.x * u.z, A.yz += g[k] * u.y * u.z;
    }
    return A;
}

mabd_sym3 mabd_impulse_raised_inverse(const mabd_real I[3], mabd_sym3 S, mabd_real h,
                                      mabd_real* most) {
    const mabd_real x = h / (mabd_real)sqrt(I[0]), y = h / (mabd_real)sqrt(I[1]),
                    z = h / (mabd_real)sqrt(I[2]);
    const mabd_real scaled[6] = {x * x * S.xx, y * y * S.yy, z * z * S.zz,
                                 x * y * S.xy, x * z * S.xz, y * z * S.yz};
    mabd_real values[3], g[3];
    mabd_mat3 V;
    *most = 0;
    mabd_sym3_eigen(scaled, values, &V);
    for (int k = 0; k < 3; k++) {
        g[k] = values[k] > 1 ? values[k] - 1 : 0;
        if (values[k] > *most) *most = values[k];
    }
    if (I[0] == I[1] && I[1] == I[2]) { // stays round: its inertia is one number in the sweeps
        g[0] = g[1] = g[2] = *most > 1 ? *most - 1 : 0;
    }
    return mabd_sym3_inverse(raised(I, g, &V));
}

// ---- bodies ------------------------------------------------------------------------------------

static void bound_bodies(mabd_impulse_sim* sim) {
    memset(sim->carried, 0, ((size_t)sim->model->body_count + 1) * sizeof *sim->carried);
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        mabd_real of_a, of_b;
        bound_joint(sim, j, &of_a, &of_b);
        sim->carried[j->a] += of_a, sim->carried[j->b] += of_b;
    }
}

static bool any_may_carry(const mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        if (may_carry(sim, i)) return true;
    }
    return false;
}

void mabd_impulse_find_carriers(mabd_impulse_sim* sim) {
    if (sim->carrier_count > 0) sim->steady = false; // inertia of round bodies is set again
    sim->carrier_count = 0, sim->carried_most = 0;
    if (sim->direct || !(sim->part > 0) || sim->joint_count == 0) return;
    bound_bodies(sim);
    if (!any_may_carry(sim)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        sim->stability[i] = mabd_rigid_stability_none();
    }
    for (int32_t i = 0; i < sim->joint_count; i++) add_joint(sim, &sim->joints[i]);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_impulse_carrier* to = &sim->carriers[sim->carrier_count];
        mabd_real most;
        if (!may_carry(sim, i)) continue;
        to->over = mabd_impulse_raised_inverse(sim->made + 8 * (size_t)i + 2, sim->stability[i].S,
                                               sim->h, &most);
        if (!(most > 1)) continue;
        to->body = i, sim->carrier_count++;
        if (most > sim->carried_most) sim->carried_most = most;
    }
    sim->carrying |= sim->carrier_count > 0;
}

// ---- substeps ----------------------------------------------------------------------------------

void mabd_impulse_take_loads(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->carrier_count; i++) {
        mabd_impulse_carrier* c = &sim->carriers[i];
        c->torque = sim->load[c->body].t;
        sim->load[c->body].t = mabd_v3(0, 0, 0);
    }
}

void mabd_impulse_raise_inertia(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->carrier_count; i++) {
        const mabd_impulse_carrier* c = &sim->carriers[i];
        const mabd_mat3 R = sim->poses[c->body].R;
        mabd_real* w = sim->lines[c->body].w;
        const mabd_vec3 turn = mabd_m3_mul(R, mabd_sym3_mul(c->over, c->torque));
        sim->inertia[c->body] = mabd_sym3_rotate(R, c->over);
        mabd_v3_store(mabd_v3_axpy(sim->h, turn, mabd_v3_load(w)), w);
    }
}

// SPDX-License-Identifier: Apache-2.0
// The ground: a plane with normal n that pushes points of links back. A point p with velocity u at
// the depth d = n.(p_0 - p) > 0 has
//
//   f = k d + c d', if that is positive: the ground does not pull           d' = -n.u
//   F = f n + t,   t = -k_t w, at most mu f long, along the plane           w = u - n (n.u)
//
// ([RM eq. 1.49, 1.59-1.61] have d < 0 with the force +k d n, which pulls, and mu k d for the size
// of friction.) Derivatives, with df = -k n.dp - c n.du and e = w/|w|:
//
//   stick   dF = n df - k_t (1 - n n') du
//   slip    dF = (n - mu e) df - mu f/|w| (1 - n n' - e e') du
//
// A parameter of the ground enters F linearly on each piece: dF/dk = d n (- mu d e), dF/dc, dF/dk_t
// = -w, dF/dmu = -f e.

#include "formulation/redmax/redmax_springs.h"
#include "formulation/redmax/redmax_works.h"

#include <math.h>

/// The force of the ground on a point, in world axes, and its derivatives.
typedef struct push {
    mabd_vec3 F;
    mabd_mat3 K, D; // by position and velocity
} push;

static mabd_mat3 zero(void) {
    const mabd_vec3 none = mabd_v3(0, 0, 0);
    return mabd_m3(none, none, none);
}

// False if the ground does not push the point.
static bool push_at(const mabd_model_ground* g, mabd_vec3 p, mabd_vec3 u, bool derivatives,
                    push* out) {
    const mabd_real depth = mabd_v3_dot(g->normal, mabd_v3_sub(g->point, p));
    const mabd_real closing = -mabd_v3_dot(g->normal, u);
    const mabd_real f = g->stiffness * depth + g->damping * closing;
    if (!(depth > 0) || !(f > 0)) return false;
    const mabd_vec3 w = mabd_v3_axpy(closing, g->normal, u);
    const mabd_real speed = mabd_v3_norm(w);
    const bool slips = g->tangent * speed > g->friction * f;
    const mabd_real drag = slips ? g->friction * f / speed : g->tangent;
    out->F = mabd_v3_axpy(-drag, w, mabd_v3_scale(f, g->normal));
    if (!derivatives) return true;
    const mabd_vec3 e = slips ? mabd_v3_scale(1 / speed, w) : mabd_v3(0, 0, 0);
    const mabd_vec3 along = mabd_v3_axpy(-g->friction, e, g->normal); // dF/df
    mabd_mat3 across = mabd_m3_axpy(-1, mabd_m3_outer(g->normal, g->normal), mabd_m3_identity());
    across = mabd_m3_axpy(-1, mabd_m3_outer(e, e), across);
    out->K = mabd_m3_axpy(-g->stiffness, mabd_m3_outer(along, g->normal), zero());
    out->D = mabd_m3_axpy(-g->damping, mabd_m3_outer(along, g->normal), zero());
    out->D = mabd_m3_axpy(-drag, across, out->D);
    return true;
}

// Place and velocity of a point of a link, world.
static void point_motion(const mabd_redmax_sim* sim, int32_t link, mabd_vec3 x, mabd_vec3* p,
                         mabd_vec3* u) {
    const mabd_frame* W = &sim->world[link];
    const mabd_spatial V = sim->V[link];
    *p = mabd_v3_add(mabd_m3_mul(W->R, x), W->p);
    *u = mabd_m3_mul(W->R, mabd_v3_add(V.v, mabd_v3_cross(V.w, x)));
}

mabd_spatial mabd_redmax_ground_load(const mabd_redmax_solve* s, int32_t link) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t* first = sim->springs.ground_first + link;
    mabd_spatial sum = mabd_sp_zero();
    for (int32_t i = first[0]; i < first[1]; i++) {
        const mabd_vec3 x = sim->springs.ground[i];
        mabd_vec3 p, u;
        push own;
        point_motion(sim, link, x, &p, &u);
        if (!push_at(sim->model->ground, p, u, false, &own)) continue;
        const mabd_vec3 l = mabd_m3_tmul(sim->world[link].R, own.F);
        sum = mabd_sp_add(sum, mabd_sp(mabd_v3_cross(x, l), l));
    }
    return sum;
}

static mabd_mat3 to_link(mabd_mat3 R, mabd_mat3 M) {
    return mabd_m3_tproduct(R, mabd_m3_product(M, R));
}

void mabd_redmax_ground_derivatives(const mabd_redmax_solve* s, int32_t link, mabd_real* N) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t* first = sim->springs.ground_first + link;
    const mabd_mat3 R = sim->world[link].R;
    for (int32_t i = first[0]; i < first[1]; i++) {
        const mabd_vec3 x = sim->springs.ground[i];
        mabd_vec3 p, u;
        push own;
        point_motion(sim, link, x, &p, &u);
        if (!push_at(sim->model->ground, p, u, true, &own)) continue;
        mabd_redmax_subtract_point(x, sim->V[link], to_link(R, own.K), to_link(R, own.D), N);
        mabd_redmax_subtract_turn(x, mabd_m3_tmul(R, own.F), N);
    }
}

mabd_real mabd_redmax_ground_energy(const mabd_redmax_sim* sim, int32_t link) {
    const mabd_model_ground* g = sim->model->ground;
    const int32_t* first = sim->springs.ground_first + link;
    mabd_real sum = 0;
    for (int32_t i = first[0]; i < first[1]; i++) {
        const mabd_frame* W = &sim->world[link];
        const mabd_vec3 p = mabd_v3_add(mabd_m3_mul(W->R, sim->springs.ground[i]), W->p);
        const mabd_real depth = mabd_v3_dot(g->normal, mabd_v3_sub(g->point, p));
        if (depth > 0) sum += g->stiffness * depth * depth / 2;
    }
    return sum;
}

// What damping takes over a step to a height with a normal force: the mean force on the way below
// the surface, where it jumps.
static mabd_real damping_work(const mabd_redmax_end* from, mabd_real height, mabd_real damper) {
    const mabd_real above = from->length > 0 ? 0 : from->length;
    const mabd_real way = (height > 0 ? 0 : height) - above;
    const mabd_real before = from->length > 0 ? damper : from->damper;
    const mabd_real after = height > 0 ? from->damper : damper;
    return -(before + after) / 2 * way;
}

mabd_redmax_end mabd_redmax_ground_end(const mabd_model_ground* g, mabd_vec3 p, mabd_vec3 u,
                                       mabd_vec3* F) {
    push now = {.F = mabd_v3(0, 0, 0)};
    if (!push_at(g, p, u, false, &now)) now.F = mabd_v3(0, 0, 0);
    const mabd_real height = mabd_v3_dot(g->normal, mabd_v3_sub(p, g->point));
    const mabd_real lift = mabd_v3_dot(g->normal, now.F);
    *F = now.F;
    return (mabd_redmax_end){.F = mabd_v3_axpy(-lift, g->normal, now.F),
                             .p = p,
                             .length = height,
                             .damper = lift + g->stiffness * (height < 0 ? height : 0)};
}

void mabd_redmax_book_ground_end(const mabd_redmax_end* from, const mabd_redmax_end* to,
                                 mabd_rigid_works* work) {
    const mabd_vec3 way = mabd_v3_sub(to->p, from->p);
    work->dampers += damping_work(from, to->length, to->damper);
    work->friction -= mabd_v3_dot(mabd_v3_add(from->F, to->F), way) / 2;
}

void mabd_redmax_book_ground(const mabd_redmax_sim* sim, bool after, mabd_rigid_works* work) {
    const mabd_model_ground* g = sim->model->ground;
    for (int32_t link = 0; link < sim->link_count; link++) {
        const int32_t* first = sim->springs.ground_first + link;
        for (int32_t i = first[0]; i < first[1]; i++) {
            mabd_redmax_end* own = &sim->springs.ground_ends[i];
            mabd_vec3 p, u, F;
            point_motion(sim, link, sim->springs.ground[i], &p, &u);
            const mabd_redmax_end to = mabd_redmax_ground_end(g, p, u, &F);
            if (after) mabd_redmax_book_ground_end(own, &to, work);
            *own = to;
        }
    }
}

// ---- parameters and energy ---------------------------------------------------------------------

// Change of the force on a point by one unit of a component, world; false if it is not pushed.
static bool push_by(const mabd_model_ground* g, mabd_vec3 p, mabd_vec3 u, int component,
                    mabd_vec3* out) {
    push own;
    if (!push_at(g, p, u, false, &own)) return false;
    const mabd_real depth = mabd_v3_dot(g->normal, mabd_v3_sub(g->point, p));
    const mabd_real closing = -mabd_v3_dot(g->normal, u);
    const mabd_real f = g->stiffness * depth + g->damping * closing;
    const mabd_vec3 w = mabd_v3_axpy(closing, g->normal, u);
    const mabd_real speed = mabd_v3_norm(w);
    const bool slips = g->tangent * speed > g->friction * f;
    const mabd_vec3 e = slips ? mabd_v3_scale(1 / speed, w) : mabd_v3(0, 0, 0);
    const mabd_vec3 along = mabd_v3_axpy(-g->friction, e, g->normal); // dF/df
    *out = mabd_v3(0, 0, 0);
    if (component < 2) *out = mabd_v3_scale(component == 0 ? depth : closing, along);
    if (component == 2 && !slips) *out = mabd_v3_scale(-1, w);
    if (component == 3) *out = mabd_v3_scale(-f, e);
    return true;
}

void mabd_redmax_ground_by(const mabd_redmax_solve* s, int component, mabd_redmax_wrench_fn* visit,
                           void* context) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const int32_t* first = sim->springs.ground_first + i;
        for (int32_t k = first[0]; k < first[1]; k++) {
            const mabd_vec3 x = sim->springs.ground[k];
            mabd_vec3 p, u, f;
            point_motion(sim, i, x, &p, &u);
            if (!push_by(sim->model->ground, p, u, component, &f)) continue;
            const mabd_vec3 l = mabd_m3_tmul(sim->world[i].R, f);
            visit(context, i, mabd_sp(mabd_v3_cross(x, l), l));
        }
    }
}

// Depth of a point, 0 above the ground.
static mabd_real depth_of(const mabd_redmax_sim* sim, int32_t link, mabd_vec3 x) {
    const mabd_model_ground* g = sim->model->ground;
    mabd_vec3 p, u;
    point_motion(sim, link, x, &p, &u);
    const mabd_real depth = mabd_v3_dot(g->normal, mabd_v3_sub(g->point, p));
    return depth > 0 ? depth : 0;
}

void mabd_redmax_ground_energy_pull(const mabd_redmax_sim* sim, mabd_redmax_wrench_fn* visit,
                                    void* context) {
    const mabd_model_ground* g = sim->model->ground;
    for (int32_t i = 0; i < sim->link_count; i++) {
        const int32_t* first = sim->springs.ground_first + i;
        const mabd_vec3 n = mabd_m3_tmul(sim->world[i].R, g->normal);
        for (int32_t k = first[0]; k < first[1]; k++) {
            const mabd_vec3 x = sim->springs.ground[k];
            const mabd_vec3 l = mabd_v3_scale(g->stiffness * depth_of(sim, i, x), n);
            visit(context, i, mabd_sp(mabd_v3_cross(x, l), l));
        }
    }
}

mabd_real mabd_redmax_ground_energy_by(const mabd_redmax_sim* sim, int component) {
    mabd_real sum = 0;
    for (int32_t i = 0; component == 0 && i < sim->link_count; i++) {
        const int32_t* first = sim->springs.ground_first + i;
        for (int32_t k = first[0]; k < first[1]; k++) {
            const mabd_real depth = depth_of(sim, i, sim->springs.ground[k]);
            sum += depth * depth / 2;
        }
    }
    return sum;
}

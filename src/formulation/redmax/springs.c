// SPDX-License-Identifier: Apache-2.0
// Springs through points of links: lengths, tensions and forces by rigid/spring_law.h. With
// P_s = (1 - e_s e_s')/l_s of each segment, T_l = dT/dl and T_v = dT/dl' the exact derivatives are
//
//   dF_s = e_s sum_k g_k + T P_s dD_s,   g_k = (T_l e_k + T_v P_k D_k').dD_k + T_v e_k.dD_k'
//
// ([RM eq. 1.66, 1.78] have T P with the wrong sign, 1.71 and 1.80 one factor 1/l too many, 1.77
// d(1/l) with the wrong sign.) A wrench F of the world at x of a link also turns in its frame:
// l = R'F, dl = [l] xi_w. That is a derivative by the own motion of a link. dF_s couples the links
// of its ends, and with points between, those of all segments. So dF_s are unknowns of the border
// of the Newton matrix (border.c): three for a spring of two points; for each segment of more
// points dF_s and g_s, four. A spring of two points of which one alone moves by forces needs none.
//
// Parameters: T is linear in stiffness and damping; dT/dL = -k, or of strain and cable
// -(k l + d l')/L^2.

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_springs.h"
#include "formulation/redmax/redmax_works.h"

#include "rigid/script.h"
#include "rigid/spring_law.h"

#include <math.h>
#include <string.h>

// ---- geometry ----------------------------------------------------------------------------------

static mabd_rigid_spring_end end_of(const mabd_redmax_sim* sim, const mabd_redmax_point* point,
                                    mabd_real time) {
    mabd_rigid_spring_end out = {point->x, mabd_v3(0, 0, 0)};
    if (point->link >= 0) {
        const mabd_frame* W = &sim->world[point->link];
        const mabd_spatial V = sim->V[point->link];
        out.p = mabd_v3_add(mabd_m3_mul(W->R, point->x), W->p);
        out.u = mabd_m3_mul(W->R, mabd_v3_add(V.v, mabd_v3_cross(V.w, point->x)));
    } else if (point->script >= 0) {
        const mabd_model* m = sim->model;
        const mabd_rigid_state s = mabd_rigid_script_state(m, &m->scripts[point->script], time);
        const mabd_vec3 arm = mabd_q_rotate(s.q, point->x);
        out.p = mabd_v3_add(s.c, arm);
        out.u = mabd_v3_add(s.v, mabd_v3_cross(s.omega, arm));
    }
    return out;
}

static const mabd_redmax_point* points_of(const mabd_redmax_sim* sim,
                                          const mabd_model_spring* own) {
    return sim->springs.points + own->first;
}

static mabd_rigid_spring_segment
segment_of(const mabd_redmax_sim* sim, const mabd_model_spring* own, int32_t i, mabd_real time) {
    const mabd_redmax_point* points = points_of(sim, own);
    return mabd_rigid_spring_segment_of(own, end_of(sim, &points[i], time),
                                        end_of(sim, &points[i + 1], time));
}

// Length and its rate.
static void lengths_of(const mabd_redmax_sim* sim, const mabd_model_spring* own, mabd_real time,
                       mabd_real* length, mabd_real* rate) {
    *length = *rate = 0;
    for (int32_t i = 0; i + 1 < own->count; i++) {
        const mabd_rigid_spring_segment d = segment_of(sim, own, i, time);
        *length += d.length, *rate += mabd_v3_dot(d.e, d.rate);
    }
}

static mabd_rigid_spring_tension tension_at(const mabd_redmax_sim* sim,
                                            const mabd_model_spring* own, mabd_real time) {
    mabd_real length, rate;
    lengths_of(sim, own, time, &length, &rate);
    return mabd_rigid_spring_tension_of(own, length, rate);
}

mabd_real mabd_redmax_spring_energy(const mabd_redmax_sim* sim, const mabd_redmax_part* part,
                                    mabd_real time) {
    mabd_real sum = 0;
    for (int32_t i = part->spring_first; i < part->spring_first + part->spring_count; i++) {
        const mabd_model_spring* own = &sim->model->springs[sim->springs.springs[i].index];
        mabd_real length = 0;
        for (int32_t k = 0; k + 1 < own->count; k++) {
            length += segment_of(sim, own, k, time).length;
        }
        sum += mabd_rigid_spring_energy_of(own, length);
    }
    return sum;
}

// ---- forces ------------------------------------------------------------------------------------

// F -= the wrench of a force f of the world at a point.
static void pull(mabd_redmax_sim* sim, const mabd_redmax_point* point, mabd_vec3 f) {
    if (point->link < 0) return;
    const mabd_vec3 l = mabd_m3_tmul(sim->world[point->link].R, f);
    const mabd_spatial F = mabd_sp(mabd_v3_cross(point->x, l), l);
    sim->F[point->link] = mabd_sp_sub(sim->F[point->link], F);
}

void mabd_redmax_pull_springs(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t last = s->part->spring_first + s->part->spring_count;
    for (int32_t i = s->part->spring_first; i < last; i++) {
        const mabd_model_spring* own = &sim->model->springs[sim->springs.springs[i].index];
        const mabd_redmax_point* points = points_of(sim, own);
        const mabd_real T = tension_at(sim, own, s->time).T;
        for (int32_t k = 0; k + 1 < own->count; k++) {
            const mabd_vec3 F = mabd_v3_scale(T, segment_of(sim, own, k, s->time).e);
            pull(sim, &points[k], F);
            pull(sim, &points[k + 1], mabd_v3_scale(-1, F));
        }
    }
}

// ---- derivatives -------------------------------------------------------------------------------

// Derivatives of a segment: dF = C dD + B dD' + e (sum of the other g), g = c.dD + b.dD'.
typedef struct segment_slopes {
    mabd_mat3 P; // T P
    mabd_vec3 c, b;
} segment_slopes;

static segment_slopes slopes_of(const mabd_rigid_spring_segment* d,
                                const mabd_rigid_spring_tension* t) {
    const mabd_real over = d->length > 0 ? 1 / d->length : 0;
    const mabd_vec3 turn =
        mabd_v3_scale(over, mabd_v3_axpy(-mabd_v3_dot(d->e, d->rate), d->e, d->rate)); // P D'
    const mabd_mat3 across = mabd_m3_axpy(-1, mabd_m3_outer(d->e, d->e), mabd_m3_identity());
    const mabd_mat3 none = mabd_m3_axpy(-1, across, across);
    segment_slopes out;
    out.P = mabd_m3_axpy(over * t->T, across, none);
    out.c = mabd_v3_axpy(t->by_rate, turn, mabd_v3_scale(t->by_length, d->e));
    out.b = mabd_v3_scale(t->by_rate, d->e);
    return out;
}

static mabd_real* own_of(const mabd_redmax_sim* sim, int32_t link) {
    return sim->springs.own + 72 * (size_t)sim->links[link].spring;
}

// The own block of a link is 6 x (dV, xi); N is 6 x 18 with xi behind dA.
static void add_own(const mabd_redmax_sim* sim, int32_t link, const mabd_real* N) {
    mabd_real* own = own_of(sim, link);
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            own[12 * r + c] += N[MABD_VARIATION * r + c];
            own[12 * r + 6 + c] += N[MABD_VARIATION * r + 12 + c];
        }
    }
}

// A force f of the world turns in the frame of a link.
static void turn_own(const mabd_redmax_sim* sim, const mabd_redmax_point* point, mabd_vec3 f) {
    mabd_real N[6 * MABD_VARIATION] = {0};
    if (point->link < 0) return;
    mabd_redmax_subtract_turn(point->x, mabd_m3_tmul(sim->world[point->link].R, f), N);
    add_own(sim, point->link, N);
}

// Derivatives of a spring of two points of which one moves.
static void write_single(const mabd_redmax_sim* sim, const mabd_model_spring* own,
                         const segment_slopes* d, mabd_vec3 e) {
    const mabd_redmax_point* points = points_of(sim, own);
    const mabd_redmax_point* point = points[0].link >= 0 ? &points[0] : &points[1];
    const mabd_mat3 R = sim->world[point->link].R;
    const mabd_mat3 C = mabd_m3_axpy(1, mabd_m3_outer(e, d->c), d->P);
    const mabd_mat3 B = mabd_m3_outer(e, d->b);
    const mabd_mat3 none = mabd_m3_axpy(-1, C, C);
    const mabd_mat3 K = mabd_m3_axpy(-1, mabd_m3_tproduct(R, mabd_m3_product(C, R)), none);
    const mabd_mat3 D = mabd_m3_axpy(-1, mabd_m3_tproduct(R, mabd_m3_product(B, R)), none);
    mabd_real N[6 * MABD_VARIATION] = {0};
    mabd_redmax_subtract_point(point->x, sim->V[point->link], K, D, N);
    add_own(sim, point->link, N);
}

void mabd_redmax_subtract_springs(const mabd_redmax_sim* sim, int32_t link, mabd_real* N) {
    const mabd_real* own = own_of(sim, link); // already with the sign of N
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            N[MABD_VARIATION * r + c] += own[12 * r + c];
            N[MABD_VARIATION * r + 12 + c] += own[12 * r + 6 + c];
        }
    }
}

// ---- the border --------------------------------------------------------------------------------

// Unit force along a world axis at a point, as a wrench on its link.
static mabd_spatial unit_wrench(const mabd_redmax_sim* sim, const mabd_redmax_point* point,
                                mabd_vec3 f) {
    if (point->link < 0) return mabd_sp_zero();
    const mabd_vec3 l = mabd_m3_tmul(sim->world[point->link].R, f);
    return mabd_sp(mabd_v3_cross(point->x, l), l);
}

// Coefficients of c.dp + b.du of a point by dV (rate) and xi (pose) of its link.
static void point_row(const mabd_redmax_sim* sim, const mabd_redmax_point* point, mabd_vec3 c,
                      mabd_vec3 b, mabd_spatial* rate, mabd_spatial* pose) {
    *rate = unit_wrench(sim, point, b), *pose = unit_wrench(sim, point, c);
    if (point->link < 0) return;
    const mabd_spatial V = sim->V[point->link];
    const mabd_vec3 speed = mabd_v3_add(V.v, mabd_v3_cross(V.w, point->x));
    pose->w = mabd_v3_add(pose->w, mabd_v3_cross(speed, rate->v));
}

// One border of a segment: the wrench of a force f on its first end, and the row c.dD + b.dD' = y.
static void write_border(const mabd_redmax_sim* sim, const mabd_redmax_point* ends, mabd_vec3 f,
                         mabd_vec3 c, mabd_vec3 b, mabd_redmax_border* out) {
    memset(out, 0, sizeof *out);
    out->a = ends[0].link, out->b = ends[1].link, out->own = -1;
    out->on_a = unit_wrench(sim, &ends[0], f);
    out->on_b = unit_wrench(sim, &ends[1], mabd_v3_scale(-1, f));
    point_row(sim, &ends[0], mabd_v3_scale(-1, c), mabd_v3_scale(-1, b), &out->rate_a,
              &out->pose_a);
    point_row(sim, &ends[1], c, b, &out->rate_b, &out->pose_b);
}

static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// Borders of a segment: dF of a spring of two points; dF without what tensions add, and g.
static void write_segment(const mabd_redmax_sim* sim, const mabd_redmax_point* ends,
                          const segment_slopes* d, mabd_vec3 e, bool single,
                          mabd_redmax_border* out) {
    const mabd_vec3 none = mabd_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        const mabd_real along = single ? mabd_v3_get(e, k) : 0;
        const mabd_vec3 c = mabd_v3_axpy(along, d->c, mabd_m3_column(&d->P, k)); // P is symmetric
        write_border(sim, ends, unit(k), c, mabd_v3_scale(along, d->b), &out[k]);
    }
    if (!single) write_border(sim, ends, none, d->c, d->b, &out[3]);
}

static void write_borders(const mabd_redmax_solve* s, const mabd_redmax_spring* spring) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_model_spring* own = &sim->model->springs[spring->index];
    const mabd_rigid_spring_tension t = tension_at(sim, own, s->time);
    const bool single = own->count == 2;
    for (int32_t k = 0; k + 1 < own->count; k++) {
        const mabd_rigid_spring_segment d = segment_of(sim, own, k, s->time);
        const segment_slopes slopes = slopes_of(&d, &t);
        write_segment(sim, points_of(sim, own) + k, &slopes, d.e, single,
                      sim->loops.borders + spring->border + 4 * k);
    }
}

void mabd_redmax_spring_derivatives(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t last = s->part->spring_first + s->part->spring_count;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        if (sim->links[i].spring >= 0) memset(own_of(sim, i), 0, 72 * sizeof *sim->springs.own);
    }
    for (int32_t i = s->part->spring_first; i < last; i++) {
        const mabd_redmax_spring* spring = &sim->springs.springs[i];
        const mabd_model_spring* own = &sim->model->springs[spring->index];
        const mabd_redmax_point* points = points_of(sim, own);
        const mabd_rigid_spring_tension t = tension_at(sim, own, s->time);
        for (int32_t k = 0; k + 1 < own->count; k++) {
            const mabd_rigid_spring_segment d = segment_of(sim, own, k, s->time);
            const segment_slopes slopes = slopes_of(&d, &t);
            const mabd_vec3 F = mabd_v3_scale(t.T, d.e);
            turn_own(sim, &points[k], F);
            turn_own(sim, &points[k + 1], mabd_v3_scale(-1, F));
            if (spring->border < 0) write_single(sim, own, &slopes, d.e);
        }
        if (spring->border >= 0) write_borders(s, spring);
    }
}

// Directions of the segments of springs over points between, whose tension is one: y of a segment
// += e sum g, or backwards g of each += sum e.y.
static void pass_tensions(const mabd_redmax_solve* s, bool back, mabd_real* y) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t last = s->part->spring_first + s->part->spring_count;
    for (int32_t i = s->part->spring_first; i < last; i++) {
        const mabd_redmax_spring* spring = &sim->springs.springs[i];
        const mabd_model_spring* own = &sim->model->springs[spring->index];
        if (spring->border < 0 || own->count == 2) continue;
        mabd_real* at = y + (spring->border - s->part->border_first);
        mabd_real sum = 0;
        for (int32_t k = 0; k + 1 < own->count; k++) {
            const mabd_vec3 e = segment_of(sim, own, k, s->time).e;
            sum += back ? mabd_v3_dot(e, mabd_v3_load(at + 4 * k)) : at[4 * k + 3];
        }
        for (int32_t k = 0; k + 1 < own->count; k++) {
            const mabd_vec3 e = segment_of(sim, own, k, s->time).e;
            if (back) {
                at[4 * k + 3] += sum;
            } else {
                mabd_v3_store(mabd_v3_axpy(sum, e, mabd_v3_load(at + 4 * k)), at + 4 * k);
            }
        }
    }
}

void mabd_redmax_spread_tensions(const mabd_redmax_solve* s, mabd_real* y) {
    pass_tensions(s, false, y);
}

void mabd_redmax_gather_tensions(const mabd_redmax_solve* s, mabd_real* y) {
    pass_tensions(s, true, y);
}

void mabd_redmax_add_tensions(const mabd_redmax_solve* s, int32_t index, int32_t n,
                              mabd_real* matrix) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_model_spring* own = &sim->model->springs[sim->springs.springs[index].index];
    for (int32_t k = 0; k + 1 < own->count; k++) {
        const mabd_vec3 e = segment_of(sim, own, k, s->time).e;
        for (int32_t g = 0; g + 1 < own->count; g++) { // dF_k += e g
            for (int c = 0; c < 3; c++) {
                const size_t row = (size_t)(4 * k + c);
                matrix[row * (size_t)n + (size_t)(4 * g + 3)] += mabd_v3_get(e, c);
            }
        }
    }
}

void mabd_redmax_spring_border(const mabd_redmax_solve* s, int32_t n, mabd_real* matrix) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t last = s->part->spring_first + s->part->spring_count;
    for (int32_t i = s->part->spring_first; i < last; i++) {
        const mabd_redmax_spring* spring = &sim->springs.springs[i];
        if (spring->border < 0 || sim->model->springs[spring->index].count == 2) continue;
        const size_t first = (size_t)(spring->border - s->part->border_first);
        mabd_redmax_add_tensions(s, i, n, matrix + first * (size_t)(n + 1));
    }
}

// ---- works -------------------------------------------------------------------------------------

void mabd_redmax_book_springs(const mabd_redmax_sim* sim, mabd_real time, bool after,
                              mabd_rigid_works* work) {
    for (int32_t i = 0; i < sim->model->spring_count; i++) {
        const mabd_model_spring* own = &sim->model->springs[i];
        const mabd_redmax_point* points = points_of(sim, own);
        mabd_redmax_end* ends = sim->springs.ends + own->first;
        const mabd_rigid_spring_tension t = tension_at(sim, own, time);
        mabd_real length = 0;
        for (int32_t k = 0; k + 1 < own->count; k++) length += segment_of(sim, own, k, time).length;
        const mabd_real damper = t.T - mabd_rigid_spring_elastic(own, length);
        for (int32_t k = 0; k < own->count; k++) {
            if (points[k].script < 0) continue;
            mabd_vec3 F = mabd_v3(0, 0, 0); // on the script
            if (k + 1 < own->count) F = mabd_v3_axpy(t.T, segment_of(sim, own, k, time).e, F);
            if (k > 0) F = mabd_v3_axpy(-t.T, segment_of(sim, own, k - 1, time).e, F);
            const mabd_vec3 p = end_of(sim, &points[k], time).p;
            const mabd_vec3 way = mabd_v3_sub(p, ends[k].p);
            if (after) work->scripts -= mabd_v3_dot(mabd_v3_add(ends[k].F, F), way) / 2;
            ends[k].F = F, ends[k].p = p;
        }
        if (after) work->dampers += (ends->damper + damper) / 2 * (length - ends->length);
        ends->length = length, ends->damper = damper;
    }
}

// ---- parameters and energy ---------------------------------------------------------------------

// Visit the wrenches of a tension T along a spring.
static void visit_tension(const mabd_redmax_sim* sim, const mabd_model_spring* own, mabd_real T,
                          mabd_real time, mabd_redmax_wrench_fn* visit, void* context) {
    const mabd_redmax_point* points = points_of(sim, own);
    for (int32_t k = 0; T != 0 && k + 1 < own->count; k++) {
        const mabd_vec3 F = mabd_v3_scale(T, segment_of(sim, own, k, time).e);
        for (int side = 0; side < 2; side++) {
            const mabd_redmax_point* point = &points[k + side];
            const mabd_vec3 f = side == 0 ? F : mabd_v3_scale(-1, F);
            if (point->link >= 0) visit(context, point->link, unit_wrench(sim, point, f));
        }
    }
}

void mabd_redmax_spring_by(const mabd_redmax_solve* s, int32_t spring, int component,
                           mabd_redmax_wrench_fn* visit, void* context) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_model_spring* own = &sim->model->springs[spring];
    const bool linear = own->law == MABD_SPRING_LINEAR;
    const mabd_real over = mabd_rigid_spring_over(own);
    mabd_real length, rate, by;
    lengths_of(sim, own, s->time, &length, &rate);
    const mabd_rigid_spring_tension t = mabd_rigid_spring_tension_of(own, length, rate);
    if (t.by_length == 0 && t.by_rate == 0 && own->law == MABD_SPRING_CABLE) return; // slack
    if (component == 0) {
        by = over * (length - own->length);
    } else if (component == 1) {
        by = over * rate;
    } else {
        by = linear ? -own->stiffness
                    : -over * over * (own->stiffness * length + own->damping * rate);
    }
    visit_tension(sim, own, by, s->time, visit, context);
}

void mabd_redmax_spring_energy_pull(const mabd_redmax_sim* sim, mabd_redmax_wrench_fn* visit,
                                    void* context) {
    for (int32_t i = 0; i < sim->model->spring_count; i++) {
        const mabd_model_spring* own = &sim->model->springs[i];
        mabd_real length, rate;
        lengths_of(sim, own, sim->time, &length, &rate);
        visit_tension(sim, own, mabd_rigid_spring_elastic(own, length), sim->time, visit, context);
    }
}

mabd_real mabd_redmax_spring_energy_by(const mabd_redmax_sim* sim, int32_t spring, int component) {
    const mabd_model_spring* own = &sim->model->springs[spring];
    const bool linear = own->law == MABD_SPRING_LINEAR;
    const mabd_real over = mabd_rigid_spring_over(own);
    mabd_real length, rate;
    lengths_of(sim, own, sim->time, &length, &rate);
    const mabd_real stretch = length - own->length;
    if (component == 1 || (own->law == MABD_SPRING_CABLE && !(stretch > 0))) return 0;
    if (component == 0) return over * stretch * stretch / 2;
    const mabd_real by_stretch = -over * own->stiffness * stretch;
    return linear ? by_stretch : by_stretch - over * over * own->stiffness * stretch * stretch / 2;
}

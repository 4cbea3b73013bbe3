// SPDX-License-Identifier: Apache-2.0
// Held axes of the start: a coordinate x(q) = p in the first projection, a rate B u = p in the
// second one, B = dx/d(pose). They are rows beside those of K, which has no place for the axes of
// passive joints:
//
//   | K  -B | | y  |     | F |     forward    Z = K^-1 B,  S = B'Z
//   | B'  0 | | nu | = - | f |                y0 = -K^-1 F,  S nu = -f - B'y0,  y = y0 + Z nu
//
//   transposed           Z = K^-T B,  S = B'Z
//                        F_bar = w0 - Z f_bar,  w0 = -K^-T y_bar,  S f_bar = B'w0 - nu_bar
//
// Columns of B have entries in the rows of two bodies. One solve with K for each held axis. A pivot
// of S is the inverse of the mass that is felt along the axis with the axes before it held; against
// that of the two bodies alone, B'M^-1 B, it is 0 if joints or other held axes determine the axis.

#include "formulation/quaternion/start_hold.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/// Least pivot of S, relative to the two bodies alone. The 240 bars of a Hoberman sphere, which all
/// move with each of its axes, have 1e-3.
#define FREE_PART ((mabd_real)1e-8)
#define HALF_TURN ((mabd_real)3.14159265358979323846)

// ---- which axes --------------------------------------------------------------------------------

static mabd_parameter_kind kind_of(bool closing) {
    return closing ? MABD_PARAMETER_COORDINATE : MABD_PARAMETER_RATE;
}

static size_t unknowns_of(const mabd_quaternion_part* part) {
    return 6 * (size_t)part->body_count + (size_t)part->row_count;
}

static int32_t count_holds(const mabd_quaternion_gradient* g, mabd_parameter_kind kind,
                           int32_t part) {
    int32_t count = 0;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const int32_t place =
            g->parameters[i].kind == kind
                ? g->sim->joint_place[g->parameters[i].index] - g->sim->parts[part].joint_first
                : -1;
        count += place >= 0 && place < g->sim->parts[part].joint_count;
    }
    return count;
}

void mabd_start_lay_out_holds(const mabd_quaternion_gradient* g, bool closing,
                              mabd_start_holds* holds, mabd_arena* arena) {
    size_t most = 0, unknowns = 0;
    for (int32_t i = 0; i < g->sim->part_count; i++) {
        const size_t count = (size_t)count_holds(g, kind_of(closing), i);
        const size_t own = count > 0 ? unknowns_of(&g->sim->parts[i]) : 0;
        most = count > most ? count : most, unknowns = own > unknowns ? own : unknowns;
    }
    holds->hold = mabd_arena_take(arena, most, sizeof *holds->hold);
    holds->b = g->F, holds->y = g->dy;
    holds->Z = mabd_arena_take(arena, most * unknowns, sizeof *holds->Z);
    holds->S = mabd_arena_take(arena, most * most, sizeof *holds->S);
    holds->pivot = mabd_arena_take(arena, most, sizeof *holds->pivot);
}

static mabd_row row_of(const mabd_model* m, const mabd_parameter* p) {
    mabd_row row;
    mabd_joint_coordinate((mabd_joint)m->joints[p->index].type, (mabd_axis)p->axis, &row);
    return row;
}

static const char* axis_name(const mabd_row* row, char* text) {
    text[0] = row->kind == MABD_ROW_SLIDE ? 't' : 'r', text[1] = "xyz"[row->axis], text[2] = 0;
    return text;
}

mabd_status mabd_start_take_holds(const mabd_quaternion_gradient* g, bool closing, int32_t part,
                                  mabd_start_holds* holds, mabd_error* error) {
    holds->count = 0;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        char label[160], axis[3];
        if (p->kind != kind_of(closing) || g->parameter_part[i] != part) continue;
        mabd_start_hold* to = &holds->hold[holds->count++];
        *to = (mabd_start_hold){.parameter = i, .place = g->sim->joint_place[p->index]};
        to->row = row_of(g->sim->model, p), to->target = g->values[i];
        if (!closing || to->row.kind == MABD_ROW_SLIDE) continue;
        if (!((mabd_real)fabs(to->target) <= HALF_TURN)) {
            mabd_model_joint_label(g->sim->model, p->index, label, sizeof label);
            return mabd_fail_at(error, MABD_ERR_INPUT, -1, p->index, 0,
                                "coordinate: %s starts %s at %g rad, beyond half a turn", label,
                                axis_name(&to->row, axis), (double)to->target);
        }
        if (to->row.kind != MABD_ROW_VECTOR) to->near = to->target;
    }
    return MABD_OK;
}

mabd_status mabd_start_check_hold(const mabd_quaternion_sim* sim, const mabd_parameter* p,
                                  mabd_error* error) {
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[p->index].row_set];
    const int32_t place = sim->joint_place[p->index];
    const mabd_row row = row_of(sim->model, p);
    char label[160];
    const char* why = NULL;
    for (int32_t r = 0; r < set->control_count; r++) {
        const bool own =
            set->control_row[r].kind == row.kind && set->control_row[r].axis == row.axis;
        if (own && set->control[r].rigid) why = "a rigid servo overrules it";
    }
    if (place < 0) {
        why = "the joint holds no body that moves by forces";
    } else if (sim->model->joints[p->index].frame < 0) {
        why = "a ball joint without spring, damper, servo or motor has no axes";
    } else if (p->kind == MABD_PARAMETER_COORDINATE && sim->joints[place].slot_a >= 0 &&
               sim->joints[place].slot_b >= 0 && sim->joints[place].block_ab == SIZE_MAX) {
        why =
            "a ball joint or free joint between two bodies needs a spring, damper or servo for it";
    }
    if (!why) return MABD_OK;
    return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, p->index, 0,
                        "formulation 'quaternion', %s: %s: %s", mabd_parameter_kind_name(p->kind),
                        mabd_model_joint_label(sim->model, p->index, label, sizeof label), why);
}

// ---- rows --------------------------------------------------------------------------------------

void mabd_start_hold_rows(const mabd_quaternion_solve* s, mabd_start_holds* holds) {
    for (int32_t i = 0; i < holds->count; i++) {
        mabd_start_hold* h = &holds->hold[i];
        const mabd_model_joint* joint = &s->sim->model->joints[s->sim->joints[h->place].joint];
        const mabd_joint_view view = mabd_quaternion_view(s->sim, s->sim->pose, s->time, joint);
        mabd_rigid_joint_rows(&view, 1, &h->row, &h->near, &h->x, &h->J);
    }
}

// y (unknowns) += s J' of a held axis; or returns J y.
static mabd_real pass_row(const mabd_quaternion_point* p, const mabd_start_hold* h, bool back,
                          mabd_real s, mabd_real* y) {
    const mabd_quaternion_joint* j = &p->s.sim->joints[h->place];
    const mabd_rigid_wrench* side[2] = {&h->J.a, &h->J.b};
    mabd_real sum = s;
    for (int k = 0; k < 2; k++) {
        const int32_t slot = k == 0 ? j->slot_a : j->slot_b;
        mabd_real row[6];
        if (slot < 0) continue;
        mabd_v3_store(side[k]->f, row), mabd_v3_store(side[k]->t, row + 3);
        mabd_pass(back, 1, row, 1, 6, &sum, y + 6 * (size_t)slot);
    }
    return sum;
}

// B'M^-1 B of a held axis: its two bodies alone.
static mabd_real free_response(const mabd_quaternion_point* p, const mabd_start_hold* h) {
    const mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[sim->joints[h->place].joint];
    const mabd_rigid_wrench* side[2] = {&h->J.a, &h->J.b};
    mabd_real sum = 0;
    for (int k = 0; k < 2; k++) {
        const int32_t body = k == 0 ? joint->a : joint->b;
        if (body >= m->body_count || m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        const mabd_vec3 t = side[k]->t;
        sum += mabd_v3_dot(side[k]->f, side[k]->f) / c->material.mass;
        sum +=
            t.x * t.x / c->principal[0] + t.y * t.y / c->principal[1] + t.z * t.z / c->principal[2];
    }
    return sum;
}

// ---- the small matrix --------------------------------------------------------------------------

static mabd_status fail_held(const mabd_quaternion_point* p, const mabd_start_hold* h,
                             mabd_error* error) {
    const int32_t joint = p->s.sim->joints[h->place].joint;
    char label[160], axis[3];
    mabd_model_joint_label(p->s.sim->model, joint, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, joint, 0,
                        "%s: %s is not free at the start: the joints or other %ss determine it",
                        label, axis_name(&h->row, axis),
                        p->function == MABD_FUNCTION_CLOSE ? "coordinate" : "rate");
}

// Factor S = P L U in place; pivots by columns.
static mabd_status factor_small(const mabd_quaternion_point* p, mabd_start_holds* h,
                                mabd_error* error) {
    const int32_t n = h->count;
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++) {
            if (fabs(h->S[i * n + k]) > fabs(h->S[best * n + k])) best = i;
        }
        h->pivot[k] = best;
        if (!((mabd_real)fabs(h->S[best * n + k]) > FREE_PART * free_response(p, &h->hold[k]))) {
            return fail_held(p, &h->hold[k], error);
        }
        for (int32_t j = 0; best != k && j < n; j++) {
            const mabd_real kept = h->S[k * n + j];
            h->S[k * n + j] = h->S[best * n + j], h->S[best * n + j] = kept;
        }
        for (int32_t i = k + 1; i < n; i++) {
            const mabd_real l = h->S[i * n + k] /= h->S[k * n + k];
            for (int32_t j = k + 1; j < n; j++) h->S[i * n + j] -= l * h->S[k * n + j];
        }
    }
    return MABD_OK;
}

// Solve S x = f in the fields f.
static void solve_small(mabd_start_holds* h) {
    const int32_t n = h->count;
    for (int32_t k = 0; k < n; k++) { // rows were exchanged as a whole
        const mabd_real kept = h->hold[k].f;
        h->hold[k].f = h->hold[h->pivot[k]].f, h->hold[h->pivot[k]].f = kept;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < i; j++) h->hold[i].f -= h->S[i * n + j] * h->hold[j].f;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) h->hold[i].f -= h->S[i * n + j] * h->hold[j].f;
        h->hold[i].f /= h->S[i * n + i];
    }
}

// ---- solves ------------------------------------------------------------------------------------

mabd_status mabd_start_border(const mabd_quaternion_point* p, bool back, mabd_start_holds* h,
                              mabd_error* error) {
    const size_t n = unknowns_of(p->s.part);
    for (int32_t i = 0; i < h->count; i++) {
        mabd_real* Z = h->Z + (size_t)i * n;
        memset(Z, 0, n * sizeof *Z);
        pass_row(p, &h->hold[i], true, -1, Z); // the solve has a minus
        mabd_tangent_solve(p, back, Z, Z);
        for (int32_t k = 0; k < h->count; k++) {
            h->S[k * h->count + i] = pass_row(p, &h->hold[k], false, 0, Z);
        }
    }
    return factor_small(p, h, error);
}

void mabd_start_solve(const mabd_quaternion_point* p, bool back, mabd_start_holds* h, mabd_real* b,
                      mabd_real* x) {
    const size_t n = unknowns_of(p->s.part);
    mabd_tangent_solve(p, back, b, x);
    for (int32_t i = 0; i < h->count; i++) {
        mabd_start_hold* own = &h->hold[i];
        const mabd_real across = pass_row(p, own, false, 0, x);
        own->f = back ? across - own->f : -own->f - across;
    }
    solve_small(h);
    for (int32_t i = 0; i < h->count; i++) {
        const mabd_real s = back ? -h->hold[i].f : h->hold[i].f;
        for (size_t k = 0; k < n; k++) x[k] += s * h->Z[(size_t)i * n + k];
    }
}

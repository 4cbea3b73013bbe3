// SPDX-License-Identifier: Apache-2.0
// A private copy of a model whose numbers follow the parameters of a gradient.
//
// A class, a row set or a frame that several bodies or joints share is copied for each one that a
// parameter changes. With the center of mass c and the principal axes V of the source, a point X of
// a joint or a force is c + V X in the user's frame and V1'(c + V X - c1) in the new one.
//
// The start kinds with index -1 move all dynamic bodies as one: with the centre C of the source, a
// shift s, a turn E = exp(t) in world axes, a velocity v and an angular velocity w,
//
//   x1 = C + E (x - C) + s,   U1 = E U,   x1' = E x' + v + w x E (x - C),   omega1 = E omega + w

#include "gradient/variant.h"

#include "base/error.h"
#include "math/eigen3.h"
#include "math/quat.h"
#include "math/so3.h"
#include "scene/spline_value.h"

#include <math.h>
#include <string.h>

// ---- kinds -------------------------------------------------------------------------------------

static bool is_inertial(mabd_parameter_kind kind) {
    return kind == MABD_PARAMETER_MASS || kind == MABD_PARAMETER_CENTER ||
           kind == MABD_PARAMETER_INERTIA;
}
static bool is_axis_law(mabd_parameter_kind kind) {
    return kind >= MABD_PARAMETER_STIFFNESS && kind <= MABD_PARAMETER_FRICTION;
}
static bool is_place(mabd_parameter_kind kind) {
    return kind >= MABD_PARAMETER_ANCHOR_A && kind <= MABD_PARAMETER_AXIS_B;
}
static bool is_start(mabd_parameter_kind kind) {
    return kind <= MABD_PARAMETER_START_ANGULAR;
}

// ---- memory ------------------------------------------------------------------------------------

#define TAKE(field, n) v->field = mabd_arena_take(arena, (n), sizeof *v->field)

// Room for one class per body with inertial parameters, and one row set and frame per joint.
static void lay_out(mabd_variant* v, mabd_arena* arena) {
    const mabd_model* m = v->source;
    const size_t n = (size_t)v->parameter_count, bodies = (size_t)m->body_count;
    const size_t joints = (size_t)m->joint_count, classes = (size_t)m->class_count;
    TAKE(body_own, bodies);
    TAKE(moved, joints);
    TAKE(turned, classes + n);
    TAKE(inertia, classes + n);
    TAKE(model.classes, classes + n);
    TAKE(model.body_class, bodies);
    TAKE(model.start, bodies);
    TAKE(model.joints, joints);
    TAKE(model.frames, (size_t)m->frame_count + joints);
    TAKE(model.row_sets, (size_t)m->row_set_count + n);
    TAKE(model.forces, (size_t)m->force_count);
    TAKE(model.springs, (size_t)m->spring_count);
    TAKE(model.spring_points, (size_t)m->spring_point_count);
    TAKE(model.ground, (size_t)m->ground_count);
    TAKE(model.ground_points, (size_t)m->ground_point_count);
    TAKE(model.piece_values, (size_t)m->piece_value_count);
}

static void reset_splines(mabd_variant* v) {
    const size_t count = (size_t)v->source->piece_value_count;
    if (count == 0) return;
    memcpy(v->model.piece_values, v->source->piece_values, count * sizeof(mabd_real));
}

static void copy_arrays(mabd_variant* v) {
    const mabd_model* m = v->source;
    mabd_model* to = &v->model;
    memcpy(to->classes, m->classes, (size_t)m->class_count * sizeof *m->classes);
    memcpy(to->body_class, m->body_class, (size_t)m->body_count * sizeof *m->body_class);
    memcpy(to->start, m->start, (size_t)m->body_count * sizeof *m->start);
    memcpy(to->joints, m->joints, (size_t)m->joint_count * sizeof *m->joints);
    memcpy(to->frames, m->frames, (size_t)m->frame_count * sizeof *m->frames);
    memcpy(to->row_sets, m->row_sets, (size_t)m->row_set_count * sizeof *m->row_sets);
    memcpy(to->forces, m->forces, (size_t)m->force_count * sizeof *m->forces);
    if (m->spring_count > 0) {
        memcpy(to->springs, m->springs, (size_t)m->spring_count * sizeof *m->springs);
        memcpy(to->spring_points, m->spring_points,
               (size_t)m->spring_point_count * sizeof *m->spring_points);
    }
    if (m->ground_count > 0) *to->ground = *m->ground;
    if (m->ground_point_count > 0) {
        memcpy(to->ground_points, m->ground_points,
               (size_t)m->ground_point_count * sizeof *m->ground_points);
    }
    reset_splines(v);
}

// Give body a class of its own.
static void own_class(mabd_variant* v, int32_t body) {
    mabd_model* m = &v->model;
    if (v->body_own[body]) return;
    v->body_own[body] = true;
    m->classes[m->class_count] = m->classes[m->body_class[body]];
    m->body_class[body] = m->class_count++;
}

// Give a joint a row set of its own.
static void own_rows(mabd_variant* v, int32_t joint) {
    mabd_model* m = &v->model;
    if (m->joints[joint].row_set >= v->source->row_set_count) return;
    m->row_sets[m->row_set_count] = m->row_sets[m->joints[joint].row_set];
    m->joints[joint].row_set = m->row_set_count++;
}

// Mark a joint whose place on its bodies changes, with a frame of its own.
static void own_frame(mabd_variant* v, int32_t joint) {
    mabd_model* m = &v->model;
    if (v->moved[joint]) return;
    v->moved[joint] = true;
    if (m->joints[joint].frame < 0) return;
    m->frames[m->frame_count] = m->frames[m->joints[joint].frame];
    m->joints[joint].frame = m->frame_count++;
}

static void own_parts(mabd_variant* v) {
    for (int32_t i = 0; i < v->parameter_count; i++) {
        const mabd_parameter* p = &v->parameters[i];
        if (is_inertial(p->kind)) own_class(v, p->index);
        if (is_axis_law(p->kind)) own_rows(v, p->index);
        if (is_place(p->kind)) own_frame(v, p->index);
    }
    for (int32_t i = 0; i < v->model.joint_count; i++) {
        const mabd_model_joint* joint = &v->model.joints[i];
        const bool a = joint->a < v->model.body_count && v->body_own[joint->a];
        const bool b = joint->b < v->model.body_count && v->body_own[joint->b];
        if (a || b) own_frame(v, i);
    }
}

static mabd_vec3 common_center(const mabd_model* m) {
    mabd_vec3 sum = mabd_v3(0, 0, 0);
    mabd_real mass = 0;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_vec3 arm =
            mabd_q_rotate(mabd_q_load(m->start[i].rotation), mabd_v3_load(c->center));
        const mabd_vec3 x = mabd_v3_add(mabd_v3_load(m->start[i].position), arm);
        sum = mabd_v3_axpy(c->material.mass, x, sum);
        mass += c->material.mass;
    }
    return mass > 0 ? mabd_v3_scale(1 / mass, sum) : sum;
}

mabd_status mabd_variant_create(const mabd_allocator* allocator, const mabd_model* model,
                                int32_t count, const mabd_parameter* parameters,
                                const mabd_real* values, mabd_variant* out) {
    mabd_arena arena = {0};
    memset(out, 0, sizeof *out);
    out->source = model, out->model = *model;
    out->model.analysis = NULL;
    out->model.close_joints = true; // parameters may open joints
    out->parameter_count = count;
    out->parameters = parameters, out->values = values;
    lay_out(out, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    lay_out(out, &arena);
    out->memory = arena.memory, out->memory_size = arena.size;
    copy_arrays(out);
    own_parts(out);
    out->center = common_center(model);
    return MABD_OK;
}

void mabd_variant_free(const mabd_allocator* allocator, mabd_variant* variant) {
    mabd_free(allocator, variant->memory, variant->memory_size);
    variant->memory = NULL;
}

// ---- bodies ------------------------------------------------------------------------------------

static void read_inertia(const mabd_model_class* c, mabd_real* out) {
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(c->axes));
    for (int i = 0; i < 6; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 axis = mabd_m3_column(&V, k);
            out[i] += c->principal[k] * mabd_v3_get(axis, row[i]) * mabd_v3_get(axis, column[i]);
        }
    }
}

static void reset_body(mabd_variant* v, int32_t body) {
    mabd_model* m = &v->model;
    const int32_t own = m->body_class[body];
    m->start[body] = v->source->start[body];
    if (!v->body_own[body]) return;
    m->classes[own] = v->source->classes[v->source->body_class[body]];
    read_inertia(&m->classes[own], v->inertia[own]);
    v->turned[own] = false;
}

static mabd_quat turn_of(mabd_vec3 t) {
    const mabd_real angle = mabd_v3_norm(t);
    if (!(angle > 0)) return mabd_q(1, 0, 0, 0);
    return mabd_q_axis_angle(mabd_v3_scale(1 / angle, t), angle);
}

// Vector of the values of a kind for an index; what is no parameter is zero.
static mabd_vec3 vector_of(const mabd_variant* v, mabd_parameter_kind kind, int32_t index) {
    mabd_real x[3] = {0, 0, 0};
    for (int32_t i = 0; i < v->parameter_count; i++) {
        const mabd_parameter* p = &v->parameters[i];
        if (p->kind == kind && p->index == index) x[p->component] = v->values[i];
    }
    return mabd_v3_load(x);
}

static void set_body(mabd_variant* v, const mabd_parameter* p, mabd_real value) {
    mabd_model* m = &v->model;
    mabd_model_start* start = &m->start[p->index];
    mabd_model_class* c = &m->classes[m->body_class[p->index]];
    switch (p->kind) {
    case MABD_PARAMETER_START_POSITION:
        start->position[p->component] = value;
        break;
    case MABD_PARAMETER_START_ROTATION: // all components at once
        mabd_q_store(mabd_q_product(mabd_q_load(v->source->start[p->index].rotation),
                                    turn_of(vector_of(v, p->kind, p->index))),
                     start->rotation);
        break;
    case MABD_PARAMETER_START_VELOCITY:
        start->velocity[p->component] = value;
        break;
    case MABD_PARAMETER_START_ANGULAR:
        start->angular_velocity[p->component] = value;
        break;
    case MABD_PARAMETER_MASS:
        c->material.mass = value;
        break;
    case MABD_PARAMETER_CENTER:
        c->center[p->component] = value;
        break;
    default: // inertia
        v->inertia[m->body_class[p->index]][p->component] = value;
        v->turned[m->body_class[p->index]] = true;
        break;
    }
}

static mabd_status finish_class(mabd_variant* v, int32_t body, mabd_error* error) {
    mabd_model_class* c = &v->model.classes[v->model.body_class[body]];
    const mabd_real* I = v->inertia[v->model.body_class[body]];
    char label[160];
    if (v->turned[v->model.body_class[body]]) {
        mabd_mat3 axes;
        mabd_sym3_eigen(I, c->principal, &axes);
        mabd_q_store(mabd_q_from_matrix(axes), c->axes);
    }
    const mabd_real* p = c->principal;
    if (c->material.mass > 0 && p[0] > 0 && p[1] > 0 && p[2] > 0) return MABD_OK;
    return mabd_fail_at(error, MABD_ERR_INPUT, body, -1, 0,
                        "mass and moments of inertia of %s must be positive",
                        mabd_model_body_label(v->source, body, label, sizeof label));
}

// ---- all bodies as one -------------------------------------------------------------------------

static void set_group(mabd_variant* v) {
    const mabd_vec3 shift = vector_of(v, MABD_PARAMETER_START_POSITION, -1);
    const mabd_vec3 velocity = vector_of(v, MABD_PARAMETER_START_VELOCITY, -1);
    const mabd_vec3 spin = vector_of(v, MABD_PARAMETER_START_ANGULAR, -1);
    const mabd_quat E = turn_of(vector_of(v, MABD_PARAMETER_START_ROTATION, -1));
    for (int32_t i = 0; i < v->model.body_count; i++) {
        mabd_model_start* s = &v->model.start[i];
        if (v->model.body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const mabd_vec3 arm = mabd_q_rotate(E, mabd_v3_sub(mabd_v3_load(s->position), v->center));
        const mabd_vec3 own = mabd_q_rotate(E, mabd_v3_load(s->velocity));
        mabd_v3_store(mabd_v3_add(mabd_v3_add(v->center, shift), arm), s->position);
        mabd_v3_store(mabd_v3_add(mabd_v3_add(own, velocity), mabd_v3_cross(spin, arm)),
                      s->velocity);
        mabd_v3_store(mabd_v3_add(mabd_q_rotate(E, mabd_v3_load(s->angular_velocity)), spin),
                      s->angular_velocity);
        mabd_q_store(mabd_q_product(E, mabd_q_load(s->rotation)), s->rotation);
    }
}

static bool has_group(const mabd_variant* v) {
    for (int32_t i = 0; i < v->parameter_count; i++) {
        if (is_start(v->parameters[i].kind) && v->parameters[i].index == -1) return true;
    }
    return false;
}

// ---- joints ------------------------------------------------------------------------------------

// Axes and center of a body, the world at the origin.
static void frame_of(const mabd_model* m, int32_t body, mabd_mat3* V, mabd_vec3* center) {
    *V = mabd_m3_identity(), *center = mabd_v3(0, 0, 0);
    if (body == m->body_count) return;
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    *V = mabd_q_matrix(mabd_q_load(c->axes)), *center = mabd_v3_load(c->center);
}

// Place one side of a joint: anchor and axes in the new principal frame.
static void place_side(const mabd_variant* v, int32_t joint, int32_t body, bool is_b,
                       const mabd_real* X, const mabd_mat3* F, mabd_real* new_X, mabd_mat3* new_F) {
    const mabd_parameter_kind anchor = is_b ? MABD_PARAMETER_ANCHOR_B : MABD_PARAMETER_ANCHOR_A;
    const mabd_parameter_kind axis = is_b ? MABD_PARAMETER_AXIS_B : MABD_PARAMETER_AXIS_A;
    mabd_mat3 V, V1;
    mabd_vec3 c, c1;
    mabd_real point[3];
    frame_of(v->source, body, &V, &c), frame_of(&v->model, body, &V1, &c1);
    mabd_v3_store(mabd_v3_add(c, mabd_m3_mul(V, mabd_v3_load(X))), point);
    for (int32_t i = 0; i < v->parameter_count; i++) {
        const mabd_parameter* p = &v->parameters[i];
        if (p->kind == anchor && p->index == joint) point[p->component] = v->values[i];
    }
    mabd_v3_store(mabd_m3_tmul(V1, mabd_v3_sub(mabd_v3_load(point), c1)), new_X);
    if (!F) return;
    const mabd_mat3 turn = mabd_q_matrix(turn_of(vector_of(v, axis, joint)));
    *new_F = mabd_m3_tproduct(V1, mabd_m3_product(turn, mabd_m3_product(V, *F)));
}

static void place_joint(mabd_variant* v, int32_t index) {
    const mabd_model_joint* from = &v->source->joints[index];
    mabd_model_joint* to = &v->model.joints[index];
    const mabd_model_frame* F = from->frame >= 0 ? &v->source->frames[from->frame] : NULL;
    mabd_model_frame* G = from->frame >= 0 ? &v->model.frames[to->frame] : NULL;
    place_side(v, index, from->a, false, from->Xa, F ? &F->a : NULL, to->Xa, G ? &G->a : NULL);
    place_side(v, index, from->b, true, from->Xb, F ? &F->b : NULL, to->Xb, G ? &G->b : NULL);
}

static void set_axis(mabd_variant* v, const mabd_parameter* p, mabd_real value) {
    const mabd_model_joint* joint = &v->model.joints[p->index];
    mabd_row_set* set = &v->model.row_sets[joint->row_set];
    mabd_row row;
    mabd_joint_coordinate((mabd_joint)joint->type, (mabd_axis)p->axis, &row);
    for (int32_t r = 0; r < set->control_count; r++) {
        mabd_control* c = &set->control[r];
        if (set->control_row[r].kind != row.kind || set->control_row[r].axis != row.axis) continue;
        if (p->kind == MABD_PARAMETER_STIFFNESS) {
            c->stiffness += value - c->spring;
            c->spring = value;
        }
        if (p->kind == MABD_PARAMETER_REST) c->rest = value;
        if (p->kind == MABD_PARAMETER_DAMPING) c->damping = value;
        if (p->kind == MABD_PARAMETER_ARMATURE) c->armature = value;
        if (p->kind == MABD_PARAMETER_FRICTION) c->friction = value;
        c->offset = c->spring * c->rest;
    }
}

static void set_spline(mabd_variant* v, int32_t index) {
    const mabd_parameter* p = &v->parameters[index];
    const mabd_model_joint* joint = &v->model.joints[p->index];
    const mabd_joint_piece* piece = &v->model.pieces[joint->piece_first];
    int32_t value = p->component;
    for (int32_t n; value >= (n = mabd_piece_value_count(piece)); piece++) value -= n;
    mabd_real* at = v->model.piece_values + piece->first;
    if (piece->type != MABD_JOINT_SPLINE_CURVE) {
        at[value] = v->values[index];
        return;
    }
    at += 7 * (size_t)(value / 6);
    if (value % 6 < 3) {
        at[value % 6] = v->values[index];
        return;
    }
    const int32_t first = p->component - value % 6 + 3; // all components of the turn at once
    mabd_real t[3] = {0, 0, 0};
    for (int32_t i = 0; i < v->parameter_count; i++) {
        const mabd_parameter* own = &v->parameters[i];
        const int32_t k = own->component - first;
        if (own->kind != p->kind || own->index != p->index || k < 0 || k > 2) continue;
        t[k] = v->values[i];
    }
    const mabd_real* from = v->source->piece_values + (at + 3 - v->model.piece_values);
    mabd_q_store(mabd_q_product(mabd_q_load(from), turn_of(mabd_v3_load(t))), at + 3);
}

static void place_force(mabd_variant* v, int32_t index) {
    const mabd_model_force* from = &v->source->forces[index];
    mabd_model_force* to = &v->model.forces[index];
    mabd_mat3 V, V1;
    mabd_vec3 c, c1;
    if (!v->body_own[from->body]) return;
    frame_of(v->source, from->body, &V, &c), frame_of(&v->model, from->body, &V1, &c1);
    const mabd_vec3 point = mabd_v3_add(c, mabd_m3_mul(V, from->point));
    to->point = mabd_m3_tmul(V1, mabd_v3_sub(point, c1));
    if (!from->body_frame) return;
    to->force = mabd_m3_tmul(V1, mabd_m3_mul(V, from->force));
    to->torque = mabd_m3_tmul(V1, mabd_m3_mul(V, from->torque));
}

// ---- springs and ground ------------------------------------------------------------------------

// Place points of springs or of the ground in the new principal frames of their bodies.
static void place_points(const mabd_variant* v, int32_t count, const mabd_model_point* from,
                         mabd_model_point* to) {
    for (int32_t i = 0; i < count; i++) {
        mabd_mat3 V, V1;
        mabd_vec3 c, c1;
        if (from[i].body >= v->source->body_count || !v->body_own[from[i].body]) continue;
        frame_of(v->source, from[i].body, &V, &c), frame_of(&v->model, from[i].body, &V1, &c1);
        const mabd_vec3 point = mabd_v3_add(c, mabd_m3_mul(V, from[i].X));
        to[i].X = mabd_m3_tmul(V1, mabd_v3_sub(point, c1));
    }
}

static void set_spring(mabd_model_spring* spring, int component, mabd_real value) {
    mabd_real* const fields[3] = {&spring->stiffness, &spring->damping, &spring->length};
    *fields[component] = value;
}

static void set_ground(mabd_model_ground* ground, int component, mabd_real value) {
    mabd_real* const fields[4] = {&ground->stiffness, &ground->damping, &ground->tangent,
                                  &ground->friction};
    *fields[component] = value;
}

// ---- the whole ---------------------------------------------------------------------------------

static void reset_joint(mabd_variant* v, int32_t joint) {
    mabd_model* m = &v->model;
    const int32_t own = m->joints[joint].row_set;
    if (own < v->source->row_set_count) return;
    m->row_sets[own] = v->source->row_sets[v->source->joints[joint].row_set];
}

mabd_status mabd_variant_update(mabd_variant* v, mabd_error* error) {
    mabd_model* m = &v->model;
    memcpy(m->gravity, v->source->gravity, sizeof m->gravity);
    for (int32_t i = 0; i < m->body_count; i++) reset_body(v, i);
    for (int32_t i = 0; i < m->joint_count; i++) reset_joint(v, i);
    reset_splines(v);
    for (int32_t i = 0; i < v->parameter_count; i++) {
        const mabd_parameter* p = &v->parameters[i];
        if (p->kind == MABD_PARAMETER_GRAVITY) m->gravity[p->component] = v->values[i];
        if (p->kind == MABD_PARAMETER_SPRING) {
            set_spring(&m->springs[p->index], p->component, v->values[i]);
        }
        if (p->kind == MABD_PARAMETER_GROUND) set_ground(m->ground, p->component, v->values[i]);
        if ((is_start(p->kind) && p->index >= 0) || is_inertial(p->kind)) {
            set_body(v, p, v->values[i]);
        }
        if (is_axis_law(p->kind)) set_axis(v, p, v->values[i]);
        if (p->kind == MABD_PARAMETER_SPLINE) set_spline(v, i);
    }
    for (int32_t i = 0; i < m->body_count; i++) {
        if (v->body_own[i]) MABD_TRY(finish_class(v, i, error));
    }
    if (has_group(v)) set_group(v);
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (v->moved[i]) place_joint(v, i);
    }
    for (int32_t i = 0; i < m->force_count; i++) place_force(v, i);
    place_points(v, m->spring_point_count, v->source->spring_points, m->spring_points);
    place_points(v, m->ground_point_count, v->source->ground_points, m->ground_points);
    return MABD_OK;
}

// ---- derivatives of the start state ------------------------------------------------------------

static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// Derivative by a start parameter of one body.
static void body_change(const mabd_variant* v, const mabd_parameter* p, mabd_real* out) {
    const mabd_quat E = turn_of(vector_of(v, MABD_PARAMETER_START_ROTATION, -1));
    const mabd_vec3 spin = vector_of(v, MABD_PARAMETER_START_ANGULAR, -1);
    const mabd_vec3 e = mabd_q_rotate(E, unit(p->component));
    mabd_real* to = out + 12 * (size_t)p->index;
    if (p->kind == MABD_PARAMETER_START_POSITION) {
        mabd_v3_store(e, to), mabd_v3_store(mabd_v3_cross(spin, e), to + 6);
    } else if (p->kind == MABD_PARAMETER_START_ROTATION) {
        // R exp(t + d) = R exp(t) exp(phi): the right derivative is the left one at -t
        const mabd_vec3 t = vector_of(v, p->kind, p->index);
        mabd_v3_store(mabd_so3_turn_change(mabd_v3_scale(-1, t), unit(p->component)), to + 3);
    } else {
        mabd_v3_store(e, to + (p->kind == MABD_PARAMETER_START_VELOCITY ? 6 : 9));
    }
}

// Derivative by a start parameter of all bodies.
static void group_change(const mabd_variant* v, const mabd_parameter* p, int32_t body,
                         mabd_real* to) {
    const mabd_model_start* s = &v->model.start[body];
    const mabd_vec3 e = unit(p->component), spin = vector_of(v, MABD_PARAMETER_START_ANGULAR, -1);
    const mabd_vec3 velocity = vector_of(v, MABD_PARAMETER_START_VELOCITY, -1);
    const mabd_vec3 shift = vector_of(v, MABD_PARAMETER_START_POSITION, -1);
    const mabd_vec3 arm =
        mabd_v3_sub(mabd_v3_sub(mabd_v3_load(s->position), v->center), shift); // E (x - C)
    if (p->kind == MABD_PARAMETER_START_POSITION) {
        mabd_v3_store(e, to);
    } else if (p->kind == MABD_PARAMETER_START_VELOCITY) {
        mabd_v3_store(e, to + 6);
    } else if (p->kind == MABD_PARAMETER_START_ANGULAR) {
        mabd_v3_store(mabd_v3_cross(e, arm), to + 6), mabd_v3_store(e, to + 9);
    } else {
        const mabd_vec3 phi = mabd_so3_turn_change(vector_of(v, p->kind, -1), e);
        const mabd_vec3 moved = mabd_v3_cross(phi, arm);
        const mabd_vec3 own = mabd_v3_sub(mabd_v3_sub(mabd_v3_load(s->velocity), velocity),
                                          mabd_v3_cross(spin, arm)); // E x'
        const mabd_vec3 omega = mabd_v3_sub(mabd_v3_load(s->angular_velocity), spin);
        mabd_v3_store(moved, to);
        mabd_v3_store(mabd_q_rotate(mabd_q_conjugate(mabd_q_load(s->rotation)), phi), to + 3);
        mabd_v3_store(mabd_v3_add(mabd_v3_cross(phi, own), mabd_v3_cross(spin, moved)), to + 6);
        mabd_v3_store(mabd_v3_cross(phi, omega), to + 9);
    }
}

bool mabd_variant_start_change(const mabd_variant* v, int32_t parameter, mabd_real* start) {
    const mabd_parameter* p = &v->parameters[parameter];
    memset(start, 0, 12 * (size_t)v->model.body_count * sizeof *start);
    if (!is_start(p->kind)) return false;
    if (p->index >= 0) {
        body_change(v, p, start);
        return true;
    }
    for (int32_t i = 0; i < v->model.body_count; i++) {
        if (v->model.body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        group_change(v, p, i, start + 12 * (size_t)i);
    }
    return true;
}

mabd_vec3 mabd_variant_turn(const mabd_variant* v, int32_t parameter) {
    const mabd_parameter* p = &v->parameters[parameter];
    const bool anchor = p->kind == MABD_PARAMETER_ANCHOR_A || p->kind == MABD_PARAMETER_ANCHOR_B;
    if (anchor) return unit(p->component);
    return mabd_so3_turn_change(vector_of(v, p->kind, p->index), unit(p->component));
}

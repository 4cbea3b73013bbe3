// SPDX-License-Identifier: Apache-2.0
#include "gradient/parameter.h"

#include "base/error.h"
#include "model/model_data.h"
#include "rigid/frames.h"
#include "rigid/row_jacobian.h"
#include "scene/signal.h"
#include "scene/spline_value.h"
#include "sim/sim_object.h"

#include <math.h>

const char* const mabd_parameter_axes[] = {"tx", "ty", "tz", "rx", "ry", "rz"};

#define BODY            MABD_OWNER_BODY
#define JOINT           MABD_OWNER_JOINT
#define AXIS            MABD_OWNER_AXIS
#define MISSING         MABD_OWNER_MISSING
#define KIND(name, ...) [MABD_PARAMETER_##name] = {__VA_ARGS__}
static const mabd_parameter_traits traits[] = {
    KIND(START_POSITION, BODY, 3, true, true, false, {"m", "m"}),
    KIND(START_ROTATION, BODY, 3, true, true, false, {"rad", "rad"}),
    KIND(START_VELOCITY, BODY, 3, true, true, false, {"m/s", "m/s"}),
    KIND(START_ANGULAR, BODY, 3, true, true, false, {"rad/s", "rad/s"}),
    KIND(COORDINATE, AXIS, 0, false, false, false, {"m", "rad"}),
    KIND(RATE, AXIS, 0, false, false, false, {"m/s", "rad/s"}),
    KIND(MASS, BODY, 0, true, false, false, {"kg", "kg"}),
    KIND(CENTER, BODY, 3, true, false, false, {"m", "m"}),
    KIND(INERTIA, BODY, 6, true, false, false, {"kg m^2", "kg m^2"}),
    KIND(ANCHOR_A, JOINT, 3, false, false, false, {"m", "m"}),
    KIND(ANCHOR_B, JOINT, 3, false, false, false, {"m", "m"}),
    KIND(AXIS_A, JOINT, 3, false, false, false, {"rad", "rad"}),
    KIND(AXIS_B, JOINT, 3, false, false, false, {"rad", "rad"}),
    KIND(STIFFNESS, AXIS, 0, false, false, false, {"N/m", "N m/rad"}),
    KIND(REST, AXIS, 0, false, false, false, {"m", "rad"}),
    KIND(DAMPING, AXIS, 0, false, false, false, {"N s/m", "N m s/rad"}),
    KIND(ARMATURE, AXIS, 0, false, false, false, {"kg", "kg m^2"}),
    KIND(FRICTION, AXIS, 0, false, false, false, {"N", "N m"}),
    KIND(SPRING, MABD_OWNER_SPRING, 3, false, false, false, {"", ""}),
    KIND(GRAVITY, MABD_OWNER_NONE, 3, false, false, false, {"m/s^2", "m/s^2"}),
    KIND(GROUND, MABD_OWNER_GROUND, 4, false, false, false, {"", ""}),
    KIND(CONTROL, MABD_OWNER_CONTROL, 0, false, false, true, {"", ""}),
    KIND(FORCE, BODY, 6, true, false, true, {"N", "N m"}),
    KIND(SPLINE, MABD_OWNER_SPLINE, 0, false, false, false, {"m", "rad"}),
};
_Static_assert(sizeof traits / sizeof traits[0] == MABD_PARAMETER_COUNT, "traits of every kind");

const mabd_parameter_traits* mabd_parameter_get_traits(mabd_parameter_kind kind) {
    return &traits[kind];
}

// ---- what is there -----------------------------------------------------------------------------

static const mabd_row_set* rows_of(const mabd_model* m, int32_t joint) {
    return &m->row_sets[m->joints[joint].row_set];
}

// The control on an axis of a joint: springs, dampers, armature, servo, friction; null = none.
static const mabd_control* control_on(const mabd_model* m, int32_t joint, int32_t axis) {
    const mabd_row_set* set = rows_of(m, joint);
    mabd_row row;
    if (!mabd_joint_coordinate((mabd_joint)m->joints[joint].type, (mabd_axis)axis, &row)) {
        return NULL;
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* own = &set->control_row[r];
        if (own->kind == row.kind && own->axis == row.axis) return &set->control[r];
    }
    return NULL;
}

/// What the coordinate of some number of a joint with pieces is.
typedef enum piece_axis { PIECE_NONE, PIECE_LENGTH, PIECE_ANGLE, PIECE_SEGMENTS } piece_axis;

// Axis number `left` of a type of joint; three free rotations have no coordinates of their own.
static piece_axis axis_of_type(mabd_joint type, int32_t* left) {
    int turns = 0;
    mabd_row row;
    for (int axis = MABD_AXIS_RX; axis < MABD_AXIS_COUNT; axis++) {
        turns += mabd_joint_coordinate(type, (mabd_axis)axis, &row);
    }
    for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
        if (!mabd_joint_coordinate(type, (mabd_axis)axis, &row) || (*left)-- > 0) continue;
        if (axis < MABD_AXIS_RX) return PIECE_LENGTH;
        return turns == 3 ? PIECE_NONE : PIECE_ANGLE;
    }
    return PIECE_NONE;
}

// The axis of some number of a joint with pieces; that of a screw is rx.
static piece_axis piece_axis_of(const mabd_model* m, int32_t joint, int32_t axis) {
    const mabd_model_joint* own = &m->joints[joint];
    int32_t left = axis;
    if (own->type == MABD_JOINT_SCREW) return axis == MABD_AXIS_RX ? PIECE_ANGLE : PIECE_NONE;
    for (int32_t i = own->piece_first; i < own->piece_first + own->piece_count; i++) {
        const mabd_joint type = (mabd_joint)m->pieces[i].type;
        const bool curve = type == MABD_JOINT_SPLINE_CURVE,
                   surface = type == MABD_JOINT_SPLINE_SURFACE;
        if (curve || surface) {
            if (left >= 0 && left <= surface) return PIECE_SEGMENTS;
            left -= curve ? 1 : 2;
            continue;
        }
        const int32_t before = left;
        const piece_axis found = axis_of_type(type, &left);
        if (before >= 0 && left < 0) return found;
    }
    return PIECE_NONE;
}

static bool is_axis_law(mabd_parameter_kind kind) {
    return kind >= MABD_PARAMETER_STIFFNESS && kind <= MABD_PARAMETER_FRICTION;
}

// True of a start coordinate or rate of a joint with pieces.
static bool is_piece_start(const mabd_model* m, const mabd_parameter* p) {
    const bool start = p->kind == MABD_PARAMETER_COORDINATE || p->kind == MABD_PARAMETER_RATE;
    return start && m->joints[p->index].piece_count > 0;
}

static mabd_status check_body(const mabd_model* m, const mabd_parameter* p, mabd_error* error) {
    const mabd_parameter_traits* t = &traits[p->kind];
    const char* kind = mabd_parameter_kind_name(p->kind);
    if (p->index == -1 && t->whole) return MABD_OK;
    if (p->index < 0 || p->index >= m->body_count) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no body %d", kind, (int)p->index);
    }
    if (m->body_motion[p->index] == MABD_MOTION_DYNAMIC || !t->moving) return MABD_OK;
    char label[160];
    return mabd_fail_at(error, MABD_ERR_INPUT, p->index, -1, 0,
                        "%s: %s is %s, so it has no such parameter", kind,
                        mabd_model_body_label(m, p->index, label, sizeof label),
                        m->body_motion[p->index] == MABD_MOTION_FIXED ? "fixed" : "scripted");
}

// The piece of a joint that a control value belongs to, *value: its number there; null = none.
static const mabd_joint_piece* piece_of(const mabd_model* m, int32_t joint, int32_t* value) {
    const mabd_model_joint* own = &m->joints[joint];
    for (int32_t i = own->piece_first; i < own->piece_first + own->piece_count; i++) {
        const int32_t count = mabd_piece_value_count(&m->pieces[i]);
        if (*value >= 0 && *value < count) return &m->pieces[i];
        *value -= count;
    }
    return NULL;
}

int32_t mabd_parameter_spline_count(const mabd_model* m, int32_t joint) {
    const mabd_model_joint* own = &m->joints[joint];
    int32_t count = 0;
    for (int32_t i = own->piece_first; i < own->piece_first + own->piece_count; i++) {
        count += mabd_piece_value_count(&m->pieces[i]);
    }
    return count;
}

static mabd_status check_spline(const mabd_model* m, const mabd_parameter* p, mabd_error* error) {
    char label[160];
    int32_t value = p->component;
    if (piece_of(m, p->index, &value)) return MABD_OK;
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, p->index, 0, "%s: %s has no control value %d",
                        mabd_parameter_kind_name(p->kind),
                        mabd_model_joint_label(m, p->index, label, sizeof label),
                        (int)p->component);
}

static mabd_status check_joint(const mabd_model* m, const mabd_parameter* p, mabd_error* error) {
    const char* kind = mabd_parameter_kind_name(p->kind);
    char label[160];
    mabd_row row;
    if (p->index < 0 || p->index >= m->joint_count) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no joint %d", kind, (int)p->index);
    }
    if (traits[p->kind].owner == MABD_OWNER_SPLINE) return check_spline(m, p, error);
    if (traits[p->kind].owner != MABD_OWNER_AXIS) return MABD_OK;
    const mabd_joint type = (mabd_joint)m->joints[p->index].type;
    const bool known = p->axis >= 0 && p->axis < MABD_AXIS_COUNT;
    if (known && m->joints[p->index].piece_count > 0 && !is_axis_law(p->kind)) {
        if (piece_axis_of(m, p->index, p->axis) != PIECE_NONE) return MABD_OK;
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, p->index, 0,
                            "%s: %s, a %s joint, has no coordinate %s (tx is the first of a "
                            "composite or spline) besides those of three free rotations",
                            kind, mabd_model_joint_label(m, p->index, label, sizeof label),
                            mabd_joint_name(type), mabd_parameter_axes[p->axis]);
    }
    if (!known || !mabd_joint_coordinate(type, (mabd_axis)p->axis, &row)) {
        return mabd_fail_at(
            error, MABD_ERR_INPUT, -1, p->index, 0, "%s: %s, a %s joint, has no free axis %s", kind,
            mabd_model_joint_label(m, p->index, label, sizeof label), mabd_joint_name(type),
            (uint32_t)p->axis < MABD_AXIS_COUNT ? mabd_parameter_axes[p->axis] : "of that number");
    }
    if (!is_axis_law(p->kind) || control_on(m, p->index, p->axis)) return MABD_OK;
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, p->index, 0,
                        "%s: %s has no spring, damper, armature or servo on axis %s", kind,
                        mabd_model_joint_label(m, p->index, label, sizeof label),
                        mabd_parameter_axes[p->axis]);
}

static mabd_status check_owner(const mabd_model* m, const mabd_parameter* p, mabd_error* error) {
    const char* kind = mabd_parameter_kind_name(p->kind);
    const int64_t controls = (int64_t)m->control_count * mabd_model_control_copies(m);
    switch (traits[p->kind].owner) {
    case MABD_OWNER_BODY:
        return check_body(m, p, error);
    case MABD_OWNER_JOINT:
    case MABD_OWNER_AXIS:
    case MABD_OWNER_SPLINE:
        return check_joint(m, p, error);
    case MABD_OWNER_CONTROL:
        if (p->index >= 0 && p->index < controls) return MABD_OK;
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no control %d; the scene has %lld",
                         kind, (int)p->index, (long long)controls);
    case MABD_OWNER_SPRING:
        if (p->index >= 0 && p->index < m->spring_count) return MABD_OK;
        return mabd_fail(error, MABD_ERR_INPUT, "%s: there is no spring %d; the scene has %d", kind,
                         (int)p->index, (int)m->spring_count);
    case MABD_OWNER_GROUND:
        if (m->ground_count > 0) return MABD_OK;
        return mabd_fail(error, MABD_ERR_INPUT, "%s: the scene has no ground", kind);
    case MABD_OWNER_MISSING:
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "%s: scenes have no such thing", kind);
    default:
        return MABD_OK;
    }
}

static mabd_status check_numbers(const mabd_parameter* p, int64_t steps, mabd_error* error) {
    const mabd_parameter_traits* t = &traits[p->kind];
    const char* kind = mabd_parameter_kind_name(p->kind);
    if (t->components > 0 && (p->component < 0 || p->component >= t->components)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: component %d is not one of 0 .. %d", kind,
                         (int)p->component, (int)t->components - 1);
    }
    if (t->steps && (p->first < 1 || p->first > p->last || p->last > steps)) {
        return mabd_fail(error, MABD_ERR_INPUT,
                         "%s: steps %lld .. %lld are not within the run of %lld steps", kind,
                         (long long)p->first, (long long)p->last, (long long)steps);
    }
    if (!(p->lower <= p->upper)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: the lower bound %g is above the upper one, %g",
                         kind, (double)p->lower, (double)p->upper);
    }
    if (!(p->scale > 0) || !isfinite(p->scale)) {
        return mabd_fail(error, MABD_ERR_INPUT, "%s: scale must be > 0 and finite, got %g", kind,
                         (double)p->scale);
    }
    return MABD_OK;
}

mabd_status mabd_parameter_check(const mabd_model* model, int64_t steps,
                                 const mabd_parameter* parameter, mabd_error* error) {
    if ((unsigned)parameter->kind >= MABD_PARAMETER_COUNT) {
        return mabd_fail(error, MABD_ERR_INPUT, "there is no kind of parameter %d",
                         (int)parameter->kind);
    }
    MABD_TRY(check_owner(model, parameter, error));
    return check_numbers(parameter, steps, error);
}

const char* mabd_parameter_unit(const mabd_model* model, const mabd_parameter* parameter) {
    if (!model || !parameter ||
        mabd_parameter_check(model, parameter->last, parameter, NULL) != MABD_OK) {
        return "";
    }
    const mabd_parameter_traits* t = &traits[parameter->kind];
    if (t->owner == MABD_OWNER_CONTROL) {
        return mabd_model_control(model, parameter->index % model->control_count).unit;
    }
    if (t->owner == MABD_OWNER_SPRING || t->owner == MABD_OWNER_GROUND) {
        const bool strain = t->owner == MABD_OWNER_SPRING &&
                            model->springs[parameter->index].law != MABD_SPRING_LINEAR;
        static const char* const units[2][4] = {{"N/m", "N s/m", "m", ""}, {"N", "N s", "m", ""}};
        const bool tangent = t->owner == MABD_OWNER_GROUND && parameter->component == 2;
        return tangent ? "N s/m" : units[strain][parameter->component];
    }
    if (t->owner == MABD_OWNER_SPLINE) {
        int32_t value = parameter->component;
        const mabd_joint_piece* piece = piece_of(model, parameter->index, &value);
        const bool curve = piece->type == MABD_JOINT_SPLINE_CURVE;
        return t->unit[curve ? value % 6 >= 3 : value / (piece->rows * piece->columns) >= 3];
    }
    if (is_piece_start(model, parameter)) {
        const piece_axis own = piece_axis_of(model, parameter->index, parameter->axis);
        if (own != PIECE_SEGMENTS) return t->unit[own == PIECE_ANGLE];
        return parameter->kind == MABD_PARAMETER_RATE ? "1/s" : "";
    }
    return t->unit[t->owner == MABD_OWNER_AXIS ? parameter->axis >= MABD_AXIS_RX
                                               : t->components == 6 && parameter->component >= 3];
}

// ---- values ------------------------------------------------------------------------------------

// State of a body at the start, principal frame; the world is at rest at the origin.
static mabd_rigid_state start_of(const mabd_model* m, int32_t body) {
    mabd_rigid_state s = {.q = {.w = 1}};
    if (body < m->body_count) {
        s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &m->start[body]);
    }
    return s;
}

// The start coordinates and rates of joints with pieces (joints x 6 x 2), by a formulation.
static bool read_axes(const mabd_model* m, mabd_formulation formulation, mabd_real* axes) {
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim;
    def.formulation = formulation, def.allocator = &m->allocator;
    if (mabd_sim_create(m, &def, &sim, NULL) != MABD_OK) return false;
    sim->ops->get_axes(sim->self, axes);
    mabd_sim_destroy(sim);
    return true;
}

// Coordinate, or rate, of a joint with pieces at the start of the scene: a formulation that has
// them follows them from the poses.
static mabd_real start_of_piece(const mabd_model* m, const mabd_parameter* p) {
    const size_t at = 12 * (size_t)p->index + 2 * (size_t)p->axis;
    const size_t bytes = 12 * (size_t)m->joint_count * sizeof(mabd_real);
    mabd_real value = (mabd_real)NAN;
    mabd_real* axes = mabd_alloc(&m->allocator, bytes);
    bool found = false;
    for (int f = 0; axes && f < MABD_FORMULATION_COUNT && !found; f++) {
        if (!mabd_formulation_ops_of((mabd_formulation)f)->get_axes) continue;
        found = read_axes(m, (mabd_formulation)f, axes);
    }
    if (found) value = axes[at + (p->kind == MABD_PARAMETER_RATE)];
    mabd_free(&m->allocator, axes, bytes);
    return value;
}

// Coordinate, or rate, of a free axis at the start of the scene.
static mabd_real start_of_axis(const mabd_model* m, const mabd_parameter* p) {
    const mabd_model_joint* joint = &m->joints[p->index];
    const mabd_rigid_state a = start_of(m, joint->a), b = start_of(m, joint->b);
    mabd_joint_view view;
    mabd_model_joint_view(m, joint, &view);
    view.Aa = mabd_q_matrix(a.q), view.ta = a.c;
    view.Ab = mabd_q_matrix(b.q), view.tb = b.c;
    if (joint->frame < 0) { // a plain ball joint: world axes of the start pose
        view.Fa = mabd_m3_transpose(view.Aa), view.Fb = mabd_m3_transpose(view.Ab);
    }
    mabd_row row;
    mabd_rigid_row J;
    mabd_real x = 0;
    const mabd_real near = 0;
    mabd_joint_coordinate((mabd_joint)joint->type, (mabd_axis)p->axis, &row);
    mabd_rigid_joint_rows(&view, 1, &row, &near, &x, &J);
    if (p->kind == MABD_PARAMETER_COORDINATE) return x;
    return mabd_v3_dot(J.a.f, a.v) + mabd_v3_dot(J.a.t, mabd_m3_tmul(view.Aa, a.omega)) +
           mabd_v3_dot(J.b.f, b.v) + mabd_v3_dot(J.b.t, mabd_m3_tmul(view.Ab, b.omega));
}

// Entry `component` (xx yy zz xy xz yz) of V diag(principal) V'.
static mabd_real inertia_of(const mabd_model_class* c, int component) {
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(c->axes));
    mabd_real sum = 0;
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 v = mabd_m3_column(&V, k);
        sum += mabd_v3_get(v, row[component]) * c->principal[k] * mabd_v3_get(v, column[component]);
    }
    return sum;
}

static mabd_real value_of_axis(const mabd_model* m, const mabd_parameter* p) {
    if (is_piece_start(m, p)) return start_of_piece(m, p);
    if (!is_axis_law(p->kind)) return start_of_axis(m, p);
    const mabd_control* c = control_on(m, p->index, p->axis);
    switch (p->kind) {
    case MABD_PARAMETER_STIFFNESS:
        return c->spring;
    case MABD_PARAMETER_REST:
        return c->rest;
    case MABD_PARAMETER_DAMPING:
        return c->damping;
    case MABD_PARAMETER_ARMATURE:
        return c->armature;
    default:
        return c->friction;
    }
}

static mabd_real value_of_joint(const mabd_model* m, const mabd_parameter* p) {
    mabd_real a[3], b[3];
    mabd_model_joint_anchors(m, p->index, a, b);
    if (p->kind == MABD_PARAMETER_ANCHOR_A) return a[p->component];
    return p->kind == MABD_PARAMETER_ANCHOR_B ? b[p->component] : 0;
}

static mabd_real value_of_spline(const mabd_model* m, const mabd_parameter* p) {
    int32_t value = p->component;
    const mabd_joint_piece* piece = piece_of(m, p->index, &value);
    const mabd_real* at = m->piece_values + piece->first;
    if (piece->type != MABD_JOINT_SPLINE_CURVE) return at[value];
    return value % 6 < 3 ? at[7 * (value / 6) + value % 6] : 0;
}

static mabd_real value_of_body(const mabd_model* m, const mabd_parameter* p) {
    if (p->index < 0) return 0;
    const mabd_model_start* start = &m->start[p->index];
    const mabd_model_class* c = &m->classes[m->body_class[p->index]];
    switch (p->kind) {
    case MABD_PARAMETER_START_POSITION:
        return start->position[p->component];
    case MABD_PARAMETER_START_VELOCITY:
        return start->velocity[p->component];
    case MABD_PARAMETER_START_ANGULAR:
        return start->angular_velocity[p->component];
    case MABD_PARAMETER_MASS:
        return c->material.mass;
    case MABD_PARAMETER_CENTER:
        return c->center[p->component];
    case MABD_PARAMETER_INERTIA:
        return inertia_of(c, p->component);
    default: // start rotation, force
        return 0;
    }
}

static mabd_real value_of_spring(const mabd_model* m, const mabd_parameter* p) {
    const mabd_model_spring* spring = &m->springs[p->index];
    if (p->component == 2) return spring->length;
    return p->component == 0 ? spring->stiffness : spring->damping;
}

static mabd_real value_of_ground(const mabd_model* m, const mabd_parameter* p) {
    const mabd_real values[4] = {m->ground->stiffness, m->ground->damping, m->ground->tangent,
                                 m->ground->friction};
    return values[p->component];
}

// The target of a control at the end of step `first`.
static mabd_real value_of_control(const mabd_model* m, mabd_real h, const mabd_parameter* p) {
    const mabd_copy_control* control = &m->controls[p->index % m->control_count];
    const int32_t copy = p->index / m->control_count;
    const mabd_row_set* set = rows_of(m, copy * m->copy_joints + control->joint);
    const mabd_control* row = &set->control[control->row];
    const mabd_signal* signal = control->kind == MABD_CONTROL_FORCE ? set->motor[control->row].force
                                : row->drive                        ? row->drive
                                                                    : row->servo;
    const mabd_real end = h * (mabd_real)p->first;
    return mabd_signal_over(signal, end - h, h, end);
}

mabd_real mabd_parameter_value(const mabd_model* model, mabd_real h,
                               const mabd_parameter* parameter) {
    if (!model || !parameter ||
        mabd_parameter_check(model, parameter->last, parameter, NULL) != MABD_OK) {
        return (mabd_real)NAN;
    }
    switch (traits[parameter->kind].owner) {
    case MABD_OWNER_BODY:
        return value_of_body(model, parameter);
    case MABD_OWNER_JOINT:
        return value_of_joint(model, parameter);
    case MABD_OWNER_AXIS:
        return value_of_axis(model, parameter);
    case MABD_OWNER_SPRING:
        return value_of_spring(model, parameter);
    case MABD_OWNER_GROUND:
        return value_of_ground(model, parameter);
    case MABD_OWNER_SPLINE:
        return value_of_spline(model, parameter);
    case MABD_OWNER_CONTROL:
        return value_of_control(model, h, parameter);
    default:
        return model->gravity[parameter->component];
    }
}

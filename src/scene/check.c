// SPDX-License-Identifier: Apache-2.0
// Checks of bodies, joints and signals.
//
// Mass properties. The affine body has the mass matrix diag(s1 I, s2 I, s3 I, m I) with
// s_k = tr(I)/2 - I_k, the second moments of the mass along the principal axes. Real bodies have
// s_k > 0 (the triangle inequality of the principal moments, strictly); s_k = 0 is a body without
// thickness along axis k, whose mass matrix is singular.
#include "scene/check.h"

#include "math/eigen3.h"
#include "math/quat.h"
#include "scene/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Relative to the trace: a smaller s_k counts as zero, a more negative one as a violated triangle
// inequality.
#define MOMENT_TOLERANCE ((mabd_real)1e-9)
// A shorter quaternion or axis has no direction.
#define SHORTEST ((mabd_real)1e-12)

static void write_label(const mabd_subject* subject, char* label, size_t size) {
    const char* noun = subject->kind == MABD_SUBJECT_BODY ? "body" : "joint";
    int32_t index = subject->index + (subject->element > 0 ? subject->element : 0);
    if (subject->kind == MABD_SUBJECT_OTHER) {
        snprintf(label, size, "%s", subject->name);
    } else if (!subject->name) {
        snprintf(label, size, "%s %d", noun, (int)index);
    } else if (subject->element < 0) {
        snprintf(label, size, "%s '%.100s'", noun, subject->name);
    } else {
        snprintf(label, size, "%s '%.100s/%d'", noun, subject->name, (int)subject->element);
    }
}

static void write_part(const mabd_subject* subject, char* part, size_t size) {
    part[0] = '\0';
    if (subject->part && subject->part_index >= 0) {
        snprintf(part, size, "%s %d: ", subject->part, (int)subject->part_index);
    } else if (subject->part) {
        snprintf(part, size, "%s: ", subject->part);
    }
}

mabd_status mabd_reject(const mabd_subject* subject, const char* format, ...) {
    char label[140], part[32], text[320];
    write_label(subject, label, sizeof label);
    write_part(subject, part, sizeof part);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int32_t index = subject->index + (subject->element > 0 ? subject->element : 0);
    int32_t body = subject->kind == MABD_SUBJECT_BODY ? index : -1;
    int32_t joint = subject->kind == MABD_SUBJECT_JOINT ? index : -1;
    return mabd_fail_at(subject->error, MABD_ERR_INPUT, body, joint, 0, "%s: %s%s", label, part,
                        text);
}

mabd_subject mabd_subject_other(const char* label, mabd_error* error) {
    mabd_subject subject = {MABD_SUBJECT_OTHER, label, -1, -1, NULL, -1, error};
    return subject;
}

mabd_status mabd_check_finite(const mabd_subject* subject, const char* what, int32_t n,
                              const mabd_real* values) {
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) return mabd_reject(subject, "%s is not a finite number", what);
    }
    return MABD_OK;
}

mabd_status mabd_check_rotation(const mabd_subject* subject, const char* what,
                                const mabd_real* rotation, mabd_real* unit) {
    MABD_TRY(mabd_check_finite(subject, what, 4, rotation));
    mabd_quat q = mabd_q_load(rotation);
    mabd_real norm = mabd_q_norm(q);
    if (!(norm > SHORTEST)) return mabd_reject(subject, "%s is a quaternion without length", what);
    if (!isfinite(norm)) return mabd_reject(subject, "%s is a quaternion too long", what);
    mabd_q_store(mabd_q_normalize(q), unit);
    return MABD_OK;
}

mabd_status mabd_check_direction(const mabd_subject* subject, const char* what,
                                 const mabd_real* vector, mabd_real* unit) {
    MABD_TRY(mabd_check_finite(subject, what, 3, vector));
    mabd_real norm = mabd_v3_norm(mabd_v3_load(vector));
    if (!(norm > SHORTEST)) return mabd_reject(subject, "%s has no length", what);
    if (!isfinite(norm)) return mabd_reject(subject, "%s is too long", what);
    mabd_v3_store(mabd_v3_scale(1 / norm, mabd_v3_load(vector)), unit);
    return MABD_OK;
}

/// Refuse a value that is not finite or not positive (with zero_allowed: negative).
static mabd_status check_positive(const mabd_subject* subject, const char* what, mabd_real value,
                                  bool zero_allowed) {
    MABD_TRY(mabd_check_finite(subject, what, 1, &value));
    if (value < 0 || (value == 0 && !zero_allowed)) {
        return mabd_reject(subject, "%s must %s, not %g", what,
                           zero_allowed ? "not be negative" : "be positive", (double)value);
    }
    return MABD_OK;
}

mabd_status mabd_check_positive(const mabd_subject* subject, const char* what, mabd_real value) {
    return check_positive(subject, what, value, false);
}

mabd_status mabd_check_not_negative(const mabd_subject* subject, const char* what,
                                    mabd_real value) {
    return check_positive(subject, what, value, true);
}

// ---- signals -----------------------------------------------------------------------------------

static mabd_status check_points(const mabd_subject* subject, const char* what,
                                const mabd_signal* signal) {
    const bool steps = signal->kind == MABD_SIGNAL_STEPS;
    if (signal->point_count < 1 || !signal->times || !signal->values) {
        return steps ? mabd_reject(subject, "%s has steps without points", what)
                     : mabd_reject(subject, "%s is a table without points", what);
    }
    MABD_TRY(mabd_check_finite(subject, what, signal->point_count, signal->times));
    MABD_TRY(mabd_check_finite(subject, what, signal->point_count, signal->values));
    for (int32_t i = 1; i < signal->point_count; i++) {
        if (signal->times[i] > signal->times[i - 1]) continue;
        return mabd_reject(subject, "%s: times of %s must rise, but %g s follows %g s", what,
                           steps ? "steps" : "a table", (double)signal->times[i],
                           (double)signal->times[i - 1]);
    }
    return MABD_OK;
}

// Reject a signal that jumps where it prescribes a position: its velocity would be infinite, and
// no step would be right.
static mabd_status check_position(const mabd_subject* subject, const char* what,
                                  const mabd_signal* signal) {
    MABD_TRY(mabd_check_signal(subject, what, signal));
    if (signal->kind != MABD_SIGNAL_STEPS) return MABD_OK;
    return mabd_reject(subject,
                       "%s: a prescribed position cannot jump by 'steps'; use 'ramp' or "
                       "'table'",
                       what);
}

mabd_status mabd_check_signal(const mabd_subject* subject, const char* what,
                              const mabd_signal* signal) {
    const mabd_real sine[] = {signal->value, signal->amplitude, signal->frequency, signal->phase};
    const mabd_real ramp[] = {signal->value, signal->value_end, signal->start, signal->end};
    switch (signal->kind) {
    case MABD_SIGNAL_NONE:
        return MABD_OK;
    case MABD_SIGNAL_CONSTANT:
        return mabd_check_finite(subject, what, 1, &signal->value);
    case MABD_SIGNAL_SINE:
        return mabd_check_finite(subject, what, 4, sine);
    case MABD_SIGNAL_TABLE:
    case MABD_SIGNAL_STEPS:
        return check_points(subject, what, signal);
    case MABD_SIGNAL_RAMP:
        MABD_TRY(mabd_check_finite(subject, what, 4, ramp));
        if (signal->end > signal->start) return MABD_OK;
        return mabd_reject(subject, "%s: a ramp must end after its start at %g s, not at %g s",
                           what, (double)signal->start, (double)signal->end);
    }
    return mabd_reject(subject, "%s: unknown kind of signal %d", what, (int)signal->kind);
}

// ---- bodies ------------------------------------------------------------------------------------

int mabd_shape_size_count(mabd_shape shape) {
    static const int counts[MABD_SHAPE_COUNT] = {[MABD_SHAPE_BOX] = 3,
                                                 [MABD_SHAPE_SPHERE] = 1,
                                                 [MABD_SHAPE_CAPSULE] = 2,
                                                 [MABD_SHAPE_CYLINDER] = 2,
                                                 [MABD_SHAPE_BOWL] = 2};
    return (unsigned)shape < MABD_SHAPE_COUNT ? counts[shape] : 0;
}

bool mabd_shape_is_massless(mabd_shape shape) {
    return shape >= MABD_SHAPE_PLANE && shape < MABD_SHAPE_COUNT;
}

static mabd_status check_sizes(const mabd_subject* subject, const mabd_geom* geom) {
    static const char* const words[MABD_SHAPE_COUNT][3] = {
        [MABD_SHAPE_BOX] = {"size x", "size y", "size z"},
        [MABD_SHAPE_SPHERE] = {"radius"},
        [MABD_SHAPE_CAPSULE] = {"radius", "length"},
        [MABD_SHAPE_CYLINDER] = {"radius", "length"},
        [MABD_SHAPE_BOWL] = {"radius", "thickness"}};
    for (int k = 0; k < mabd_shape_size_count(geom->shape); k++) {
        bool zero_allowed = geom->shape == MABD_SHAPE_CAPSULE && k == 1;
        MABD_TRY(check_positive(subject, words[geom->shape][k], geom->size[k], zero_allowed));
    }
    return MABD_OK;
}

static mabd_status check_field(const mabd_subject* subject, const mabd_height_field* field) {
    if (!field || !field->heights) return mabd_reject(subject, "a height field without heights");
    if (field->columns < 2 || field->rows < 2) {
        return mabd_reject(subject, "a height field needs 2 x 2 nodes or more, not %d x %d",
                           (int)field->columns, (int)field->rows);
    }
    const int64_t nodes = (int64_t)field->columns * field->rows;
    if (nodes > MABD_FIELD_NODES) {
        return mabd_reject(subject, "a height field has at most %d nodes, not %lld",
                           MABD_FIELD_NODES, (long long)nodes);
    }
    MABD_TRY(check_positive(subject, "cell size x", field->dx, false));
    MABD_TRY(check_positive(subject, "cell size y", field->dy, false));
    return mabd_check_finite(subject, "a height", (int32_t)nodes, field->heights);
}

static mabd_status check_part(const mabd_subject* subject, const char* what, mabd_real value) {
    MABD_TRY(check_positive(subject, what, value, true));
    if (value <= 1) return MABD_OK;
    return mabd_reject(subject, "%s must be between 0 and 1, not %g", what, (double)value);
}

mabd_status mabd_check_restitution(const mabd_subject* subject, mabd_real value) {
    return check_part(subject, "restitution", value);
}

mabd_status mabd_check_geom(const mabd_subject* body, mabd_motion motion, int32_t index,
                            const mabd_geom* geom) {
    mabd_subject subject = *body;
    subject.part = "geom";
    subject.part_index = index;
    if ((unsigned)geom->shape >= MABD_SHAPE_COUNT) {
        return mabd_reject(&subject, "unknown shape %d", (int)geom->shape);
    }
    if (!mabd_shape_is_massless(geom->shape)) {
        MABD_TRY(check_positive(&subject, "density", geom->density, false));
    } else if (motion == MABD_MOTION_DYNAMIC) {
        return mabd_reject(&subject, "a %s has no mass: its body must be fixed or scripted",
                           mabd_shape_name(geom->shape));
    }
    MABD_TRY(check_sizes(&subject, geom));
    if (geom->shape == MABD_SHAPE_HEIGHT_FIELD) MABD_TRY(check_field(&subject, geom->field));
    MABD_TRY(check_positive(&subject, "friction", geom->friction, true));
    MABD_TRY(mabd_check_restitution(&subject, geom->restitution));
    MABD_TRY(check_positive(&subject, "rolling friction", geom->rolling_friction, true));
    MABD_TRY(check_positive(&subject, "spinning friction", geom->spinning_friction, true));
    MABD_TRY(mabd_check_finite(&subject, "surface velocity", 3, geom->surface_velocity));
    if (geom->category == 0) {
        return mabd_reject(&subject, "category needs at least one bit (mask 0 touches nothing)");
    }
    MABD_TRY(mabd_check_finite(&subject, "position", 3, geom->position));
    mabd_real unit[4];
    return mabd_check_rotation(&subject, "rotation", geom->rotation, unit);
}

static mabd_status check_script(const mabd_subject* subject, const mabd_script* script) {
    mabd_real unit[3];
    MABD_TRY(check_position(subject, "script translation", &script->translation));
    MABD_TRY(check_position(subject, "script angle", &script->angle));
    if (script->translation.kind != MABD_SIGNAL_NONE) {
        MABD_TRY(mabd_check_direction(subject, "script direction", script->direction, unit));
    }
    if (script->angle.kind == MABD_SIGNAL_NONE) return MABD_OK;
    return mabd_check_direction(subject, "script axis", script->axis, unit);
}

static mabd_status check_mass_given(const mabd_subject* subject, const mabd_body_def* def) {
    MABD_TRY(check_positive(subject, "mass", def->mass, true));
    if (def->inertia_given) {
        MABD_TRY(mabd_check_finite(subject, "inertia", 6, def->inertia));
        MABD_TRY(mabd_check_finite(subject, "center", 3, def->center));
    }
    if (def->motion != MABD_MOTION_DYNAMIC) return MABD_OK;
    if (def->inertia_given && def->mass == 0) return mabd_reject(subject, "mass is zero");
    if (!def->inertia_given && def->geom_count == 0) {
        return mabd_reject(subject, def->mass > 0 ? "mass without inertia: give inertia, or geoms"
                                                  : "no mass: give geoms, or mass and inertia");
    }
    return MABD_OK;
}

mabd_status mabd_check_body(const mabd_subject* subject, const mabd_body_def* def) {
    if (def->motion != MABD_MOTION_DYNAMIC && def->motion != MABD_MOTION_FIXED &&
        def->motion != MABD_MOTION_SCRIPTED) {
        return mabd_reject(subject, "unknown motion %d", (int)def->motion);
    }
    MABD_TRY(check_mass_given(subject, def));
    MABD_TRY(check_positive(subject, "density", def->density, false));
    MABD_TRY(check_positive(subject, "young", def->young, true)); // 0: of the scene
    MABD_TRY(check_positive(subject, "drag", def->drag, true));
    MABD_TRY(mabd_check_finite(subject, "poisson", 1, &def->poisson));
    if (!(def->poisson > -1 && def->poisson < (mabd_real)0.5)) {
        return mabd_reject(subject, "poisson must be between -1 and 0.5, not %g",
                           (double)def->poisson);
    }
    if (def->motion == MABD_MOTION_SCRIPTED) return check_script(subject, &def->script);
    return MABD_OK;
}

mabd_status mabd_check_inertia(const mabd_subject* subject, mabd_motion motion,
                               const mabd_inertia* inertia) {
    MABD_TRY(mabd_check_finite(subject, "mass", 1, &inertia->mass));
    MABD_TRY(mabd_check_finite(subject, "volume", 1, &inertia->volume));
    MABD_TRY(mabd_check_finite(subject, "centre of mass", 3, inertia->center));
    MABD_TRY(mabd_check_finite(subject, "inertia", 6, inertia->tensor));
    if (motion != MABD_MOTION_DYNAMIC) return MABD_OK;
    if (!(inertia->mass > 0)) return mabd_reject(subject, "mass is zero");
    if (!(inertia->volume > 0)) return mabd_reject(subject, "volume is zero");

    mabd_real moments[3];
    mabd_mat3 axes;
    mabd_sym3_eigen(inertia->tensor, moments, &axes);
    double largest = moments[0], middle = moments[1], smallest = moments[2];
    double trace = largest + middle + smallest, s = (middle + smallest - largest) / 2;
    if (!(smallest > 0)) {
        return mabd_reject(subject,
                           "inertia must be positive, but its principal moments are %g, %g, %g "
                           "kg m^2",
                           largest, middle, smallest);
    }
    if (s < -MOMENT_TOLERANCE * trace) {
        return mabd_reject(subject,
                           "inertia breaks the triangle inequality: of the principal moments %g, "
                           "%g, %g kg m^2 the largest exceeds the sum of the others",
                           largest, middle, smallest);
    }
    if (s <= MOMENT_TOLERANCE * trace) {
        return mabd_reject(subject,
                           "inertia is that of a body without thickness (of the principal moments "
                           "%g, %g, %g kg m^2 the largest is the sum of the others), which has a "
                           "singular affine mass matrix: make it thicker",
                           largest, middle, smallest);
    }
    return MABD_OK;
}

// ---- joints ------------------------------------------------------------------------------------

static const char* const free_axes[][2] = {
#define X(name, text, translations, rotations) {translations, rotations},
    MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
};

bool mabd_check_is_free(mabd_joint type, int axis) {
    return strchr(free_axes[type][axis / 3], "xyz"[axis % 3]) != NULL;
}

bool mabd_check_is_vector(mabd_joint type, int axis) {
    return axis >= MABD_AXIS_RX && strlen(free_axes[type][1]) == 3;
}

static mabd_status check_servo(const mabd_subject* subject, const mabd_axis_def* def) {
    bool gains = def->servo_stiffness > 0 || def->servo_damping > 0 || def->servo_rigid;
    if (def->servo.kind == MABD_SIGNAL_NONE) {
        return gains ? mabd_reject(subject, "servo gains without a servo target") : MABD_OK;
    }
    if (def->servo_rigid && !(def->max_force > 0)) {
        return check_position(subject, "rigid servo", &def->servo);
    }
    if (def->servo_rigid || def->servo_stiffness > 0) return MABD_OK;
    return mabd_reject(subject, "a servo needs a stiffness above 0, or must be rigid");
}

static mabd_status check_stops(const mabd_subject* subject, const mabd_axis_def* def) {
    MABD_TRY(check_part(subject, "limit restitution", def->limit_restitution));
    if (!def->limited) {
        return def->limit_restitution > 0
                   ? mabd_reject(subject, "a limit restitution needs a lower or upper limit")
                   : MABD_OK;
    }
    if (isnan(def->lower) || isnan(def->upper)) {
        return mabd_reject(subject, "a limit is not a number");
    }
    if (def->lower > def->upper) {
        return mabd_reject(subject, "the lower limit %g is above the upper limit %g",
                           (double)def->lower, (double)def->upper);
    }
    if (!(def->lower < INFINITY) || !(def->upper > -INFINITY)) {
        return mabd_reject(subject, "limits leave no place: a missing lower limit is -infinity, a "
                                    "missing upper one +infinity");
    }
    return MABD_OK;
}

static mabd_status check_drive(const mabd_subject* subject, const mabd_axis_def* def) {
    const bool servo = def->servo.kind != MABD_SIGNAL_NONE;
    const bool drive = def->motor_velocity.kind != MABD_SIGNAL_NONE;
    MABD_TRY(mabd_check_signal(subject, "motor velocity", &def->motor_velocity));
    MABD_TRY(check_positive(subject, "max force", def->max_force, true));
    MABD_TRY(check_positive(subject, "friction", def->friction, true));
    MABD_TRY(check_positive(subject, "friction speed", def->friction_speed, true));
    if (def->friction_speed > 0 && !(def->friction > 0) && !(def->pin.friction > 0)) {
        return mabd_reject(subject, "a friction speed needs friction or a pin");
    }
    if (servo && drive) {
        return mabd_reject(subject, "a servo and a motor velocity: an axis has one of them");
    }
    if (def->max_force > 0 && !servo && !drive) {
        return mabd_reject(subject, "max force needs a servo or a motor velocity");
    }
    return MABD_OK;
}

static mabd_status check_pin(const mabd_subject* subject, const mabd_pin_def* pin, bool turns) {
    MABD_TRY(check_positive(subject, "pin friction", pin->friction, true));
    MABD_TRY(check_positive(subject, "pin radius", pin->radius, true));
    MABD_TRY(check_positive(subject, "pin length", pin->length, true));
    MABD_TRY(check_positive(subject, "pin face", pin->face, true));
    if (!(pin->friction > 0)) {
        const bool given = pin->radius > 0 || pin->length > 0 || pin->face > 0;
        return given ? mabd_reject(subject, "a pin needs friction above 0") : MABD_OK;
    }
    if (turns && !(pin->radius > 0)) return mabd_reject(subject, "a pin needs a radius above 0");
    return MABD_OK;
}

static mabd_status check_axis(const mabd_subject* subject, const mabd_axis_def* def) {
    MABD_TRY(check_positive(subject, "stiffness", def->stiffness, true));
    MABD_TRY(check_positive(subject, "damping", def->damping, true));
    MABD_TRY(check_positive(subject, "armature", def->armature, true));
    MABD_TRY(check_positive(subject, "servo stiffness", def->servo_stiffness, true));
    MABD_TRY(check_positive(subject, "servo damping", def->servo_damping, true));
    MABD_TRY(check_positive(subject, "weight", def->weight, true));
    MABD_TRY(mabd_check_finite(subject, "rest", 1, &def->rest));
    MABD_TRY(mabd_check_signal(subject, "servo", &def->servo));
    MABD_TRY(mabd_check_signal(subject, "motor", &def->motor));
    MABD_TRY(check_stops(subject, def));
    MABD_TRY(check_drive(subject, def));
    return check_servo(subject, def);
}

mabd_status mabd_check_weights(const mabd_subject* joint, const mabd_joint_def* def) {
    MABD_TRY(check_positive(joint, "force weight", def->force_weight, false));
    return check_positive(joint, "torque weight", def->torque_weight, false);
}

mabd_status mabd_check_axes(const mabd_subject* joint, mabd_joint type,
                            const mabd_axis_def* const* axes) {
    static const char* const words[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        if (!axes[k]) continue;
        mabd_subject subject = *joint;
        subject.part = words[k];
        subject.part_index = -1;
        const bool weighted = axes[k]->weight > 0 && !mabd_store_axis_acts(axes[k]);
        if (!mabd_check_is_free(type, k) && !weighted) {
            return mabd_reject(&subject, "this axis of a %s joint is locked, nothing can act on it",
                               mabd_joint_name(type));
        }
        MABD_TRY(check_axis(&subject, axes[k]));
        MABD_TRY(check_pin(&subject, &axes[k]->pin, k >= MABD_AXIS_RX));
    }
    return MABD_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Read composite values: rotations, signals over time, and controls on the axes of a joint.
#include "import/json/json_internal.h"
#include "math/quat.h"

#include <string.h>

// ---- rotations ---------------------------------------------------------------------------------

// Normalise a finite vector v (n) without overflow; false if it is zero.
static bool make_unit(int n, mabd_real* v) {
    mabd_real largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = (mabd_real)fmax(largest, fabs(v[i]));
    if (!(largest > 0)) return false;
    for (int i = 0; i < n; i++) v[i] /= largest, sum += v[i] * v[i];
    for (int i = 0; i < n; i++) v[i] /= (mabd_real)sqrt(sum);
    return true;
}

static mabd_status read_axis_angle(mabd_json_reader* reader, const mabd_json_node* node,
                                   mabd_real* value) {
    static const char* const keys[] = {"axis", "angle", "degrees", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node axis_node, angle_node, degrees_node;
    if (!mabd_json_member(node, "axis", &axis_node)) {
        return mabd_json_missing(reader, node, "a rotation", "axis");
    }
    bool in_radians = mabd_json_member(node, "angle", &angle_node);
    if (in_radians == mabd_json_member(node, "degrees", &degrees_node)) {
        return mabd_json_fail(reader, node, "a rotation needs either 'angle' or 'degrees'");
    }
    mabd_real axis[3], angle = 0;
    MABD_TRY(mabd_json_vec3(reader, node, "axis", axis));
    if (!make_unit(3, axis)) return mabd_json_fail(reader, &axis_node, "the axis has no length");
    MABD_TRY(mabd_json_real(reader, node, in_radians ? "angle" : "degrees", &angle));
    if (!in_radians) angle *= MABD_PI / 180;
    mabd_q_store(mabd_q_axis_angle(mabd_v3_load(axis), angle), value);
    return MABD_OK;
}

mabd_status mabd_json_rotation(mabd_json_reader* reader, const mabd_json_node* object,
                               const char* key, mabd_real* value) {
    mabd_json_node node;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    if (json_is_object(node.value)) return read_axis_angle(reader, &node, value);
    if (!json_is_array(node.value) || json_array_size(node.value) != 4) {
        return mabd_json_expected(
            reader, &node, "a rotation [w, x, y, z] or {\"axis\": [x, y, z], \"angle\": rad}");
    }
    mabd_real rotation[4];
    MABD_TRY(mabd_json_numbers(reader, object, key, 4, rotation));
    if (!make_unit(4, rotation)) return mabd_json_fail(reader, &node, "the quaternion is zero");
    memcpy(value, rotation, sizeof rotation);
    return MABD_OK;
}

// ---- signals -----------------------------------------------------------------------------------

static mabd_status require(mabd_json_reader* reader, const mabd_json_node* node, const char* what,
                           const char* key) {
    mabd_json_node member;
    if (mabd_json_member(node, key, &member)) return MABD_OK;
    return mabd_json_missing(reader, node, what, key);
}

static mabd_status read_sine(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_signal* signal) {
    static const char* const keys[] = {"offset", "amplitude", "frequency", "phase", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(require(reader, node, "a sine", "amplitude"));
    MABD_TRY(require(reader, node, "a sine", "frequency"));
    signal->kind = MABD_SIGNAL_SINE;
    MABD_TRY(mabd_json_real(reader, node, "offset", &signal->value));
    MABD_TRY(mabd_json_real(reader, node, "amplitude", &signal->amplitude));
    MABD_TRY(mabd_json_not_negative(reader, node, "frequency", &signal->frequency));
    return mabd_json_real(reader, node, "phase", &signal->phase);
}

static mabd_status read_ramp(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_signal* signal) {
    static const char* const keys[] = {"from", "to", "start", "end", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(require(reader, node, "a ramp", "to"));
    MABD_TRY(require(reader, node, "a ramp", "end"));
    signal->kind = MABD_SIGNAL_RAMP;
    MABD_TRY(mabd_json_real(reader, node, "from", &signal->value));
    MABD_TRY(mabd_json_real(reader, node, "to", &signal->value_end));
    MABD_TRY(mabd_json_real(reader, node, "start", &signal->start));
    MABD_TRY(mabd_json_real(reader, node, "end", &signal->end));
    if (!(signal->end > signal->start)) {
        mabd_json_node end;
        mabd_json_member(node, "end", &end);
        return mabd_json_fail(reader, &end, "the end of a ramp must be after its start");
    }
    return MABD_OK;
}

// `what`: the words of messages.
static mabd_status read_times(mabd_json_reader* reader, const mabd_json_node* times, size_t n,
                              const char* what, mabd_real* data) {
    for (size_t i = 0; i < n; i++) {
        mabd_json_node element = mabd_json_element(times, i);
        MABD_TRY(mabd_json_number(reader, &element, &data[i]));
        if (i > 0 && !(data[i] > data[i - 1])) {
            return mabd_json_fail(reader, &element, "the times of %s must rise", what);
        }
    }
    return MABD_OK;
}

// Read a table or steps: times and values.
static mabd_status read_points(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_signal_kind kind, mabd_signal* signal) {
    const char* what = kind == MABD_SIGNAL_STEPS ? "steps" : "a table";
    const char* verb = kind == MABD_SIGNAL_STEPS ? "need" : "needs";
    static const char* const keys[] = {"times", "values", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_json_node times, values;
    if (!mabd_json_member(node, "times", &times)) {
        return mabd_json_fail(reader, node, "%s %s 'times'", what, verb);
    }
    if (!mabd_json_member(node, "values", &values)) {
        return mabd_json_fail(reader, node, "%s %s 'values'", what, verb);
    }
    MABD_TRY(mabd_json_array(reader, &times));
    MABD_TRY(mabd_json_array(reader, &values));
    size_t n = json_array_size(times.value);
    if (n == 0) return mabd_json_fail(reader, &times, "%s %s at least one point", what, verb);
    if (n > INT32_MAX / 2) return mabd_json_fail(reader, &times, "there are too many points");
    if (n != json_array_size(values.value)) {
        return mabd_json_fail(reader, &values, "expected %zu values, as many as times; found %zu",
                              n, json_array_size(values.value));
    }
    mabd_real* data = (mabd_real*)mabd_json_take(reader, mabd_bytes(2 * n, sizeof(mabd_real)));
    if (!data) return mabd_json_no_memory(reader);
    MABD_TRY(read_times(reader, &times, n, what, data));
    MABD_TRY(mabd_json_numbers(reader, node, "values", n, data + n));
    signal->kind = kind;
    signal->point_count = (int32_t)n;
    signal->times = data;
    signal->values = data + n;
    return MABD_OK;
}

mabd_status mabd_json_signal(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, mabd_signal* value) {
    static const char* const keys[] = {"sine", "ramp", "table", "steps", NULL};
    mabd_json_node node, form;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    mabd_signal signal = {0};
    if (!json_is_object(node.value)) {
        if (!json_is_number(node.value) && !json_is_string(node.value)) {
            return mabd_json_expected(reader, &node, "a number or a signal {\"sine\": ...}");
        }
        signal.kind = MABD_SIGNAL_CONSTANT;
        MABD_TRY(mabd_json_number(reader, &node, &signal.value));
        *value = signal;
        return MABD_OK;
    }
    MABD_TRY(mabd_json_only(reader, &node, keys));
    if (json_object_size(node.value) != 1) {
        return mabd_json_fail(reader, &node,
                              "a signal needs exactly one of 'sine', 'ramp', 'table', 'steps'");
    }
    if (mabd_json_member(&node, "sine", &form)) {
        MABD_TRY(read_sine(reader, &form, &signal));
    } else if (mabd_json_member(&node, "ramp", &form)) {
        MABD_TRY(read_ramp(reader, &form, &signal));
    } else if (mabd_json_member(&node, "table", &form)) {
        MABD_TRY(read_points(reader, &form, MABD_SIGNAL_TABLE, &signal));
    } else if (mabd_json_member(&node, "steps", &form)) {
        MABD_TRY(read_points(reader, &form, MABD_SIGNAL_STEPS, &signal));
    }
    *value = signal;
    return MABD_OK;
}

// ---- axes of a joint ---------------------------------------------------------------------------

// Fail if a servo has gains but no target, or is rigid and has gains.
static mabd_status check_servo(mabd_json_reader* reader, const mabd_json_node* node,
                               const mabd_axis_def* axis) {
    static const char* const gains[] = {"servo_rigid", "servo_stiffness", "servo_damping"};
    mabd_json_node member;
    for (int i = 0; i < 3; i++) {
        if (!mabd_json_member(node, gains[i], &member)) continue;
        if (axis->servo.kind == MABD_SIGNAL_NONE) {
            return mabd_json_fail(reader, &member, "'%s' needs 'servo', the target", gains[i]);
        }
        if (i > 0 && axis->servo_rigid) {
            return mabd_json_fail(reader, &member, "'%s' has no meaning with 'servo_rigid'",
                                  gains[i]);
        }
    }
    if (axis->servo.kind != MABD_SIGNAL_NONE && !axis->servo_rigid && axis->servo_stiffness == 0) {
        mabd_json_member(node, "servo", &member);
        return mabd_json_fail(reader, &member,
                              "a servo needs 'servo_stiffness' > 0 or 'servo_rigid': true");
    }
    return MABD_OK;
}

// Read stops on both sides or on one.
static mabd_status read_limits(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_axis_def* axis) {
    mabd_json_node lower, upper, member;
    const bool has_lower = mabd_json_member(node, "lower", &lower);
    const bool has_upper = mabd_json_member(node, "upper", &upper);
    MABD_TRY(mabd_json_not_negative(reader, node, "limit_restitution", &axis->limit_restitution));
    if (mabd_json_member(node, "limit_restitution", &member)) {
        if (axis->limit_restitution > 1) {
            return mabd_json_fail(reader, &member, "limit_restitution must be <= 1, found %g",
                                  (double)axis->limit_restitution);
        }
        if (!has_lower && !has_upper) {
            return mabd_json_fail(reader, &member, "'limit_restitution' needs 'lower' or 'upper'");
        }
    }
    if (!has_lower && !has_upper) return MABD_OK;
    axis->limited = true;
    axis->lower = -(mabd_real)INFINITY, axis->upper = (mabd_real)INFINITY;
    MABD_TRY(mabd_json_real(reader, node, "lower", &axis->lower));
    MABD_TRY(mabd_json_real(reader, node, "upper", &axis->upper));
    if (axis->lower <= axis->upper) return MABD_OK;
    return mabd_json_fail(reader, &lower, "'lower' %g is above 'upper' %g", (double)axis->lower,
                          (double)axis->upper);
}

// Read a motor that keeps a rate, and the limits of all drives.
static mabd_status read_drive(mabd_json_reader* reader, const mabd_json_node* node,
                              mabd_axis_def* axis) {
    mabd_json_node member;
    const bool servo = axis->servo.kind != MABD_SIGNAL_NONE;
    MABD_TRY(mabd_json_signal(reader, node, "motor_velocity", &axis->motor_velocity));
    if (mabd_json_member(node, "motor_velocity", &member) && servo) {
        return mabd_json_fail(reader, &member, "'motor_velocity' cannot be given beside 'servo'");
    }
    const bool drive = axis->motor_velocity.kind != MABD_SIGNAL_NONE;
    if (mabd_json_member(node, "max_force", &member) && !servo && !drive) {
        return mabd_json_fail(reader, &member, "'max_force' needs 'servo' or 'motor_velocity'");
    }
    return mabd_json_positive(reader, node, "max_force", &axis->max_force);
}

static mabd_status read_pin(mabd_json_reader* reader, const mabd_json_node* node,
                            mabd_pin_def* pin) {
    static const char* const keys[] = {"friction", "radius", "length", "face", NULL};
    mabd_json_node member, friction;
    if (!mabd_json_member(node, "pin", &member)) return MABD_OK;
    MABD_TRY(mabd_json_only(reader, &member, keys));
    if (!mabd_json_member(&member, "friction", &friction)) {
        return mabd_json_missing(reader, &member, "a pin", "friction");
    }
    MABD_TRY(mabd_json_positive(reader, &member, "friction", &pin->friction));
    MABD_TRY(mabd_json_positive(reader, &member, "radius", &pin->radius));
    MABD_TRY(mabd_json_positive(reader, &member, "length", &pin->length));
    return mabd_json_positive(reader, &member, "face", &pin->face);
}

static mabd_status read_axis(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_axis_def* axis) {
    static const char* const keys[] = {"stiffness",
                                       "rest",
                                       "damping",
                                       "armature",
                                       "servo",
                                       "servo_rigid",
                                       "lower",
                                       "upper",
                                       "servo_stiffness",
                                       "servo_damping",
                                       "max_force",
                                       "motor",
                                       "motor_velocity",
                                       "friction",
                                       "weight",
                                       "friction_speed",
                                       "pin",
                                       "limit_restitution",
                                       NULL};
    memset(axis, 0, sizeof *axis);
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(mabd_json_not_negative(reader, node, "stiffness", &axis->stiffness));
    MABD_TRY(mabd_json_real(reader, node, "rest", &axis->rest));
    MABD_TRY(mabd_json_not_negative(reader, node, "damping", &axis->damping));
    MABD_TRY(mabd_json_not_negative(reader, node, "armature", &axis->armature));
    MABD_TRY(mabd_json_signal(reader, node, "servo", &axis->servo));
    MABD_TRY(mabd_json_bool(reader, node, "servo_rigid", &axis->servo_rigid));
    MABD_TRY(mabd_json_not_negative(reader, node, "servo_stiffness", &axis->servo_stiffness));
    MABD_TRY(mabd_json_not_negative(reader, node, "servo_damping", &axis->servo_damping));
    MABD_TRY(mabd_json_signal(reader, node, "motor", &axis->motor));
    MABD_TRY(mabd_json_not_negative(reader, node, "friction", &axis->friction));
    MABD_TRY(mabd_json_positive(reader, node, "friction_speed", &axis->friction_speed));
    MABD_TRY(read_pin(reader, node, &axis->pin));
    MABD_TRY(mabd_json_positive(reader, node, "weight", &axis->weight));
    MABD_TRY(read_limits(reader, node, axis));
    MABD_TRY(read_drive(reader, node, axis));
    return check_servo(reader, node, axis);
}

mabd_status mabd_json_axes(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_axis_def* storage, const mabd_axis_def** axes) {
    static const char* const keys[] = {"tx", "ty", "tz", "rx", "ry", "rz", NULL};
    mabd_json_node node, member;
    if (!mabd_json_member(object, key, &node)) return MABD_OK;
    MABD_TRY(mabd_json_only(reader, &node, keys));
    for (int i = 0; i < MABD_AXIS_COUNT; i++) {
        if (!mabd_json_member(&node, keys[i], &member)) continue;
        MABD_TRY(read_axis(reader, &member, &storage[i]));
        axes[i] = &storage[i];
    }
    return MABD_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Row sets: the rows of a joint type with the controls and motors of its free axes. Joints made by
// one call share one set, so a million joints cost a few sets. But a joint with a servo or a motor
// has a set of its own, since targets are set by row set (affine/targets.c); such sets share
// signals.

#include "model/build.h"
#include "scene/store.h"

static bool acts_by_law(const mabd_axis_def* def) {
    const bool dry = (def->friction > 0 || def->pin.friction > 0) && !(def->friction_speed > 0);
    return def->limited || def->max_force > 0 || dry ||
           def->motor_velocity.kind != MABD_SIGNAL_NONE;
}

// Stops, drive and friction. A rigid servo that shares its axis with them is a drive without limit.
static void fill_law(mabd_model_builder* builder, const mabd_axis_def* def, mabd_control* control) {
    const bool servo = def->servo.kind != MABD_SIGNAL_NONE;
    control->limited = def->limited;
    control->lower = def->limited ? def->lower : -(mabd_real)INFINITY;
    control->upper = def->limited ? def->upper : (mabd_real)INFINITY;
    control->limit_restitution = def->limit_restitution;
    control->drive_rate = def->motor_velocity.kind != MABD_SIGNAL_NONE;
    if (!control->drive_rate && !(servo && (def->max_force > 0 || def->servo_rigid))) return;
    control->drive =
        mabd_builder_signal(builder, control->drive_rate ? &def->motor_velocity : &def->servo);
    control->max_force = def->max_force > 0 ? def->max_force : (mabd_real)INFINITY;
    if (!servo || def->servo_rigid) return;
    control->drive_gain = def->servo_stiffness;
    control->drive_damping = def->servo_damping;
}

// True for a servo that is a part of the line of a law; with max_force it is a box of the law.
static bool has_plain_servo(const mabd_axis_def* def) {
    return def->servo.kind != MABD_SIGNAL_NONE && !(def->max_force > 0);
}

// True if some axis has a damper or armature on a component of the rotation vector.
static bool is_damped(mabd_joint type, const mabd_scene_axes* axes) {
    bool damped = false;
    for (int axis = MABD_AXIS_RX; axes && axis < MABD_AXIS_COUNT; axis++) {
        const mabd_axis_def* def = &axes->axis[axis];
        mabd_row row;
        if (!axes->used[axis] || !mabd_joint_coordinate(type, (mabd_axis)axis, &row)) continue;
        const bool servo = has_plain_servo(def) && !def->servo_rigid && def->servo_damping > 0;
        damped |= row.kind == MABD_ROW_VECTOR && (def->damping > 0 || def->armature > 0 || servo);
    }
    return damped;
}

// Add the control of an axis, if something acts on it or the set is damped.
static void add_control(mabd_model_builder* builder, const mabd_axis_def* def, mabd_row row,
                        mabd_row_set* set) {
    const bool law = acts_by_law(def);
    const bool servo = has_plain_servo(def);
    const mabd_real kp = servo && !def->servo_rigid ? def->servo_stiffness : 0;
    const mabd_real kd = servo && !def->servo_rigid ? def->servo_damping : 0;
    const bool rigid = servo && def->servo_rigid && !law;
    const bool needed = set->damped && row.kind == MABD_ROW_VECTOR;
    const mabd_real sum = def->stiffness + kp + def->damping + kd + def->armature;
    const bool friction = def->friction > 0 || def->pin.friction > 0;
    if (!needed && !rigid && !law && !friction && sum <= 0) return;
    set->control_row[set->control_count] = row;
    mabd_control* control = &set->control[set->control_count++];
    control->rigid = rigid;
    control->stiffness = def->stiffness + kp;
    control->damping = def->damping + kd;
    control->armature = def->armature;
    control->offset = def->stiffness * def->rest;
    control->gain = kp;
    control->gain_damping = kd;
    control->spring = def->stiffness;
    control->rest = def->rest;
    control->law = law;
    control->friction = def->friction, control->friction_speed = def->friction_speed;
    control->pin = def->pin;
    if (law) fill_law(builder, def, control);
    if (servo && !control->drive) control->servo = mabd_builder_signal(builder, &def->servo);
}

static void make_set(mabd_model_builder* builder, mabd_joint type, const mabd_scene_axes* axes,
                     mabd_row_set* set) {
    static const mabd_axis_def none;
    set->rigid_count = mabd_joint_rigid_rows(type, set->rigid);
    set->damped = is_damped(type, axes);
    for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
        set->weight[axis] = axes ? axes->weight[axis] : 1;
    }
    for (int axis = 0; axes && axis < MABD_AXIS_COUNT; axis++) {
        mabd_row row;
        if (!mabd_joint_coordinate(type, (mabd_axis)axis, &row)) continue;
        const mabd_axis_def* def = axes->used[axis] ? &axes->axis[axis] : &none;
        add_control(builder, def, row, set);
        if (def->motor.kind == MABD_SIGNAL_NONE) continue;
        set->motor[set->motor_count].row = row;
        set->motor[set->motor_count++].force = mabd_builder_signal(builder, &def->motor);
    }
    int32_t points = 0;
    for (int32_t r = 0; r < set->rigid_count; r++) points += set->rigid[r].kind == MABD_ROW_POINT;
    set->nonlinear = points < set->rigid_count;
    for (int32_t r = 0; r < set->control_count; r++) {
        set->nonlinear |= set->control[r].rigid || set->control[r].law;
        set->laws |= set->control[r].law;
        if (set->control_row[r].kind != MABD_ROW_VECTOR) continue;
        if (!set->vectors) set->turn = r;
        set->vectors = true;
    }
    bool springs = points == 3 && set->rigid_count == 3 && set->control_count == 3;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* row = &set->control_row[r];
        springs &= row->kind == MABD_ROW_VECTOR && row->axis == r && !set->control[r].rigid &&
                   !set->control[r].law;
    }
    set->springs = springs && set->motor_count == 0;
    set->points_only =
        points == 3 && set->rigid_count == 3 && set->control_count == 0 && set->motor_count == 0;
}

static int32_t* place(const mabd_model_builder* builder, mabd_joint type, int32_t axes) {
    return builder->row_set_of + (size_t)(axes + 1) * MABD_JOINT_TYPE_COUNT + type;
}

int32_t mabd_builder_number_row_sets(mabd_model_builder* builder) {
    const mabd_scene_joint* joints = builder->scene->joints.data;
    const mabd_scene_axes* axes = builder->scene->axes.data;
    int32_t n = 0;
    for (int32_t i = 0; i < builder->scene->joints.count; i++) {
        int32_t* set = place(builder, joints[i].type, joints[i].axes);
        const bool own = joints[i].axes >= 0 && mabd_store_is_controlled(&axes[joints[i].axes]);
        if (*set >= 0 && !own) {
            builder->joint_set[i] = *set;
            continue;
        }
        if (*set < 0) *set = n;
        builder->joint_set[i] = n;
        builder->pair_of[n++] = (int32_t)(set - builder->row_set_of);
    }
    return n;
}

int32_t mabd_builder_first_like(const mabd_model_builder* builder, int32_t row_set) {
    return builder->row_set_of[builder->pair_of[row_set]];
}

int32_t mabd_builder_axes_of(const mabd_model_builder* builder, int32_t row_set) {
    return builder->pair_of[row_set] / MABD_JOINT_TYPE_COUNT - 1;
}

void mabd_builder_row_sets(mabd_model_builder* builder) {
    const mabd_scene_axes* axes = builder->scene->axes.data;
    mabd_row_set* sets = builder->model->row_sets;
    for (int32_t i = 0; i < builder->model->row_set_count; i++) {
        const int32_t first = mabd_builder_first_like(builder, i);
        if (first < i) {
            sets[i] = sets[first];
            continue;
        }
        const int32_t k = mabd_builder_axes_of(builder, i);
        make_set(builder, (mabd_joint)(builder->pair_of[i] % MABD_JOINT_TYPE_COUNT),
                 k < 0 ? NULL : axes + k, &sets[i]);
        builder->model->laws |= sets[i].laws;
        for (int32_t r = 0; r < sets[i].control_count; r++) {
            const mabd_control* c = &sets[i].control[r];
            builder->model->rebounds |= c->limit_restitution > 0;
            builder->model->pins |= c->friction_speed > 0 || c->pin.friction > 0;
        }
    }
}

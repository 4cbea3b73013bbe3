// SPDX-License-Identifier: Apache-2.0
#include "rigid/joint_coordinates.h"

#include "math/quat.h"

// Write the coordinate of a free rotation.
static void write_turn(const mabd_joint_view* view, const mabd_row_set* set, const mabd_row* row,
                       const mabd_real* known, mabd_real* coordinate) {
    const mabd_real near = 0;
    mabd_joint_coordinates(view, 1, row, &near, coordinate);
    for (int32_t r = 0; r < set->control_count; r++) { // followed over whole turns
        const mabd_row* own = &set->control_row[r];
        if (own->kind == row->kind && own->axis == row->axis) *coordinate = known[r];
    }
}

// Rotation of the principal frame of a body in a state; that of the world is the identity.
static mabd_mat3 rotation_in(const mabd_model* m, const mabd_model_start* state, int32_t body) {
    if (body == m->body_count) return mabd_m3_identity();
    const mabd_mat3 axes = mabd_q_matrix(mabd_q_load(m->classes[m->body_class[body]].axes));
    return mabd_m3_product(mabd_q_matrix(mabd_q_load(state[body].rotation)), axes);
}

void mabd_rigid_joint_coordinates(const mabd_model* m, int32_t joint, mabd_joint_view view,
                                  const mabd_model_start* start, const mabd_real* known,
                                  mabd_real* coordinates) {
    const mabd_model_joint* own = &m->joints[joint];
    const mabd_row_set* set = &m->row_sets[own->row_set];
    if (own->frame < 0) { // a plain ball joint: world axes of the start pose
        view.Fa = mabd_m3_transpose(rotation_in(m, start, own->a));
        view.Fb = mabd_m3_transpose(rotation_in(m, start, own->b));
    }
    const mabd_vec3 gap = mabd_joint_gap(&view);
    for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
        mabd_row row = {MABD_ROW_SLIDE, (uint8_t)(axis % 3), 0, 1};
        coordinates[axis] = 0;
        if (axis <= MABD_AXIS_TZ) {
            coordinates[axis] = mabd_row_value(&view, &row, gap);
        } else if (mabd_joint_coordinate((mabd_joint)own->type, (mabd_axis)axis, &row)) {
            write_turn(&view, set, &row, known, &coordinates[axis]);
        }
    }
    for (int32_t r = 0; r < set->rigid_count; r++) { // errors of locked rotations
        const mabd_row* row = &set->rigid[r];
        if (row->kind != MABD_ROW_CROSS) continue;
        const int locked = 3 - row->axis - row->other;
        coordinates[MABD_AXIS_RX + locked] = mabd_row_value(&view, row, gap);
    }
}

// Relative angular velocity in the joint frame on b, on which dampers of a rotation vector act.
static mabd_vec3 turn_rate(const mabd_joint_view* v, mabd_rigid_twist a, mabd_rigid_twist b) {
    const mabd_vec3 seen = mabd_m3_tmul(v->Ab, mabd_m3_mul(v->Aa, a.w));
    return mabd_m3_tmul(v->Fb, mabd_v3_sub(b.w, seen));
}

void mabd_rigid_control_coordinates(const mabd_row_set* set, const mabd_joint_view* view,
                                    mabd_rigid_twist a, mabd_rigid_twist b, const mabd_real* near,
                                    mabd_real* x) {
    mabd_real old[MABD_JOINT_MAX_ROWS] = {0}, value[MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < set->control_count; r++) old[r] = near[2 * r];
    mabd_rigid_joint_rows(view, set->control_count, set->control_row, old, value, J);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* row = &set->control_row[r];
        x[2 * r] = value[r];
        x[2 * r + 1] = set->damped && row->kind == MABD_ROW_VECTOR
                           ? mabd_v3_get(turn_rate(view, a, b), row->axis)
                           : mabd_rigid_row_rate(&J[r], a, b);
    }
}

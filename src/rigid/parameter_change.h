// SPDX-License-Identifier: Apache-2.0
// What one unit of a parameter of a gradient changes in a model.
#pragma once

#include "mabd/gradient.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/so3.h"
#include "model/model_data.h"

/// Change of the inertia by one unit of a component (xx yy zz xy xz yz of the user's frame), in the
/// principal frame of the class.
MABD_FN mabd_mat3 mabd_rigid_inertia_change(const mabd_model_class* c, int component) {
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    const mabd_mat3 V = mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes)));
    const mabd_vec3 a = mabd_m3_column(&V, row[component]);
    const mabd_vec3 b = mabd_m3_column(&V, column[component]);
    const mabd_mat3 M = mabd_m3_outer(a, b);
    return component < 3 ? M : mabd_m3_axpy(1, mabd_m3_outer(b, a), M);
}

/// The control that a parameter of an axis belongs to, and its number in the joint; null = none, or
/// another kind of parameter.
MABD_FN const mabd_control* mabd_rigid_axis_control(const mabd_model* m, const mabd_parameter* p,
                                                    int32_t* number) {
    mabd_row row;
    if (p->kind < MABD_PARAMETER_STIFFNESS || p->kind > MABD_PARAMETER_FRICTION) return NULL;
    const mabd_model_joint* joint = &m->joints[p->index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    if (!mabd_joint_coordinate((mabd_joint)joint->type, (mabd_axis)p->axis, &row)) return NULL;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* own = &set->control_row[r];
        *number = r;
        if (own->kind == row.kind && own->axis == row.axis) return &set->control[r];
    }
    return NULL;
}

/// Angular velocity of all bodies as one [rad/s], as far as it is a parameter: a start that is
/// closed by a way d of a centre carries it there, v0 += omega x d.
MABD_FN mabd_vec3 mabd_rigid_common_spin(int32_t count, const mabd_parameter* parameters,
                                         const mabd_real* values) {
    mabd_real omega[3] = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) {
        const mabd_parameter* p = &parameters[i];
        if (p->kind != MABD_PARAMETER_START_ANGULAR || p->index >= 0) continue;
        omega[p->component] = values[i];
    }
    return mabd_v3_load(omega);
}

/// The turn that one unit of parameter number `index` adds to exp(t), t the vector of the values of
/// its kind: the left derivative of exp, times the unit vector of its component.
MABD_FN mabd_vec3 mabd_rigid_turn_change(int32_t count, const mabd_parameter* parameters,
                                         const mabd_real* values, int32_t index) {
    const mabd_parameter* own = &parameters[index];
    mabd_real t[3] = {0, 0, 0}, e[3] = {0, 0, 0};
    e[own->component] = 1;
    for (int32_t i = 0; i < count; i++) {
        const mabd_parameter* p = &parameters[i];
        if (p->kind == own->kind && p->index == own->index) t[p->component] = values[i];
    }
    return mabd_so3_turn_change(mabd_v3_load(t), mabd_v3_load(e));
}

// SPDX-License-Identifier: Apache-2.0
// Classes: from mass, centre and inertia in the user frame to the principal frame the solvers use.
//
//   I = V diag(I1, I2, I3) V'  (about the centre of mass)
//   s_k = tr(I)/2 - I_k = integral rho x_k^2
//   lambda = E nu / ((1 + nu)(1 - 2 nu)),  mu = E / (2 (1 + nu))
//
// A point X_u of the user frame is V'(X_u - c) in the principal frame, c the centre of mass.

#include "model/build.h"

#include "math/eigen3.h"
#include "math/quat.h"
#include "scene/inertia.h"

static void make_class(const mabd_scene* scene, int32_t index, mabd_model_class* out) {
    const mabd_scene_class* in = (const mabd_scene_class*)scene->classes.data + index;
    const mabd_inertia inertia = mabd_scene_class_inertia(scene, index);
    mabd_mat3 axes = mabd_m3_identity();
    mabd_real trace = 0;
    if (inertia.mass > 0) mabd_sym3_eigen(inertia.tensor, out->principal, &axes);
    for (int k = 0; k < 3; k++) {
        trace += out->principal[k];
        out->center[k] = inertia.center[k];
    }
    for (int k = 0; k < 3; k++) out->material.s[k] = trace / 2 - out->principal[k];
    mabd_q_store(mabd_q_from_matrix(axes), out->axes);
    out->material.mass = inertia.mass;
    out->material.volume = inertia.volume;
    const mabd_real young = mabd_scene_class_young(scene, in), poisson = in->poisson;
    out->material.mu = young / (2 * (1 + poisson));
    out->material.lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    out->material.drag = in->drag;
    out->geom_first = in->geom_first;
    out->geom_count = in->geom_count;
}

void mabd_class_to_principal(const mabd_model_class* c, const mabd_real* point,
                             const mabd_real* frame, mabd_vec3* X, mabd_mat3* F) {
    const mabd_mat3 axes = mabd_q_matrix(mabd_q_load(c->axes));
    *X = mabd_m3_tmul(axes, mabd_v3_sub(mabd_v3_load(point), mabd_v3_load(c->center)));
    *F = mabd_m3_tproduct(axes, mabd_q_matrix(mabd_q_load(frame)));
}

void mabd_builder_classes(mabd_model_builder* builder) {
    for (int32_t i = 0; i < builder->model->class_count; i++) {
        make_class(builder->scene, i, &builder->model->classes[i]);
    }
}

mabd_model_start mabd_model_script_pose(const mabd_model* m, const mabd_model_script* script,
                                        mabd_real way, mabd_real angle) {
    mabd_model_start start = m->start[script->body];
    mabd_vec3 position = mabd_v3_load(start.position);
    if (script->translation) position = mabd_v3_axpy(way, script->direction, script->pivot);
    if (script->angle) {
        const mabd_quat turn = mabd_q_axis_angle(script->axis, angle);
        mabd_q_store(mabd_q_product(turn, mabd_q_load(start.rotation)), start.rotation);
    }
    mabd_v3_store(position, start.position);
    return start;
}

void mabd_model_to_affine(const mabd_model_class* c, const mabd_model_start* start, mabd_real* q,
                          mabd_real* v) {
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(start->rotation));
    const mabd_mat3 A = mabd_m3_product(R, mabd_q_matrix(mabd_q_load(c->axes)));
    const mabd_vec3 arm = mabd_m3_mul(R, mabd_v3_load(c->center));
    const mabd_vec3 omega = mabd_v3_load(start->angular_velocity);
    mabd_m3_store(A, q);
    mabd_v3_store(mabd_v3_add(mabd_v3_load(start->position), arm), q + 9);
    // A' = [omega] A, t' = v + omega x arm
    mabd_v3_store(mabd_v3_cross(omega, A.c1), v);
    mabd_v3_store(mabd_v3_cross(omega, A.c2), v + 3);
    mabd_v3_store(mabd_v3_cross(omega, A.c3), v + 6);
    mabd_v3_store(mabd_v3_add(mabd_v3_load(start->velocity), mabd_v3_cross(omega, arm)), v + 9);
}

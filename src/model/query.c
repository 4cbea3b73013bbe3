// SPDX-License-Identifier: Apache-2.0
// Reading a model.

#include "math/quat.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

int32_t mabd_model_body_count(const mabd_model* model) {
    return model->body_count;
}
int32_t mabd_model_joint_count(const mabd_model* model) {
    return model->joint_count;
}
int32_t mabd_model_row_count(const mabd_model* model) {
    return mabd_plan_joint_rows(model->plan);
}
const char* mabd_model_name(const mabd_model* model) {
    return model->name;
}

static const char* write_name(const mabd_names* names, const char* kind, int32_t index, char* text,
                              size_t size) {
    if (index < 0) {
        snprintf(text, size, "world");
    } else if (!mabd_names_write(names, index, text, size)) {
        snprintf(text, size, "%s %d", kind, (int)index);
    }
    return text;
}

const char* mabd_model_body_name(const mabd_model* model, int32_t body, char* text, size_t size) {
    return write_name(&model->body_names, "body", body, text, size);
}
const char* mabd_model_joint_name(const mabd_model* model, int32_t joint, char* text, size_t size) {
    return write_name(&model->joint_names, "joint", joint, text, size);
}
int32_t mabd_model_find_body(const mabd_model* model, const char* name) {
    return mabd_names_find(&model->body_names, name);
}
int32_t mabd_model_find_joint(const mabd_model* model, const char* name) {
    return mabd_names_find(&model->joint_names, name);
}

mabd_mass mabd_model_body_mass(const mabd_model* model, int32_t body) {
    const mabd_model_class* c = &model->classes[model->body_class[body]];
    mabd_mass mass;
    mass.mass = c->material.mass;
    mass.volume = c->material.volume;
    memcpy(mass.center, c->center, sizeof mass.center);
    memcpy(mass.principal, c->principal, sizeof mass.principal);
    memcpy(mass.axes, c->axes, sizeof mass.axes);
    return mass;
}

mabd_motion mabd_model_body_motion(const mabd_model* model, int32_t body) {
    return (mabd_motion)model->body_motion[body];
}

const mabd_geom* mabd_model_body_geoms(const mabd_model* model, int32_t body, int32_t* count) {
    const mabd_model_class* c = &model->classes[model->body_class[body]];
    *count = c->geom_count;
    return model->geoms + c->geom_first;
}

mabd_joint mabd_model_joint_type(const mabd_model* model, int32_t joint, int32_t* a, int32_t* b) {
    const mabd_model_joint* j = &model->joints[joint];
    *a = j->a == model->body_count ? MABD_WORLD : j->a;
    *b = j->b == model->body_count ? MABD_WORLD : j->b;
    return (mabd_joint)j->type;
}

// x_user = axes x_principal + center; the world's two frames are one.
static void to_user_frame(const mabd_model* model, int32_t body, const mabd_real* X,
                          mabd_real* anchor) {
    mabd_vec3 x = mabd_v3_load(X);
    if (body < model->body_count) {
        const mabd_model_class* c = &model->classes[model->body_class[body]];
        x = mabd_v3_add(mabd_q_rotate(mabd_q_load(c->axes), x), mabd_v3_load(c->center));
    }
    mabd_v3_store(x, anchor);
}

void mabd_model_joint_anchors(const mabd_model* model, int32_t joint, mabd_real* anchor_a,
                              mabd_real* anchor_b) {
    const mabd_model_joint* j = &model->joints[joint];
    to_user_frame(model, j->a, j->Xa, anchor_a);
    to_user_frame(model, j->b, j->Xb, anchor_b);
}

int32_t mabd_model_joint_rows(const mabd_model* model, int32_t joint, int32_t* compliant) {
    const mabd_row_set* set = &model->row_sets[model->joints[joint].row_set];
    if (compliant) *compliant = set->control_count;
    return set->rigid_count;
}

mabd_real mabd_model_suggested_h(const mabd_model* model) {
    return model->h;
}
mabd_real mabd_model_suggested_duration(const mabd_model* model) {
    return model->duration;
}
const mabd_real* mabd_model_gravity(const mabd_model* model) {
    return model->gravity;
}

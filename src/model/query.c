// SPDX-License-Identifier: Apache-2.0
// Reading a model.

#include "math/quat.h"
#include "model/model_data.h"

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

// Bodies or joints and their names; those of the first copy, where there are copies.
typedef struct family {
    const char* kind;
    const mabd_names* names;
    int32_t copies, members; // 0 = no copies; of each copy
} family;

static family bodies_of(const mabd_model* m) {
    const family f = {"body", &m->body_names, m->copy_count, m->copy_bodies};
    return f;
}
static family joints_of(const mabd_model* m) {
    const family f = {"joint", &m->joint_names, m->copy_count, m->copy_joints};
    return f;
}

// "arm" or "body 12"; with copies "3/arm" or "3/body 12".
static const char* write_name(family f, int32_t index, char* text, size_t size) {
    int used = 0;
    if (index < 0) {
        snprintf(text, size, "world");
        return text;
    }
    if (f.copies > 0) {
        used = snprintf(text, size, "%d/", (int)(index / f.members));
        index %= f.members;
    }
    if ((size_t)used >= size) return text;
    if (!mabd_names_write(f.names, index, text + used, size - (size_t)used)) {
        snprintf(text + used, size - (size_t)used, "%s %d", f.kind, (int)index);
    }
    return text;
}

static const char* write_label(family f, int32_t index, char* text, size_t size) {
    char name[101], copy[32] = "";
    if (f.copies > 0) {
        snprintf(copy, sizeof copy, "copy %d, ", (int)(index / f.members));
        index %= f.members;
    }
    if (mabd_names_write(f.names, index, name, sizeof name)) {
        snprintf(text, size, "%s%s '%s'", copy, f.kind, name);
    } else {
        snprintf(text, size, "%s%s %d", copy, f.kind, (int)index);
    }
    return text;
}

// "3/arm" with copies. The number is as it is written: no sign, no zero in front.
static int32_t find_name(family f, const char* name) {
    if (f.copies == 0) return mabd_names_find(f.names, name);
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 10 || name[digits] != '/' || (name[0] == '0' && digits > 1)) {
        return -1;
    }
    int64_t copy = 0;
    for (size_t i = 0; i < digits; i++) copy = 10 * copy + (name[i] - '0');
    const int32_t member = mabd_names_find(f.names, name + digits + 1);
    return copy < f.copies && member >= 0 ? (int32_t)copy * f.members + member : -1;
}

const char* mabd_model_body_name(const mabd_model* model, int32_t body, char* text, size_t size) {
    return write_name(bodies_of(model), body, text, size);
}
const char* mabd_model_joint_name(const mabd_model* model, int32_t joint, char* text, size_t size) {
    return write_name(joints_of(model), joint, text, size);
}
const char* mabd_model_body_label(const mabd_model* m, int32_t body, char* text, size_t size) {
    return write_label(bodies_of(m), body, text, size);
}
const char* mabd_model_joint_label(const mabd_model* m, int32_t joint, char* text, size_t size) {
    return write_label(joints_of(m), joint, text, size);
}
int32_t mabd_model_find_body(const mabd_model* model, const char* name) {
    return find_name(bodies_of(model), name);
}
int32_t mabd_model_find_joint(const mabd_model* model, const char* name) {
    return find_name(joints_of(model), name);
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

void mabd_model_to_user_frame(const mabd_model* model, int32_t body, mabd_vec3 X,
                              mabd_real* point) {
    if (body < model->body_count) {
        const mabd_model_class* c = &model->classes[model->body_class[body]];
        X = mabd_v3_add(mabd_q_rotate(mabd_q_load(c->axes), X), mabd_v3_load(c->center));
    }
    mabd_v3_store(X, point);
}

void mabd_model_joint_anchors(const mabd_model* model, int32_t joint, mabd_real* anchor_a,
                              mabd_real* anchor_b) {
    const mabd_model_joint* j = &model->joints[joint];
    mabd_model_to_user_frame(model, j->a, mabd_v3_load(j->Xa), anchor_a);
    mabd_model_to_user_frame(model, j->b, mabd_v3_load(j->Xb), anchor_b);
}

static mabd_vec3 axis_to_user_frame(const mabd_model* model, int32_t body, mabd_vec3 u) {
    if (body == model->body_count) return u;
    return mabd_q_rotate(mabd_q_load(model->classes[model->body_class[body]].axes), u);
}

void mabd_model_joint_axes(const mabd_model* model, int32_t joint, mabd_real* axis_a,
                           mabd_real* axis_b) {
    const mabd_model_joint* j = &model->joints[joint];
    mabd_vec3 a = mabd_v3(0, 0, 0), b = a;
    if (j->frame >= 0) {
        const mabd_model_frame* frame = &model->frames[j->frame];
        a = axis_to_user_frame(model, j->a, mabd_m3_column(&frame->a, 0));
        b = axis_to_user_frame(model, j->b, mabd_m3_column(&frame->b, 0));
    }
    mabd_v3_store(a, axis_a);
    mabd_v3_store(b, axis_b);
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

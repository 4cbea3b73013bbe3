// SPDX-License-Identifier: Apache-2.0
#include "cli/gradient/gradient_copies.h"

#include <stdlib.h>

/// What an index counts.
typedef enum index_of { OF_BODIES, OF_JOINTS, OF_CONTROLS, OF_ALL, OF_SPRINGS } index_of;

static index_of parameter_index(const mabd_parameter* p) {
    switch (p->kind) {
    case MABD_PARAMETER_START_POSITION:
    case MABD_PARAMETER_START_ROTATION:
    case MABD_PARAMETER_START_VELOCITY:
    case MABD_PARAMETER_START_ANGULAR:
    case MABD_PARAMETER_MASS:
    case MABD_PARAMETER_CENTER:
    case MABD_PARAMETER_INERTIA:
    case MABD_PARAMETER_FORCE:
        return p->index < 0 ? OF_ALL : OF_BODIES;
    case MABD_PARAMETER_GRAVITY:
    case MABD_PARAMETER_GROUND:
        return OF_ALL;
    case MABD_PARAMETER_CONTROL:
        return OF_CONTROLS;
    case MABD_PARAMETER_SPRING:
        return OF_SPRINGS;
    default:
        return OF_JOINTS;
    }
}

static index_of term_index(const mabd_loss_term* t) {
    switch (t->kind) {
    case MABD_LOSS_POINT:
    case MABD_LOSS_ROTATION:
    case MABD_LOSS_VELOCITY:
    case MABD_LOSS_ANGULAR:
        return OF_BODIES;
    case MABD_LOSS_ENERGY:
    case MABD_LOSS_PARAMETER:
    case MABD_LOSS_USER:
        return OF_ALL;
    default:
        return OF_JOINTS;
    }
}

// What a copy adds to an index.
static int32_t stride(const mabd_model* m, int32_t count, index_of of) {
    switch (of) {
    case OF_BODIES:
        return mabd_model_body_count(m) / count;
    case OF_JOINTS:
        return mabd_model_joint_count(m) / count;
    case OF_CONTROLS:
        return mabd_model_control_count(m);
    default:
        return 0;
    }
}

static void add_parameter(const mabd_model* m, mabd_real h, int32_t count, int32_t copy,
                          const mabd_parameter* from, mabd_real value, gradient_copies* out) {
    mabd_parameter* to = &out->parameters[out->parameter_count];
    *to = *from;
    if (copy > 0) to->index += copy * stride(m, count, parameter_index(from));
    const bool own = value == mabd_parameter_value(m, h, from); // that of the scene
    out->values[out->parameter_count] = own ? mabd_parameter_value(m, h, to) : value;
    out->parameter_count++;
}

static void add_parameters(const mabd_model* m, mabd_real h, int32_t count,
                           const mabd_gradient_def* from, const mabd_real* values,
                           gradient_copies* out) {
    for (int32_t copy = 0; copy <= count; copy++) {
        const bool shared = copy == count; // at last those of all copies
        for (int32_t i = 0; i < from->parameter_count; i++) {
            const mabd_parameter* p = &from->parameters[i];
            if ((parameter_index(p) == OF_ALL) != shared) continue;
            add_parameter(m, h, count, shared ? -1 : copy, p, values[i], out);
        }
    }
}

// Where parameter i of a loss stands among those of a copy.
static int32_t place_of(const mabd_gradient_def* from, int32_t count, int32_t copy, int32_t i) {
    int32_t own = 0, before[2] = {0};
    for (int32_t k = 0; k < from->parameter_count; k++) {
        const bool shared = parameter_index(&from->parameters[k]) == OF_ALL;
        own += !shared;
        if (k < i) before[shared]++;
    }
    const bool shared = parameter_index(&from->parameters[i]) == OF_ALL;
    return shared ? count * own + before[1] : copy * own + before[0];
}

static void add_terms(const mabd_model* m, int32_t count, const mabd_gradient_def* from,
                      gradient_copies* out) {
    for (int32_t copy = 0; copy < count; copy++) {
        for (int32_t i = 0; i < from->term_count; i++) {
            const mabd_loss_term* t = &from->terms[i];
            const bool parameter = t->kind == MABD_LOSS_PARAMETER;
            const bool shared = parameter ? parameter_index(&from->parameters[t->index]) == OF_ALL
                                          : term_index(t) == OF_ALL;
            if (shared && copy > 0) continue;
            mabd_loss_term* to = &out->terms[out->term_count++];
            *to = *t;
            if (parameter) {
                to->index = place_of(from, count, copy, t->index);
            } else {
                to->index += copy * stride(m, count, term_index(t));
            }
        }
    }
}

mabd_status gradient_copies_make(const mabd_model* model, mabd_real h, int32_t count,
                                 const mabd_gradient_def* from, const mabd_real* values,
                                 gradient_copies* out) {
    const size_t parameters = (size_t)count * (size_t)from->parameter_count + 1;
    const size_t terms = (size_t)count * (size_t)from->term_count + 1;
    for (int32_t i = 0; i < from->parameter_count; i++) {
        if (parameter_index(&from->parameters[i]) == OF_SPRINGS) return MABD_ERR_UNAVAILABLE;
    }
    *out = (gradient_copies){.parameters = calloc(parameters, sizeof(*out->parameters)),
                             .terms = calloc(terms, sizeof(*out->terms)),
                             .values = calloc(parameters, sizeof(*out->values))};
    if (!out->parameters || !out->terms || !out->values) return MABD_ERR_MEMORY;
    add_parameters(model, h, count, from, values, out);
    add_terms(model, count, from, out);
    return MABD_OK;
}

void gradient_copies_free(gradient_copies* copies) {
    free(copies->parameters);
    free(copies->terms);
    free(copies->values);
}

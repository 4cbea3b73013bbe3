// SPDX-License-Identifier: Apache-2.0
// Counts and memory of a model. They are computed once, when the model is built.

#include "mabd/sim.h"
#include "model/build.h"
#include "topology/print.h"

const char* mabd_component_name(mabd_component kind) {
#define X(name, text) text,
    static const char* const names[] = {MABD_COMPONENT_LIST(X)};
#undef X
    return (unsigned)kind < MABD_COMPONENT_COUNT ? names[kind] : "unknown";
}

mabd_plan_totals mabd_model_plan_totals(const mabd_model* model, mabd_component kind) {
    return mabd_plan_sum(model->plan, kind);
}

void mabd_model_memory(const mabd_model* m, size_t* bytes) {
    bytes[MABD_MEMORY_MODEL] = sizeof *m + m->memory_size + mabd_names_bytes(&m->body_names) +
                               mabd_names_bytes(&m->joint_names);
    bytes[MABD_MEMORY_PLAN] = m->plan->bytes;
}

static void count_geoms(const mabd_model* m, mabd_model_info* info) {
    for (int32_t i = 0; i < m->body_count; i++) {
        int32_t count;
        const mabd_geom* geoms = mabd_model_body_geoms(m, i, &count);
        for (int32_t k = 0; k < count; k++) info->geoms[geoms[k].shape]++;
        mabd_model_colliders(m, i, &count);
        info->colliders += count;
    }
    info->contacts = m->contact.enabled;
    info->excluded_pairs = m->contact.exclusion_count;
    info->grouped_bodies = m->contact.member_count;
    for (int32_t i = 0; i < m->contact.member_count; i++) {
        const int32_t groups = m->contact.members[i][1] + 1;
        if (groups > info->excluded_groups) info->excluded_groups = groups;
    }
}

static bool is_weighted(const mabd_row_set* set) {
    bool weighted = false;
    for (int k = 0; k < MABD_AXIS_COUNT; k++) weighted |= set->weight[k] != 1;
    return weighted;
}

// E = mu (3 lambda + 2 mu)/(lambda + mu)
static bool is_steel(const mabd_body_material* c) {
    const mabd_real young = c->mu * (3 * c->lambda + 2 * c->mu) / (c->lambda + c->mu);
    return fabs(young - MABD_DEFAULT_YOUNG) < (mabd_real)1e-6 * MABD_DEFAULT_YOUNG;
}

static bool is_charted(const mabd_model* m, const mabd_model_joint* joint) {
    bool charted = joint->chart != MABD_CHART_LOCAL;
    for (int32_t i = 0; i < joint->piece_count; i++) {
        charted |= m->pieces[joint->piece_first + i].chart != MABD_CHART_LOCAL;
    }
    return charted;
}

mabd_model_info mabd_model_count(const mabd_model* m) {
    const mabd_plan* plan = m->plan;
    size_t bytes[MABD_MEMORY_COUNT];
    mabd_model_info info = {0};
    info.bodies = m->body_count;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        info.dynamic_bodies++;
        info.young_bodies += !is_steel(&m->classes[m->body_class[i]].material);
    }
    info.joints = m->joint_count;
    info.rows = mabd_plan_joint_rows(plan);
    info.compliant_rows = info.rows - m->rigid_row_count;
    info.classes = m->class_count;
    count_geoms(m, &info);
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) info.components[k] = plan->counts[k];
    info.loops = plan->loops;
    info.widest_block = plan->widest;
    for (int32_t i = 0; i < m->joint_count; i++) {
        info.weighted_joints += is_weighted(&m->row_sets[m->joints[i].row_set]);
        info.charted_joints += is_charted(m, &m->joints[i]);
    }
    mabd_model_memory(m, bytes);
    info.bytes_model = bytes[MABD_MEMORY_MODEL] + bytes[MABD_MEMORY_PLAN];
    return info;
}

mabd_model_info mabd_model_get_info(const mabd_model* model) {
    return model->info;
}

uint64_t mabd_model_hash(const mabd_model* model) {
    return model->info.hash;
}

// SPDX-License-Identifier: Apache-2.0
// From the springs, the ground and the couplings of a model to links, and their memory.

#include "formulation/redmax/redmax_tree.h"

#include <string.h>

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (size_t)(n), sizeof *sim->field)

void mabd_redmax_lay_out_springs(mabd_redmax_sim* sim, const mabd_redmax_counts* n,
                                 mabd_arena* arena) {
    const mabd_model* m = sim->model;
    TAKE(springs.points, m->spring_point_count);
    TAKE(springs.springs, m->spring_count);
    TAKE(springs.own, 72 * (size_t)m->spring_point_count);
    TAKE(springs.ground_first, m->ground_count > 0 ? n->links + 1 : 0);
    TAKE(springs.ground, m->ground_point_count);
    TAKE(springs.ends, m->spring_point_count);
    TAKE(springs.ground_ends, m->ground_point_count);
    TAKE(couplings.order, m->coupling_count);
    TAKE(couplings.freedom, m->coupling_axis_count);
}

static mabd_redmax_point point_of(const mabd_redmax_sim* sim, const mabd_model_point* in) {
    const mabd_model* m = sim->model;
    mabd_redmax_point out = {.link = sim->body_link[in->body], .script = -1, .x = in->X};
    if (out.link >= 0) {
        const mabd_frame* P = &sim->links[out.link].principal;
        out.x = mabd_v3_add(mabd_m3_mul(P->R, in->X), P->p);
    } else if (sim->body_script[in->body] >= 0) {
        out.script = sim->body_script[in->body];
    } else if (in->body < m->body_count) { // a fixed body
        const mabd_rigid_state s =
            mabd_rigid_from_user(&m->classes[m->body_class[in->body]], &m->start[in->body]);
        out.x = mabd_v3_add(s.c, mabd_q_rotate(s.q, in->X));
    }
    return out;
}

// Body of a spring that moves by forces.
static int32_t mover_of(const mabd_model* m, const mabd_model_spring* spring) {
    int32_t i = spring->first;
    while (m->body_motion[m->spring_points[i].body] != MABD_MOTION_DYNAMIC) i++;
    return m->spring_points[i].body;
}

int32_t mabd_redmax_spring_borders(const mabd_model* m, const mabd_model_spring* spring) {
    int32_t moving = 0;
    for (int32_t i = spring->first; i < spring->first + spring->count; i++) {
        moving += m->body_motion[m->spring_points[i].body] == MABD_MOTION_DYNAMIC;
    }
    if (spring->count > 2) return 4 * (spring->count - 1);
    return moving == 1 ? 0 : 3;
}

// Number of a link among those with springs.
static void number_link(mabd_redmax_sim* sim, int32_t link, int32_t* count) {
    if (link >= 0 && sim->links[link].spring < 0) sim->links[link].spring = (*count)++;
}

static void fill_springs(mabd_redmax_sim* sim, const mabd_tree* tree) {
    const mabd_model* m = sim->model;
    int32_t links = 0, sum = 0;
    for (int32_t i = 0; i < m->spring_point_count; i++) {
        sim->springs.points[i] = point_of(sim, &m->spring_points[i]);
        number_link(sim, sim->springs.points[i].link, &links);
    }
    for (int32_t i = 0; i < m->spring_count; i++) {
        sim->parts[tree->component[mover_of(m, &m->springs[i])]].spring_count++;
    }
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].spring_first = sum, sum += sim->parts[p].spring_count;
        sim->parts[p].poses |= sim->parts[p].spring_count > 0;
        sim->parts[p].spring_count = 0;
        sim->parts[p].spring_border = sim->parts[p].border_first + sim->parts[p].border_count -
                                      tree->components[p].extra_borders;
    }
    for (int32_t i = 0; i < m->spring_count; i++) {
        mabd_redmax_part* part = &sim->parts[tree->component[mover_of(m, &m->springs[i])]];
        mabd_redmax_spring* own = &sim->springs.springs[part->spring_first + part->spring_count++];
        const int32_t borders = mabd_redmax_spring_borders(m, &m->springs[i]);
        *own = (mabd_redmax_spring){i, borders > 0 ? part->spring_border : -1, borders};
        part->spring_border += borders;
    }
}

// Points of the ground by link: counts, then first places, then points.
static void fill_ground(mabd_redmax_sim* sim, const mabd_tree* tree) {
    const mabd_model* m = sim->model;
    int32_t* first = sim->springs.ground_first;
    memset(first, 0, (size_t)(sim->link_count + 1) * sizeof *first);
    for (int32_t i = 0; i < m->ground_point_count; i++) {
        first[sim->body_link[m->ground_points[i].body] + 1]++;
        sim->parts[tree->component[m->ground_points[i].body]].poses = true;
    }
    for (int32_t i = 0; i < sim->link_count; i++) first[i + 1] += first[i];
    for (int32_t i = m->ground_point_count - 1; i >= 0; i--) { // the ends move down
        const mabd_redmax_point p = point_of(sim, &m->ground_points[i]);
        sim->springs.ground[--first[p.link + 1]] = p.x;
    }
    for (int32_t i = 0; i < sim->link_count; i++) first[i] = first[i + 1]; // now the first places
    first[sim->link_count] = m->ground_point_count;
}

// Part of a coupling: that of a body of its first joint.
static int32_t part_of(const mabd_model* m, const mabd_tree* tree,
                       const mabd_model_coupling* coupling) {
    const mabd_model_joint* joint = &m->joints[m->coupling_axes[coupling->first].joint];
    const bool on_a = joint->a < m->body_count && tree->component[joint->a] >= 0;
    return tree->component[on_a ? joint->a : joint->b];
}

void mabd_redmax_count_springs(const mabd_model* m, mabd_tree* tree) {
    for (int32_t i = 0; i < m->spring_count; i++) {
        tree->components[tree->component[mover_of(m, &m->springs[i])]].extra_borders +=
            mabd_redmax_spring_borders(m, &m->springs[i]);
    }
    for (int32_t i = 0; i < m->coupling_count; i++) {
        tree->components[part_of(m, tree, &m->couplings[i])].extra_rows++;
    }
}

// Freedom of an axis of a joint.
static int32_t freedom_of(const mabd_redmax_sim* sim, const mabd_coupling_axis* own) {
    for (int32_t i = sim->joint_link[own->joint]; i >= 0; i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (link->joint == own->joint && sim->freedoms[k].axis == own->axis) return k;
        }
    }
    return -1; // not reached: the scene has checked the axis
}

static void fill_couplings(mabd_redmax_sim* sim, const mabd_tree* tree) {
    const mabd_model* m = sim->model;
    int32_t sum = 0;
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].coupling_first = sum, sum += tree->components[p].extra_rows;
    }
    for (int32_t i = 0; i < m->coupling_count; i++) {
        mabd_redmax_part* part = &sim->parts[part_of(m, tree, &m->couplings[i])];
        sim->couplings.order[part->coupling_first + part->coupling_count++] = i;
    }
    for (int32_t i = 0; i < m->coupling_axis_count; i++) {
        sim->couplings.freedom[i] = freedom_of(sim, &m->coupling_axes[i]);
    }
}

void mabd_redmax_fill_springs(mabd_redmax_sim* sim, const mabd_tree* tree) {
    if (sim->model->spring_count > 0) fill_springs(sim, tree);
    if (sim->model->ground_count > 0) fill_ground(sim, tree);
    if (sim->model->coupling_count > 0) fill_couplings(sim, tree);
}

// SPDX-License-Identifier: Apache-2.0
// From the cut joints of a tree to rows and borders of parts, and their memory.

#include "formulation/redmax/redmax_tree.h"

// Relative motions by which the forces of a cut joint vary (loops.c).
static int32_t turns_of(const mabd_model* m, const mabd_model_joint* joint) {
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    int32_t count = 0;
    if (m->body_motion[joint->a] != MABD_MOTION_DYNAMIC ||
        m->body_motion[joint->b] != MABD_MOTION_DYNAMIC) {
        return 0;
    }
    for (int32_t r = 0; r < set->rigid_count; r++) {
        if (set->rigid[r].kind == MABD_ROW_SLIDE) return 6;
        if (set->rigid[r].kind == MABD_ROW_CROSS) count = 3;
    }
    return count;
}

// Add the cut joints of a component to the counts.
static void count_component(const mabd_model* m, const mabd_tree* tree,
                            const mabd_tree_component* c, mabd_redmax_counts* n) {
    int32_t borders = 0;
    for (int32_t i = c->cut_first; i < c->cut_first + c->cut_count; i++) {
        const mabd_model_joint* joint = &m->joints[tree->cuts[i]];
        const int32_t rows = m->row_sets[joint->row_set].rigid_count;
        n->rows += rows, borders += rows + turns_of(m, joint);
        n->loop_links += (m->body_motion[joint->a] == MABD_MOTION_DYNAMIC) +
                         (m->body_motion[joint->b] == MABD_MOTION_DYNAMIC);
    }
    n->rows += c->extra_rows, borders += c->extra_rows + c->extra_borders;
    n->cuts += c->cut_count, n->borders += borders;
    n->matrix += (size_t)borders * (size_t)borders;
}

void mabd_redmax_count_cuts(const mabd_model* m, const mabd_tree* tree, mabd_redmax_counts* n) {
    for (int32_t i = 0; i < tree->component_count; i++) {
        count_component(m, tree, &tree->components[i], n);
    }
}

// Number of a link among those with cut joints; -1 = ground.
static int32_t loop_link(mabd_redmax_sim* sim, int32_t body, int32_t* count) {
    const int32_t link = sim->body_link[body];
    if (link >= 0 && sim->links[link].loop < 0) sim->links[link].loop = (*count)++;
    return link;
}

static void fill_part(mabd_redmax_sim* sim, const mabd_tree* tree, int32_t index,
                      mabd_redmax_counts* n) {
    const mabd_tree_component* c = &tree->components[index];
    const mabd_redmax_counts before = *n;
    mabd_redmax_part* part = &sim->parts[index];
    int32_t links = before.loop_links, row = before.rows;
    count_component(sim->model, tree, c, n);
    part->cut_first = before.cuts, part->cut_count = c->cut_count;
    part->row_first = before.rows, part->row_count = n->rows - before.rows;
    part->border_first = before.borders, part->border_count = n->borders - before.borders;
    part->matrix_first = before.matrix;
    part->poses |= part->cut_count > 0; // rows turn with the links
    int32_t turn = part->border_first + part->row_count;
    for (int32_t i = 0; i < c->cut_count; i++) {
        const int32_t own = tree->cuts[c->cut_first + i];
        const mabd_model_joint* joint = &sim->model->joints[own];
        mabd_redmax_cut* cut = &sim->loops.cuts[before.cuts + i];
        cut->joint = own;
        cut->a = loop_link(sim, joint->a, &links), cut->b = loop_link(sim, joint->b, &links);
        cut->row_first = row, cut->row_count = sim->model->row_sets[joint->row_set].rigid_count;
        cut->turn_first = turn, cut->turn_count = turns_of(sim->model, joint);
        row += cut->row_count, turn += cut->turn_count;
    }
}

void mabd_redmax_fill_cuts(mabd_redmax_sim* sim, const mabd_tree* tree) {
    mabd_redmax_counts n = {0};
    for (int32_t i = 0; i < tree->component_count; i++) fill_part(sim, tree, i, &n);
}

#define TAKE(field, n) loops->field = mabd_arena_take(arena, (size_t)(n), sizeof *loops->field)

void mabd_redmax_lay_out_loops(mabd_redmax_loops* loops, const mabd_redmax_counts* n,
                               mabd_arena* arena) {
    loops->cut_count = n->cuts, loops->row_count = n->rows;
    TAKE(cuts, n->cuts);
    TAKE(borders, n->borders);
    TAKE(own, 36 * (size_t)n->loop_links);
    mabd_real** rows[] = {&loops->force, &loops->trial, &loops->step, &loops->gap, &loops->weight};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = mabd_arena_take(arena, (size_t)n->rows, sizeof **rows[i]);
    }
    TAKE(y, n->borders);
    TAKE(rhs, n->borders);
    TAKE(rest, n->borders);
    TAKE(scale, n->borders);
    TAKE(pivot, n->borders);
    TAKE(matrix, n->matrix);
    TAKE(factor, n->matrix);
    TAKE(pull, n->borders > 0 ? n->freedoms : 0);
}

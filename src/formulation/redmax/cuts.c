// SPDX-License-Identifier: Apache-2.0
// From the cut joints of a tree to rows and borders of parts, and their memory.
//
// A joint that closes a loop has no coordinates in the tree. If something acts on its axes - a
// spring, a drive, a stop, friction, a coupling - or if it has no rows of its own, a body is cut
// instead of the joint: the string of the joint stays in the tree and carries a share of the mass
// of the body, and six rows weld the share to the body:
//
//   ground -- crank -- coupler                    ground -- crank -- coupler - share of rocker
//      |                  | cut        becomes      |                            = welded
//      +---- rocker ------+                         +---- rocker, less its share
//
// The motion is the same: the shares move as one body, whose inertia is their sum, and the wrench
// that the joint transmits is F of its string, as for any other joint. So all laws of axes, held
// coordinates and joints without atomic rows are in loops what they are in trees. (Compliant rows
// of the coordinate as a function of both poses would need all laws a second time.) A body that is
// cut k times has k + 1 equal shares. Loads on the body act on its own link.

#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_tree.h"

bool mabd_redmax_cuts_body(const mabd_model* m, int32_t index) {
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    if (joint->type >= MABD_JOINT_COUNT || set->rigid_count == 0) return true;
    if (set->control_count + set->motor_count > 0) return true;
    for (int32_t i = 0; i < m->coupling_axis_count; i++) {
        if (m->coupling_axes[i].joint == index) return true;
    }
    return false;
}

int32_t mabd_redmax_cut_body(const mabd_model* m, const mabd_model_joint* joint) {
    return m->body_motion[joint->b] == MABD_MOTION_DYNAMIC ? joint->b : joint->a;
}

// Rows of a cut joint, or of a weld.
static int32_t rows_of(const mabd_model* m, int32_t joint) {
    mabd_row weld[MABD_JOINT_MAX_ROWS];
    if (mabd_redmax_cuts_body(m, joint)) return mabd_joint_rigid_rows(MABD_JOINT_FIXED, weld);
    return m->row_sets[m->joints[joint].row_set].rigid_count;
}

// Relative motions by which the forces of a cut joint vary (loops.c).
static int32_t turns_of(const mabd_model* m, int32_t index) {
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    int32_t count = 0;
    if (mabd_redmax_cuts_body(m, index)) return 3;
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
        const int32_t rows = rows_of(m, tree->cuts[i]);
        n->rows += rows, borders += rows + turns_of(m, tree->cuts[i]);
        n->loop_links += 2; // at most
    }
    n->rows += c->extra_rows, borders += c->extra_rows + c->extra_borders;
    n->cuts += c->cut_count, n->borders += borders;
    if (borders <= MABD_REDMAX_DENSE_BORDERS) n->matrix += (size_t)borders * (size_t)borders;
}

void mabd_redmax_count_cuts(const mabd_model* m, const mabd_tree* tree, mabd_redmax_counts* n) {
    for (int32_t i = 0; i < tree->component_count; i++) {
        count_component(m, tree, &tree->components[i], n);
    }
}

// Number a link among those with cut joints; -1 = ground.
static int32_t number_link(mabd_redmax_sim* sim, int32_t link, int32_t* count) {
    if (link >= 0 && sim->links[link].loop < 0) sim->links[link].loop = (*count)++;
    return link;
}

static void fill_cut(mabd_redmax_sim* sim, int32_t own, mabd_redmax_cut* cut, int32_t* links) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[own];
    cut->joint = own, cut->weld = mabd_redmax_cuts_body(m, own);
    const int32_t a = cut->weld ? sim->joint_link[own] : sim->body_link[joint->a];
    const int32_t b = sim->body_link[cut->weld ? mabd_redmax_cut_body(m, joint) : joint->b];
    cut->a = number_link(sim, a, links), cut->b = number_link(sim, b, links);
    cut->row_count = rows_of(m, own), cut->turn_count = turns_of(m, own);
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
    part->motion_count = part->border_count - part->row_count - c->extra_borders;
    part->matrix_first = before.matrix;
    part->poses |= part->cut_count > 0; // rows turn with the links
    int32_t turn = part->border_first + part->row_count;
    for (int32_t i = 0; i < c->cut_count; i++) {
        mabd_redmax_cut* cut = &sim->loops.cuts[before.cuts + i];
        fill_cut(sim, tree->cuts[c->cut_first + i], cut, &links);
        cut->row_first = row, cut->turn_first = turn;
        row += cut->row_count, turn += cut->turn_count;
    }
}

void mabd_redmax_fill_cuts(mabd_redmax_sim* sim, const mabd_tree* tree) {
    mabd_redmax_counts n = {0};
    mabd_row_set* weld = &sim->loops.weld;
    weld->rigid_count = mabd_joint_rigid_rows(MABD_JOINT_FIXED, weld->rigid);
    for (int32_t i = 0; i < tree->component_count; i++) fill_part(sim, tree, i, &n);
}

#define TAKE(field, n) loops->field = mabd_arena_take(arena, (size_t)(n), sizeof *loops->field)

void mabd_redmax_lay_out_loops(mabd_redmax_loops* loops, const mabd_redmax_counts* n,
                               mabd_arena* arena) {
    loops->cut_count = n->cuts, loops->row_count = n->rows;
    TAKE(cuts, n->cuts);
    TAKE(borders, n->borders);
    TAKE(own, 36 * (size_t)n->loop_links);
    mabd_real** rows[] = {&loops->force,  &loops->trial,       &loops->step,
                          &loops->gap,    &loops->stage_force, &loops->end_force,
                          &loops->weight, &loops->start_force};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = mabd_arena_take(arena, (size_t)n->rows, sizeof **rows[i]);
    }
    TAKE(left_out, n->rows);
    TAKE(y, n->borders);
    TAKE(rhs, n->borders);
    TAKE(rest, n->borders);
    TAKE(scale, n->borders);
    TAKE(pivot, n->borders);
    TAKE(matrix, n->matrix);
    TAKE(factor, n->matrix);
    TAKE(pull, n->borders > 0 ? n->freedoms : 0);
}

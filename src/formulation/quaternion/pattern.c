// SPDX-License-Identifier: Apache-2.0
// Parts of a simulation and the pattern of their linear systems.
//
// Bodies that share a joint with rows or motors are in one part (union-find over the joints);
// parts are numbered by their lowest body. Elimination order: bodies whose remaining joints lead to
// at most one other body are leaves. A leaf is eliminated, then its joints to the ground, then the
// joint to the rest. If this empties a part it has no cycle, and its factor has no fill beyond the
// joints of one body. Otherwise the solver searches an order (dual/block_order.h).

#include "formulation/quaternion/pattern.h"

#include <string.h>

// ---- parts -------------------------------------------------------------------------------------

static bool is_dynamic(const mabd_model* m, int32_t body) {
    return body < m->body_count && m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// True if a joint holds or drives a body that moves by forces.
static bool acts(const mabd_model* m, const mabd_model_joint* joint) {
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    return set->rigid_count + set->control_count + set->motor_count > 0 &&
           (is_dynamic(m, joint->a) || is_dynamic(m, joint->b));
}

static int32_t find_root(int32_t* root, int32_t body) {
    while (root[body] != body) {
        root[body] = root[root[body]];
        body = root[body];
    }
    return body;
}

// Join the bodies of joints: root[i] is the lowest body of the part of i.
static void join_bodies(const mabd_model* m, int32_t* root) {
    for (int32_t i = 0; i < m->body_count; i++) root[i] = i;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        if (!acts(m, joint) || !is_dynamic(m, joint->a) || !is_dynamic(m, joint->b)) continue;
        const int32_t a = find_root(root, joint->a), b = find_root(root, joint->b);
        if (a < b) root[b] = a;
        if (b < a) root[a] = b;
    }
    for (int32_t i = 0; i < m->body_count; i++) root[i] = find_root(root, i);
}

// Part of the moving side of a joint.
static int32_t part_of(const mabd_model* m, const int32_t* part, const mabd_model_joint* joint) {
    return part[is_dynamic(m, joint->a) ? joint->a : joint->b];
}

mabd_quaternion_counts mabd_quaternion_count(const mabd_model* m, int32_t* part) {
    mabd_quaternion_counts n = {0};
    join_bodies(m, part);
    for (int32_t i = 0; i < m->body_count; i++) { // the root is the lowest body: it comes first
        const bool moves = is_dynamic(m, i);
        if (!moves) {
            part[i] = -1;
        } else {
            part[i] = part[i] == i ? n.parts++ : part[part[i]];
            n.bodies++;
        }
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (!acts(m, &m->joints[i])) continue;
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        const int32_t width = set->rigid_count + set->control_count;
        n.joints++;
        n.rows += width;
        n.diagonal_reals += (size_t)(width * width);
        n.edge_reals += (size_t)(2 * 6 * width + 36);
    }
    n.diagonal_reals += 36 * (size_t)n.bodies;
    return n;
}

// ---- lists by part -----------------------------------------------------------------------------

static void list_bodies(mabd_quaternion_sim* sim, const int32_t* part) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (part[i] >= 0) sim->parts[part[i]].body_count++;
    }
    for (int32_t p = 0, at = 0; p < sim->part_count; p++) {
        sim->parts[p].body_first = at;
        at += sim->parts[p].body_count;
        sim->parts[p].body_count = 0;
    }
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_slot[i] = -1;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (part[i] < 0) continue;
        mabd_quaternion_part* own = &sim->parts[part[i]];
        sim->body_slot[i] = own->body_count;
        sim->bodies[own->body_first + own->body_count++] = i;
    }
}

static void list_joints(mabd_quaternion_sim* sim, const int32_t* part) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (acts(m, &m->joints[i])) sim->parts[part_of(m, part, &m->joints[i])].joint_count++;
    }
    for (int32_t p = 0, at = 0; p < sim->part_count; p++) {
        sim->parts[p].joint_first = at;
        at += sim->parts[p].joint_count;
        sim->parts[p].joint_count = 0;
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        sim->joint_place[i] = -1;
        if (!acts(m, joint)) continue;
        mabd_quaternion_part* own = &sim->parts[part_of(m, part, joint)];
        sim->joint_place[i] = own->joint_first + own->joint_count++;
        mabd_quaternion_joint* j = &sim->joints[sim->joint_place[i]];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        j->joint = i;
        j->width = set->rigid_count + set->control_count;
        j->slot_a = sim->body_slot[joint->a], j->slot_b = sim->body_slot[joint->b];
    }
}

// ---- slots and edges ---------------------------------------------------------------------------

typedef struct pattern_cursor {
    int32_t row, slot, edge;
    size_t vector, diagonal, block;
} pattern_cursor;

static void add_slot(mabd_quaternion_sim* sim, pattern_cursor* at, int32_t width, int32_t row,
                     bool late) {
    sim->width[at->slot] = width;
    sim->slot_row[at->slot] = row;
    sim->late[at->slot] = late;
    sim->slot_block[at->slot] = at->diagonal;
    at->diagonal += (size_t)(width * width);
    at->slot++;
}

static size_t add_edge(mabd_quaternion_sim* sim, pattern_cursor* at, int32_t from, int32_t to,
                       int32_t reals) {
    const size_t block = at->block;
    sim->edge_from[at->edge] = from, sim->edge_to[at->edge] = to;
    sim->edge_block[at->edge] = block;
    at->block += (size_t)reals;
    at->edge++;
    return block;
}

// Offset of the block between two bodies of a part, or SIZE_MAX. Parts with few joints on a body
// make the search short; it runs once.
static size_t find_pair(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                        const mabd_quaternion_joint* until, const int32_t* last_joint,
                        const int32_t* next_joint) {
    const int32_t low = until->slot_a < until->slot_b ? until->slot_a : until->slot_b;
    const int32_t high = until->slot_a < until->slot_b ? until->slot_b : until->slot_a;
    for (int32_t k = last_joint[sim->bodies[part->body_first + low]]; k >= 0; k = next_joint[k]) {
        const mabd_quaternion_joint* j = &sim->joints[k];
        const int32_t other = j->slot_a < j->slot_b ? j->slot_b : j->slot_a;
        if (other == high) return j->block_ab;
    }
    return SIZE_MAX;
}

// True if forces of a joint depend on the poses of both bodies: G has a block between them. Points
// that coincide have none, which saves 72 of 189 entries of a link with a ball joint.
static bool couples(const mabd_row_set* set) {
    for (int32_t r = 0; r < set->rigid_count; r++) {
        if (set->rigid[r].kind != MABD_ROW_POINT) return true;
    }
    return set->control_count > 0 || set->motor_count > 0 || set->damped;
}

// Add the block between the two bodies of a joint, unless it needs none or an earlier joint has it.
static void add_pair(mabd_quaternion_sim* sim, mabd_quaternion_part* part, int32_t place,
                     pattern_cursor* at, int32_t* last_joint, int32_t* next_joint) {
    mabd_quaternion_joint* j = &sim->joints[place];
    const int32_t low = j->slot_a < j->slot_b ? j->slot_a : j->slot_b;
    const int32_t high = j->slot_a < j->slot_b ? j->slot_b : j->slot_a;
    j->block_ab = SIZE_MAX;
    if (low < 0 || !couples(&sim->model->row_sets[sim->model->joints[j->joint].row_set])) return;
    j->block_ab = find_pair(sim, part, j, last_joint, next_joint);
    if (j->block_ab == SIZE_MAX) j->block_ab = add_edge(sim, at, low, high, 36);
    const int32_t body = sim->bodies[part->body_first + low];
    next_joint[place] = last_joint[body];
    last_joint[body] = place;
}

// True if edge i comes before edge k, by (from, to).
static bool is_before(const mabd_quaternion_sim* sim, int32_t i, int32_t k) {
    if (sim->edge_from[i] != sim->edge_from[k]) return sim->edge_from[i] < sim->edge_from[k];
    return sim->edge_to[i] < sim->edge_to[k];
}

static void swap_edges(mabd_quaternion_sim* sim, int32_t i, int32_t k) {
    const int32_t from = sim->edge_from[i], to = sim->edge_to[i];
    const size_t block = sim->edge_block[i];
    sim->edge_from[i] = sim->edge_from[k], sim->edge_to[i] = sim->edge_to[k];
    sim->edge_block[i] = sim->edge_block[k];
    sim->edge_from[k] = from, sim->edge_to[k] = to, sim->edge_block[k] = block;
}

// Let edge i of a heap of `count` edges from `first` on sink to its place.
static void sink(mabd_quaternion_sim* sim, int32_t first, int32_t count, int32_t i) {
    for (int32_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(sim, first + child, first + child + 1)) child++;
        if (!is_before(sim, first + i, first + child)) return;
        swap_edges(sim, first + i, first + child);
        i = child;
    }
}

// Sort the edges of a part by (from, to), as the analysis expects them.
static void sort_edges(mabd_quaternion_sim* sim, int32_t first, int32_t count) {
    for (int32_t i = count / 2; i-- > 0;) sink(sim, first, count, i);
    for (int32_t end = count - 1; end > 0; end--) {
        swap_edges(sim, first, first + end);
        sink(sim, first, end, 0);
    }
}

static void lay_out_part(mabd_quaternion_sim* sim, mabd_quaternion_part* part, pattern_cursor* at,
                         int32_t* last_joint, int32_t* next_joint) {
    part->slot_first = at->slot, part->edge_first = at->edge;
    part->row_first = at->row, part->vector_first = at->vector;
    for (int32_t i = 0; i < part->body_count; i++) add_slot(sim, at, 6, 6 * i, false);
    for (int32_t i = 0; i < part->joint_count; i++) {
        mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        j->row = at->row, j->motor = sim->inputs.joint_motor[j->joint];
        j->slot = -1;
        j->block_a = j->block_b = SIZE_MAX;
        add_pair(sim, part, part->joint_first + i, at, last_joint, next_joint);
        if (j->width == 0) continue;
        j->slot = at->slot - part->slot_first;
        add_slot(sim, at, j->width, 6 * part->body_count + at->row - part->row_first, true);
        if (j->slot_a >= 0) j->block_a = add_edge(sim, at, j->slot_a, j->slot, 6 * j->width);
        if (j->slot_b >= 0) j->block_b = add_edge(sim, at, j->slot_b, j->slot, 6 * j->width);
        at->row += j->width;
    }
    part->slot_count = at->slot - part->slot_first;
    part->edge_count = at->edge - part->edge_first;
    part->row_count = at->row - part->row_first;
    sort_edges(sim, part->edge_first, part->edge_count);
    at->vector += (size_t)(6 * part->body_count + part->row_count);
}

// ---- elimination order -------------------------------------------------------------------------

// Bodies of a part by the joints that are left to them, while leaves are taken.
typedef struct leaf_search {
    const mabd_quaternion_sim* sim;
    const mabd_quaternion_part* part;
    int32_t *degree, *first, *next_side; // of bodies, by slot; lists of sides 2 joint + is_b
    int32_t* order;
    int32_t count;
    int32_t* queue;
    int32_t head, tail;
    bool* done; // joints of the part
} leaf_search;

static void list_sides(leaf_search* s) {
    for (int32_t i = 0; i < s->part->body_count; i++) s->first[i] = -1, s->degree[i] = 0;
    for (int32_t k = s->part->joint_count - 1; k >= 0; k--) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + k];
        const int32_t slots[2] = {j->slot_a, j->slot_b};
        const bool inner = j->slot_a >= 0 && j->slot_b >= 0;
        s->done[k] = false;
        for (int side = 0; side < 2; side++) {
            if (slots[side] < 0) continue;
            s->next_side[2 * k + side] = s->first[slots[side]];
            s->first[slots[side]] = 2 * k + side;
            if (inner) s->degree[slots[side]]++;
        }
    }
}

// Eliminate a leaf, its joints to the ground, then the one to the rest.
static void take_leaf(leaf_search* s, int32_t slot) {
    int32_t rest = -1;
    s->order[s->count++] = slot;
    s->degree[slot] = -1;
    for (int32_t side = s->first[slot]; side >= 0; side = s->next_side[side]) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + side / 2];
        if (s->done[side / 2]) continue;
        if (j->slot_a >= 0 && j->slot_b >= 0) {
            rest = side / 2;
            continue;
        }
        s->done[side / 2] = true;
        if (j->slot >= 0) s->order[s->count++] = j->slot;
    }
    if (rest < 0) return;
    const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + rest];
    const int32_t other = j->slot_a == slot ? j->slot_b : j->slot_a;
    s->done[rest] = true;
    if (j->slot >= 0) s->order[s->count++] = j->slot;
    if (--s->degree[other] == 1) s->queue[s->tail++] = other;
    if (s->degree[other] == 0) s->queue[s->tail++] = other; // the last one
}

bool mabd_quaternion_leaf_order(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                int32_t* work, bool* done, int32_t* order) {
    const int32_t n = part->body_count;
    leaf_search s = {.sim = sim, .part = part, .order = order, .done = done};
    s.degree = work, s.first = work + n, s.queue = work + 2 * n, s.next_side = work + 4 * n;
    list_sides(&s);
    for (int32_t i = 0; i < n; i++) {
        if (s.degree[i] <= 1) s.queue[s.tail++] = i;
    }
    while (s.head < s.tail) {
        const int32_t slot = s.queue[s.head++];
        if (s.degree[slot] >= 0) take_leaf(&s, slot);
    }
    return s.count == part->slot_count;
}

void mabd_quaternion_fill_pattern(mabd_quaternion_sim* sim, const int32_t* part, int32_t* work) {
    const mabd_model* m = sim->model;
    pattern_cursor at = {0};
    list_bodies(sim, part);
    list_joints(sim, part);
    int32_t *last_joint = work, *next_joint = work + m->body_count;
    for (int32_t i = 0; i < m->body_count; i++) last_joint[i] = -1;
    for (int32_t p = 0; p < sim->part_count; p++) {
        lay_out_part(sim, &sim->parts[p], &at, last_joint, next_joint);
    }
    sim->slot_count = at.slot, sim->edge_count = at.edge;
}

// SPDX-License-Identifier: Apache-2.0
#include "cuda/affine/state.h"

#include "cuda/affine/host_dual.h"
#include "cuda/runtime/reduce.h"

extern "C" {
#include "base/error.h"
}

// ---- memory of the device -----------------------------------------------------------------------

// A stretch of the host's memory and its address on the device.
typedef struct region {
    const char* from;
    size_t size;
    char* to;
} region;

// The address on the device of an object of the host; null if it is not in the region.
template <class T> static T* moved(const region& p, T* at) {
    const char* c = (const char*)at;
    if (!c || c < p.from || c >= p.from + p.size) return NULL;
    return (T*)(p.to + (c - p.from));
}

typedef struct counts {
    size_t model, plan, sides, slots, edges, joints, arena, scripts;
    size_t bodies, moving;           // all; those that move
    size_t contact_bodies;           // bodies, or 0 without contacts
    size_t deferred, deferred_reals; // sides that write to a place of their own
    size_t works, springs, points;   // workspaces
} counts;

typedef struct places {
    region model, plan, arena;
    mabd_model* model_head;
    mabd_affine_shares* shares;
    uint8_t* side_mode;
    size_t* side_offset;
    mabd_real* deferred_reals;
    mabd_affine_deferred* deferred;
    int32_t* bodies;
} places;

static void layout(const counts* n, mabd_arena* arena, mabd_cuda_state* s, places* p) {
    p->model_head = (mabd_model*)mabd_arena_take(arena, 1, sizeof(mabd_model));
    p->model.to = (char*)mabd_arena_take(arena, n->model, 1);
    p->plan.to = (char*)mabd_arena_take(arena, n->plan, 1);
    p->arena.to = (char*)mabd_arena_take(arena, n->arena, 1);
    p->shares = (mabd_affine_shares*)mabd_arena_take(arena, 1, sizeof(mabd_affine_shares));
    p->side_mode = (uint8_t*)mabd_arena_take(arena, n->sides, sizeof(uint8_t));
    p->side_offset = (size_t*)mabd_arena_take(arena, n->sides, sizeof(size_t));
    p->deferred_reals = (mabd_real*)mabd_arena_take(arena, n->deferred_reals, sizeof(mabd_real));
    p->deferred =
        (mabd_affine_deferred*)mabd_arena_take(arena, n->deferred, sizeof(mabd_affine_deferred));
    p->bodies = (int32_t*)mabd_arena_take(arena, n->moving, sizeof(int32_t));
    s->script_bodies = (int32_t*)mabd_arena_take(arena, n->scripts, sizeof *s->script_bodies);
    s->script_q = (mabd_real*)mabd_arena_take(arena, 12 * n->scripts, sizeof *s->script_q);
    MABD_CUDA(contacts_layout)(&s->contacts, n->contact_bodies, arena);
    MABD_CUDA(solvers_layout)(&s->solvers, arena);
    s->bad = (int32_t*)mabd_arena_take(arena, n->slots, sizeof *s->bad);
    s->rotation = (mabd_real*)mabd_arena_take(arena, n->bodies, sizeof *s->rotation);
    s->size = (mabd_real*)mabd_arena_take(arena, n->bodies, sizeof *s->size);
    s->inside_out = (uint8_t*)mabd_arena_take(arena, n->bodies, sizeof *s->inside_out);
    s->joint_errors =
        (mabd_affine_joint_error*)mabd_arena_take(arena, n->joints, sizeof *s->joint_errors);
    s->parts = (mabd_cuda_part*)mabd_arena_take(arena, MABD_CUDA_PARTS + 1, sizeof *s->parts);
    s->view.sides =
        (mabd_affine_side_work*)mabd_arena_take(arena, n->works, sizeof(mabd_affine_side_work));
    s->view.springs = (mabd_affine_spring_work*)mabd_arena_take(arena, n->springs,
                                                                sizeof(mabd_affine_spring_work));
    s->view.points = (mabd_vec3*)mabd_arena_take(arena, n->points, sizeof(mabd_vec3));
}

static bool is_moving(const mabd_model* m, int32_t body) {
    return m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// ---- lists on the host --------------------------------------------------------------------------

// Lists that are made on the host, copied to the device, and freed.
typedef struct lists {
    uint8_t* side_mode;
    size_t* side_offset;
    mabd_affine_deferred* deferred;
    int32_t *bodies, *scripts;
    int32_t *color, *owner; // colour of a body; first body of an edge that two bodies share
    void* memory;
    size_t size;
} lists;

static void lay_lists(const counts* n, mabd_arena* arena, lists* l) {
    l->side_mode = (uint8_t*)mabd_arena_take(arena, n->sides, sizeof *l->side_mode);
    l->side_offset = (size_t*)mabd_arena_take(arena, n->sides, sizeof *l->side_offset);
    l->deferred = (mabd_affine_deferred*)mabd_arena_take(arena, n->sides, sizeof *l->deferred);
    l->bodies = (int32_t*)mabd_arena_take(arena, n->bodies, sizeof *l->bodies);
    l->scripts = (int32_t*)mabd_arena_take(arena, n->scripts, sizeof *l->scripts);
    l->color = (int32_t*)mabd_arena_take(arena, n->bodies, sizeof *l->color);
    l->owner = (int32_t*)mabd_arena_take(arena, n->edges, sizeof *l->owner);
}

// Kinds in the order of the list of bodies: kinds with workspaces of one type are adjacent.
static const mabd_affine_body_kind kinds[] = {MABD_BODY_SIMPLE, MABD_BODY_SPRUNG, MABD_BODY_GENERAL,
                                              MABD_BODY_ROWS, MABD_BODY_JUNCTION};
#define KINDS  5
#define COLORS 64

// Colour the bodies; returns the number of colours, 0 if COLORS do not suffice. Two bodies that are
// joined by two joints both add to the block between these joints: they get different colours, and
// a launch each. A sum of two numbers does not depend on their order.
static int32_t color_bodies(const mabd_plan* plan, int32_t* color, int32_t* owner) {
    int32_t colors = 1;
    for (int32_t e = 0; e < plan->edge_count; e++) owner[e] = -1;
    for (int32_t body = 0; body < plan->body_count; body++) {
        uint64_t taken = 0;
        for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
            int32_t* other = &owner[plan->pairs[p].edge];
            if (*other >= 0 && *other != body) taken |= (uint64_t)1 << color[*other];
            if (*other < 0) *other = body;
        }
        color[body] = 0;
        while (color[body] < COLORS && taken >> color[body] & 1) color[body]++;
        if (color[body] == COLORS) return 0;
        if (color[body] >= colors) colors = color[body] + 1;
    }
    return colors;
}

// List the bodies by kind and colour, and their groups.
static void list_bodies(const mabd_affine_sim* host, int32_t colors, counts* n, const lists* l,
                        mabd_cuda_state* s) {
    const mabd_model* m = host->model;
    size_t first[KINDS + 1];
    for (int k = 0; k < KINDS; k++) {
        first[k] = n->moving;
        for (int32_t color = 0; color < colors; color++) {
            mabd_cuda_group group = {kinds[k], (int32_t)n->moving, 0, 0};
            for (int32_t i = 0; i < m->body_count; i++) {
                if (!is_moving(m, i) || host->body_kind[i] != kinds[k] || l->color[i] != color) {
                    continue;
                }
                l->bodies[n->moving++] = i;
                group.count++;
            }
            group.place = group.first - (int32_t)first[k < 2 ? k : 2];
            if (group.count > 0) s->groups[s->group_count++] = group;
        }
    }
    first[KINDS] = n->moving;
    const size_t widest = host->sizes.widest_body;
    n->points = widest * (first[1] - first[0]);
    n->springs = widest * (first[2] - first[1]);
    n->works = widest * (first[KINDS] - first[2]);
}

// Set the mode of each side: that of the lower body writes to the block, the other one is deferred.
static void list_sides(const mabd_model* m, counts* n, lists* l) {
    const mabd_plan* plan = m->plan;
    for (int32_t body = 0; body < m->body_count; body++) {
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const int32_t slot = plan->sides[s].slot;
            l->side_mode[s] = MABD_SIDE_FIRST;
            if (plan->sides[s].is_b < 0) continue;
            const mabd_model_joint* joint = &m->joints[plan->slot_joint[slot]];
            const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
            if (!is_moving(m, other)) {
                l->side_mode[s] = MABD_SIDE_GROUND;
            } else if (other < body) {
                const mabd_affine_deferred deferred = {s, slot, n->deferred_reals};
                const size_t width = (size_t)plan->slot_width[slot];
                l->side_mode[s] = MABD_SIDE_DEFERRED;
                l->side_offset[s] = n->deferred_reals;
                l->deferred[n->deferred++] = deferred;
                n->deferred_reals += width * (width + 1);
            }
        }
    }
}

// ---- copies -------------------------------------------------------------------------------------

static mabd_model copy_model(const mabd_model* m, const region& p, const region& plan) {
    mabd_model d = *m;
    d.classes = moved(p, m->classes), d.body_class = moved(p, m->body_class);
    d.body_motion = moved(p, m->body_motion), d.joints = moved(p, m->joints);
    d.frames = moved(p, m->frames), d.row_sets = moved(p, m->row_sets);
    d.forces = moved(p, m->forces);
    d.plan = moved(plan, m->plan);
    return d;
}

static mabd_plan copy_plan(const mabd_plan* plan, const region& p) {
    mabd_plan d = *plan;
    d.slot_joint = moved(p, plan->slot_joint), d.joint_slot = moved(p, plan->joint_slot);
    d.slot_width = moved(p, plan->slot_width), d.slot_row = moved(p, plan->slot_row);
    d.slot_negative = moved(p, plan->slot_negative), d.slot_late = moved(p, plan->slot_late);
    d.slot_block = moved(p, plan->slot_block);
    d.edge_from = moved(p, plan->edge_from), d.edge_to = moved(p, plan->edge_to);
    d.edge_block = moved(p, plan->edge_block), d.side_start = moved(p, plan->side_start);
    d.sides = moved(p, plan->sides), d.early = moved(p, plan->early);
    d.pair_start = moved(p, plan->pair_start), d.pairs = moved(p, plan->pairs);
    d.components = moved(p, plan->components);
    return d;
}

static void copy_view(const mabd_affine_sim* host, const places* p, mabd_affine_sim* view) {
    mabd_affine_side_work* sides = view->sides;
    mabd_affine_spring_work* springs = view->springs;
    mabd_vec3* points = view->points;
    const region& a = p->arena;
    *view = *host;
    view->model = p->model_head, view->packs = NULL, view->shares = p->shares;
    view->stages = NULL, view->pool = NULL, view->reduced_chains = NULL;
#define FIELD(kind, name, count, columns, unit, meaning) view->name = moved(a, host->name);
#include "formulation/affine/fields.def"
#undef FIELD
    view->blocks = moved(a, host->blocks), view->controls = moved(a, host->controls);
    view->motors = moved(a, host->motors), view->axes = moved(a, host->axes);
    view->copies = moved(a, host->copies), view->jumps = moved(a, host->jumps);
    view->force_scale = moved(a, host->force_scale), view->body_kind = moved(a, host->body_kind);
    view->hangs_on_points = moved(a, host->hangs_on_points);
    view->turns_freely = moved(a, host->turns_freely);
    view->anchored = moved(a, host->anchored);
    view->motor_only = moved(a, host->motor_only), view->applied = moved(a, host->applied);
    view->booked_joint = moved(a, host->booked_joint);
    view->booked_body = moved(a, host->booked_body);
    view->controls_start = moved(a, host->controls_start);
    view->motors_start = moved(a, host->motors_start);
    view->force_start = moved(a, host->force_start);
    view->sides = sides, view->springs = springs, view->points = points;
    view->duals = NULL, view->solvers = NULL, view->softened = NULL, view->groups = NULL;
}

static mabd_status copy_all(const mabd_affine_sim* host, const counts* n, const lists* l,
                            const places* p, mabd_cuda_state* s, mabd_error* error) {
    const mabd_device* d = &s->device;
    const mabd_model model = copy_model(host->model, p->model, p->plan);
    const mabd_plan plan = copy_plan(host->model->plan, p->plan);
    mabd_affine_shares shares = {};
    shares.side_mode = p->side_mode, shares.side_offset = p->side_offset;
    shares.values = p->deferred_reals;
#define UPLOAD(from, count, to)                                                                    \
    MABD_TRY(MABD_CUDA(device_upload)(d, from, (count) * sizeof *(from), to, error))
    UPLOAD(p->model.from, p->model.size, p->model.to);
    UPLOAD(p->plan.from, p->plan.size, p->plan.to);
    UPLOAD(p->arena.from, p->arena.size, p->arena.to);
    UPLOAD(&model, 1, p->model_head);
    UPLOAD(&plan, 1, p->plan.to); // the struct is the first object of the plan's memory
    UPLOAD(&shares, 1, p->shares);
    UPLOAD(l->side_mode, n->sides, p->side_mode);
    UPLOAD(l->side_offset, n->sides, p->side_offset);
    UPLOAD(l->deferred, n->deferred, p->deferred);
    UPLOAD(l->bodies, n->moving, p->bodies);
    UPLOAD(l->scripts, n->scripts, s->script_bodies);
#undef UPLOAD
    MABD_TRY(MABD_CUDA(solvers_upload)(&s->solvers, d, error));
    MABD_CUDA_TRY(cudaMemsetAsync(s->inside_out, 0, n->bodies, d->stream), "clearing");
    return MABD_CUDA(device_wait)(d, error); // model, plan and shares are local variables
}

// ---- creation -----------------------------------------------------------------------------------

static mabd_status plan_lists(const mabd_affine_sim* host, const mabd_allocator* allocator,
                              counts* n, lists* l, mabd_cuda_state* s, mabd_error* error) {
    const mabd_model* m = host->model;
    const int32_t colors = host->shared_edges ? color_bodies(m->plan, l->color, l->owner) : 1;
    if (colors == 0) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "bodies are joined twice with more than %d others", COLORS);
    }
    s->group_bytes = (size_t)(KINDS * colors) * sizeof *s->groups;
    s->groups = (mabd_cuda_group*)mabd_alloc(allocator, s->group_bytes);
    s->staged_bytes = 12 * n->scripts * sizeof *s->staged_q;
    s->staged_q = (mabd_real*)mabd_alloc(allocator, s->staged_bytes);
    if (!s->groups || !s->staged_q) return mabd_fail_memory(error, "listing bodies");
    list_bodies(host, colors, n, l, s);
    list_sides(m, n, l);
    for (int32_t i = 0; i < m->script_count; i++) l->scripts[i] = m->scripts[i].body;
    return MABD_CUDA(dual_plan)(host, allocator, &s->solvers, error);
}

static mabd_status fill(const mabd_affine_sim* host, const void* arena_memory, size_t arena_size,
                        const mabd_allocator* allocator, counts* n, lists* l, mabd_cuda_state* s,
                        mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    mabd_arena arena = {NULL, 0, 0};
    places p = {};
    MABD_TRY(plan_lists(host, allocator, n, l, s, error));
    layout(n, &arena, s, &p);
    if (arena.used == SIZE_MAX)
        return mabd_fail_memory(error, "laying out the memory of the device");
    MABD_TRY(MABD_CUDA(device_reserve)(&s->device, arena.used, error));
    arena.size = arena.used, arena.used = 0, arena.memory = (char*)s->device.memory;
    layout(n, &arena, s, &p);
    p.model.from = (const char*)host->model->memory, p.model.size = n->model;
    p.plan.from = (const char*)plan, p.plan.size = n->plan;
    p.arena.from = (const char*)arena_memory, p.arena.size = arena_size;
    copy_view(host, &p, &s->view);
    s->view.contacts = s->contacts.on;
    s->bodies = p.bodies, s->body_count = (int32_t)n->moving;
    s->joint_count = host->model->joint_count;
    s->script_count = (int32_t)n->scripts;
    s->deferred_count = (int32_t)n->deferred, s->deferred = p.deferred;
    return copy_all(host, n, l, &p, s, error);
}

mabd_status MABD_CUDA(state_create)(const mabd_affine_sim* host, const void* arena_memory,
                                    size_t arena_size, const mabd_allocator* allocator,
                                    mabd_cuda_state* state, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_cuda_state none = {};
    counts n = {};
    lists l = {};
    mabd_arena arena = {NULL, 0, 0};
    *state = none;
    MABD_TRY(MABD_CUDA(device_open)(&state->device, error));
    n.model = host->model->memory_size, n.plan = plan->bytes, n.arena = arena_size;
    n.sides = (size_t)plan->side_start[plan->body_count], n.bodies = host->sizes.bodies;
    n.edges = host->shared_edges ? (size_t)plan->edge_count : 0;
    n.scripts = (size_t)host->model->script_count, n.contact_bodies = host->contacts ? n.bodies : 0;
    n.slots = (size_t)plan->slot_count, n.joints = (size_t)host->model->joint_count;
    lay_lists(&n, &arena, &l);
    l.size = arena.size = arena.used;
    l.memory = arena.memory =
        arena.used == SIZE_MAX ? NULL : (char*)mabd_alloc(allocator, arena.size);
    mabd_status status = MABD_OK;
    if (l.memory) {
        arena.used = 0;
        lay_lists(&n, &arena, &l);
        status = fill(host, arena_memory, arena_size, allocator, &n, &l, state, error);
        mabd_free(allocator, l.memory, l.size);
    } else {
        status = mabd_fail_memory(error, "listing bodies and joints for the device");
    }
    if (status != MABD_OK) MABD_CUDA(state_destroy)(allocator, state);
    return status;
}

void MABD_CUDA(state_destroy)(const mabd_allocator* allocator, mabd_cuda_state* state) {
    MABD_CUDA(contacts_release)(&state->contacts);
    MABD_CUDA(solvers_release)(allocator, &state->solvers);
    mabd_free(allocator, state->groups, state->group_bytes);
    mabd_free(allocator, state->staged_q, state->staged_bytes);
    MABD_CUDA(device_close)(&state->device);
}

size_t MABD_CUDA(state_bytes)(const mabd_cuda_state* state) {
    return state->device.size + state->contacts.size;
}

// ---- upload and download ------------------------------------------------------------------------

// No wait is needed: every solve waits for its rotation before the host makes the next numbers.
mabd_status MABD_CUDA(state_begin)(mabd_cuda_state* state, const mabd_affine_sim* host,
                                   mabd_error* error) {
    mabd_affine_sim* view = &state->view;
    const mabd_affine_sizes* n = &host->sizes;
    const size_t controls = n->row_sets * MABD_JOINT_MAX_ROWS;
    view->step = host->step, view->euler = host->euler;
#define UPLOAD(name, count)                                                                        \
    MABD_TRY(MABD_CUDA(device_upload)(&state->device, host->name, (count) * sizeof *host->name,    \
                                      view->name, error))
    UPLOAD(blocks, (host->contacts ? 2 : 1) * n->classes);
    UPLOAD(controls, controls);
    UPLOAD(motors, controls);
    UPLOAD(force_scale, n->forces);
    view->has_applied = host->has_applied, view->scope = host->scope;
    if (host->has_applied) UPLOAD(applied, 6 * n->bodies);
#undef UPLOAD
    return MABD_OK;
}

// D and U are recomputed by every assemble.
static bool is_matrix(const mabd_affine_sim* sim, const mabd_real* field) {
    return field == sim->D || field == sim->U;
}

mabd_status MABD_CUDA(state_download)(const mabd_cuda_state* state, mabd_cuda_fields fields,
                                      mabd_affine_sim* host, mabd_error* error) {
    const mabd_affine_sizes* n = &host->sizes;
    const mabd_device* d = &state->device;
    const bool all = fields == MABD_CUDA_ALL;
#define IS_STATE(name) true
#define IS_WORK(name)  (all && !is_matrix(host, host->name))
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    if (IS_##kind(name)) {                                                                         \
        MABD_TRY(MABD_CUDA(device_download)(d, state->view.name,                                   \
                                            (size_t)(columns) * (count) * sizeof(mabd_real),       \
                                            host->name, error));                                   \
    }
#include "formulation/affine/fields.def"
#undef FIELD
    if (all) {
        MABD_TRY(MABD_CUDA(device_download)(d, state->view.axes, n->axes * sizeof *host->axes,
                                            host->axes, error));
    }
    return MABD_CUDA(device_wait)(d, error);
}

mabd_status MABD_CUDA(state_upload)(const mabd_cuda_state* state, const mabd_affine_sim* host,
                                    mabd_error* error) {
    const mabd_affine_sizes* n = &host->sizes;
#define UPLOAD_STATE(name, size)                                                                   \
    MABD_TRY(MABD_CUDA(device_upload)(&state->device, host->name, size, state->view.name, error));
#define UPLOAD_WORK(name, size)
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    UPLOAD_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "formulation/affine/fields.def"
#undef FIELD
    return MABD_OK;
}

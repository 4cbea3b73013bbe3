// SPDX-License-Identifier: Apache-2.0
#include "state.h"

extern "C" {
#include "base/error.h"
}

// ---- what goes there -----------------------------------------------------------------------------------

// A piece of the host's memory and its place on the device.
typedef struct piece {
    const char* from;
    size_t size;
    char* to;
} piece;

// The same thing on the device; null if it is not in the piece.
template <class T> static T* moved(const piece& p, T* at) {
    const char* c = (const char*)at;
    if (!c || c < p.from || c >= p.from + p.size) return NULL;
    return (T*)(p.to + (c - p.from));
}

typedef struct counts {
    size_t model, plan, sides, apart, aparts, bodies, slots, joints, components, arena;
    size_t kinds[MABD_CUDA_KINDS];
    size_t works, springs, points; // places for what is put together
} counts;

typedef struct places {
    piece model, plan, arena;
    mabd_model* model_head;
    mabd_packs* packs;
    uint8_t* side_mode;
    size_t* side_offset;
    mabd_real* apart;
    mabd_apart* aparts;
    int32_t* kinds[MABD_CUDA_KINDS];
} places;

static void layout(const counts* n, mabd_arena* arena, mabd_cuda_state* s, places* p) {
    p->model_head = (mabd_model*)mabd_arena_take(arena, 1, sizeof(mabd_model));
    p->model.to = (char*)mabd_arena_take(arena, n->model, 1);
    p->plan.to = (char*)mabd_arena_take(arena, n->plan, 1);
    p->arena.to = (char*)mabd_arena_take(arena, n->arena, 1);
    p->packs = (mabd_packs*)mabd_arena_take(arena, 1, sizeof(mabd_packs));
    p->side_mode = (uint8_t*)mabd_arena_take(arena, n->sides, sizeof(uint8_t));
    p->side_offset = (size_t*)mabd_arena_take(arena, n->sides, sizeof(size_t));
    p->apart = (mabd_real*)mabd_arena_take(arena, n->apart, sizeof(mabd_real));
    p->aparts = (mabd_apart*)mabd_arena_take(arena, n->aparts, sizeof(mabd_apart));
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        p->kinds[k] = (int32_t*)mabd_arena_take(arena, n->kinds[k], sizeof(int32_t));
    }
    MABD_CUDA(levels_layout)(&s->levels, arena);
    s->bad = (int32_t*)mabd_arena_take(arena, n->slots, sizeof *s->bad);
    s->twist = (mabd_real*)mabd_arena_take(arena, n->bodies, sizeof *s->twist);
    s->size = (mabd_real*)mabd_arena_take(arena, n->bodies, sizeof *s->size);
    s->openings = (mabd_opening*)mabd_arena_take(arena, n->joints, sizeof *s->openings);
    s->parts = (mabd_cuda_part*)mabd_arena_take(arena, MABD_CUDA_PARTS + 1, sizeof *s->parts);
    s->view.sides = (mabd_side_work*)mabd_arena_take(arena, n->works, sizeof(mabd_side_work));
    s->view.springs =
        (mabd_spring_work*)mabd_arena_take(arena, n->springs, sizeof(mabd_spring_work));
    s->view.points = (mabd_vec3*)mabd_arena_take(arena, n->points, sizeof(mabd_vec3));
}

static bool is_moving(const mabd_model* m, int32_t body) {
    return m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// ---- lists on the host ---------------------------------------------------------------------------------

// Lists that are made on the host, copied, and forgotten.
typedef struct lists {
    uint8_t* side_mode;
    size_t* side_offset;
    mabd_apart* aparts;
    int32_t *kinds[MABD_CUDA_KINDS], *components;
    void* memory;
    size_t size;
} lists;

static void lay_lists(const counts* n, mabd_arena* arena, lists* l) {
    l->side_mode = (uint8_t*)mabd_arena_take(arena, n->sides, sizeof *l->side_mode);
    l->side_offset = (size_t*)mabd_arena_take(arena, n->sides, sizeof *l->side_offset);
    l->aparts = (mabd_apart*)mabd_arena_take(arena, n->sides, sizeof *l->aparts);
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        l->kinds[k] = (int32_t*)mabd_arena_take(arena, n->bodies, sizeof(int32_t));
    }
    l->components = (int32_t*)mabd_arena_take(arena, n->components, sizeof(int32_t));
}

static void list_kinds(const mabd_cpu_sim* host, counts* n, lists* l) {
    const mabd_model* m = host->model;
    const size_t widest = host->sizes.widest_body;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!is_moving(m, i)) continue;
        const int kind = host->body_kind[i];
        l->kinds[kind][n->kinds[kind]++] = i;
    }
    const size_t general = n->kinds[MABD_BODY_GENERAL] + n->kinds[MABD_BODY_ROWS];
    n->works = widest * (general + n->kinds[MABD_BODY_HUB]);
    n->springs = widest * n->kinds[MABD_BODY_SPRUNG];
    n->points = widest * n->kinds[MABD_BODY_SIMPLE];
}

// The side of the lower body writes, the other one apart.
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
                const mabd_apart apart = {s, slot, n->apart};
                const size_t width = (size_t)plan->slot_width[slot];
                l->side_mode[s] = MABD_SIDE_APART;
                l->side_offset[s] = n->apart;
                l->aparts[n->aparts++] = apart;
                n->apart += width * (width + 1);
            }
        }
    }
}

// ---- copies --------------------------------------------------------------------------------------------

static mabd_model copy_model(const mabd_model* m, const piece& p, const piece& plan) {
    mabd_model d = *m;
    d.classes = moved(p, m->classes), d.body_class = moved(p, m->body_class);
    d.body_motion = moved(p, m->body_motion), d.joints = moved(p, m->joints);
    d.frames = moved(p, m->frames), d.row_sets = moved(p, m->row_sets);
    d.forces = moved(p, m->forces);
    d.plan = moved(plan, m->plan);
    return d;
}

static mabd_plan copy_plan(const mabd_plan* plan, const piece& p) {
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

static void copy_view(const mabd_cpu_sim* host, const places* p, mabd_cpu_sim* view) {
    mabd_side_work* sides = view->sides;
    mabd_spring_work* springs = view->springs;
    mabd_vec3* points = view->points;
    const piece& a = p->arena;
    *view = *host;
    view->model = p->model_head, view->packs = p->packs;
    view->stages = NULL, view->pool = NULL, view->outers = NULL, view->contacts = NULL;
#define FIELD(kind, name, count, columns, unit, meaning) view->name = moved(a, host->name);
#include "cpu/fields.def"
#undef FIELD
    view->blocks = moved(a, host->blocks), view->controls = moved(a, host->controls);
    view->motors = moved(a, host->motors), view->axes = moved(a, host->axes);
    view->force_scale = moved(a, host->force_scale), view->body_kind = moved(a, host->body_kind);
    view->loose = moved(a, host->loose);
    view->sides = sides, view->springs = springs, view->points = points;
    view->duals = NULL, view->solvers = NULL, view->softened = NULL, view->groups = NULL;
}

static mabd_status copy_all(const mabd_cpu_sim* host, const counts* n, const lists* l,
                            const places* p, mabd_cuda_state* s, mabd_error* error) {
    const mabd_device* d = &s->device;
    const mabd_model model = copy_model(host->model, p->model, p->plan);
    const mabd_plan plan = copy_plan(host->model->plan, p->plan);
    mabd_packs packs = {};
    packs.side_mode = p->side_mode, packs.side_offset = p->side_offset, packs.apart = p->apart;
#define PUT(from, count, to)                                                                       \
    MABD_TRY(MABD_CUDA(device_upload)(d, from, (count) * sizeof *(from), to, error))
    PUT(p->model.from, p->model.size, p->model.to);
    PUT(p->plan.from, p->plan.size, p->plan.to);
    PUT(p->arena.from, p->arena.size, p->arena.to);
    PUT(&model, 1, p->model_head);
    PUT(&plan, 1, p->plan.to); // the plan begins with its head
    PUT(&packs, 1, p->packs);
    PUT(l->side_mode, n->sides, p->side_mode);
    PUT(l->side_offset, n->sides, p->side_offset);
    PUT(l->aparts, n->aparts, p->aparts);
    for (int k = 0; k < MABD_CUDA_KINDS; k++) PUT(l->kinds[k], n->kinds[k], p->kinds[k]);
#undef PUT
    MABD_TRY(MABD_CUDA(levels_upload)(&s->levels, d, error));
    return MABD_CUDA(device_wait)(d, error); // model, plan and packs are of this function
}

// ---- creation ------------------------------------------------------------------------------------------

static mabd_status refuse(mabd_error* error, const char* what) {
    return mabd_fail(error, MABD_ERR_UNAVAILABLE, "the backend 'cuda' does not do %s yet", what);
}

static mabd_status check_model(const mabd_cpu_sim* host, mabd_error* error) {
    const mabd_model* m = host->model;
    if (m->contact.enabled) return refuse(error, "contacts");
    if (m->script_count > 0) return refuse(error, "bodies that follow a script");
    if (m->laws) return refuse(error, "stops, drives with limits and friction of axes");
    if (host->shared_edges) return refuse(error, "bodies that two joints join twice");
    for (int32_t i = 0; i < m->plan->component_count; i++) {
        const mabd_component kind = m->plan->components[i].kind;
        if (kind == MABD_COMPONENT_LOOPS || kind == MABD_COMPONENT_GRAPH) {
            return refuse(error, "loops and nets");
        }
    }
    return MABD_OK;
}

static mabd_status fill(const mabd_cpu_sim* host, const void* arena_memory, size_t arena_size,
                        const mabd_allocator* allocator, counts* n, lists* l, mabd_cuda_state* s,
                        mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    mabd_arena arena = {NULL, 0, 0};
    places p = {};
    list_kinds(host, n, l);
    list_sides(host->model, n, l);
    for (int32_t i = 0; i < plan->component_count; i++) l->components[i] = i;
    MABD_TRY(MABD_CUDA(levels_plan)(plan, plan->component_count, l->components, NULL, allocator,
                                    &s->levels, error));
    layout(n, &arena, s, &p);
    if (arena.used == SIZE_MAX) return mabd_fail_memory(error, "laying out the device's memory");
    MABD_TRY(MABD_CUDA(device_reserve)(&s->device, arena.used, error));
    arena.size = arena.used, arena.used = 0, arena.memory = (char*)s->device.memory;
    layout(n, &arena, s, &p);
    p.model.from = (const char*)host->model->memory, p.model.size = n->model;
    p.plan.from = (const char*)plan, p.plan.size = n->plan;
    p.arena.from = (const char*)arena_memory, p.arena.size = arena_size;
    copy_view(host, &p, &s->view);
    for (int k = 0; k < MABD_CUDA_KINDS; k++) {
        s->kind_count[k] = (int32_t)n->kinds[k], s->kind_bodies[k] = p.kinds[k];
    }
    s->joint_count = host->model->joint_count;
    s->apart_count = (int32_t)n->aparts, s->aparts = p.aparts;
    return copy_all(host, n, l, &p, s, error);
}

mabd_status MABD_CUDA(state_create)(const mabd_cpu_sim* host, const void* arena_memory,
                                    size_t arena_size, const mabd_allocator* allocator,
                                    mabd_cuda_state* state, mabd_error* error) {
    const mabd_plan* plan = host->model->plan;
    const mabd_cuda_state none = {};
    counts n = {};
    lists l = {};
    mabd_arena arena = {NULL, 0, 0};
    *state = none;
    MABD_TRY(check_model(host, error));
    MABD_TRY(MABD_CUDA(device_open)(&state->device, error));
    n.model = host->model->memory_size, n.plan = plan->bytes, n.arena = arena_size;
    n.sides = (size_t)plan->side_start[plan->body_count], n.bodies = host->sizes.bodies;
    n.slots = (size_t)plan->slot_count, n.joints = (size_t)host->model->joint_count;
    n.components = (size_t)plan->component_count;
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
        status = mabd_fail_memory(error, "listing what goes to the device");
    }
    if (status != MABD_OK) MABD_CUDA(state_destroy)(allocator, state);
    return status;
}

void MABD_CUDA(state_destroy)(const mabd_allocator* allocator, mabd_cuda_state* state) {
    MABD_CUDA(levels_release)(allocator, &state->levels);
    MABD_CUDA(device_close)(&state->device);
}

// ---- to and fro ----------------------------------------------------------------------------------------

mabd_status MABD_CUDA(state_begin)(mabd_cuda_state* state, const mabd_cpu_sim* host,
                                   mabd_error* error) {
    mabd_cpu_sim* view = &state->view;
    const mabd_cpu_sizes* n = &host->sizes;
    const size_t controls = n->row_sets * MABD_JOINT_MAX_ROWS;
    view->step = host->step, view->euler = host->euler;
#define PUT(name, count)                                                                           \
    MABD_TRY(MABD_CUDA(device_upload)(&state->device, host->name, (count) * sizeof *host->name,    \
                                      view->name, error))
    PUT(blocks, n->classes);
    PUT(controls, controls);
    PUT(motors, controls);
    PUT(force_scale, n->forces);
#undef PUT
    return MABD_CUDA(device_wait)(&state->device, error); // the host may make new ones
}

mabd_status MABD_CUDA(state_download)(const mabd_cuda_state* state, mabd_cpu_sim* host,
                                      mabd_error* error) {
    const mabd_cpu_sizes* n = &host->sizes;
#define GET_STATE(name, size)                                                                      \
    MABD_TRY(MABD_CUDA(device_download)(&state->device, state->view.name, size, host->name, error));
#define GET_WORK(name, size)
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    GET_##kind(name, (size_t)(columns) * (count) * sizeof(mabd_real))
#include "cpu/fields.def"
#undef FIELD
    return MABD_CUDA(device_wait)(&state->device, error);
}

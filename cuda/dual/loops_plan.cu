// SPDX-License-Identifier: Apache-2.0
// The lists of loops.h: integers only, made on the host. The cut joints of a component are the last
// of its order of elimination, one for each independent cycle (topology/spanning.c). O(slots +
// edges + components times classes).

#include "cuda/dual/loops.h"

extern "C" {
#include "base/error.h"
}

// Temporary arrays.
typedef struct workspace {
    bool* left_out;              // the slot is cut (slots)
    int32_t* column;             // first column of a cut slot in S (slots)
    int32_t *of_class, *members; // class of a component; components of one class (count)
    void* memory;
    size_t size;
} workspace;

static void lay_workspace(const mabd_plan* plan, int32_t count, mabd_arena* arena, workspace* w) {
    const size_t slots = (size_t)plan->slot_count, all = (size_t)count;
    w->left_out = (bool*)mabd_arena_take(arena, slots, sizeof *w->left_out);
    w->column = (int32_t*)mabd_arena_take(arena, slots, sizeof *w->column);
    w->of_class = (int32_t*)mabd_arena_take(arena, all, sizeof *w->of_class);
    w->members = (int32_t*)mabd_arena_take(arena, all, sizeof *w->members);
}

static void lay_lists(const mabd_cuda_loop_class* c, mabd_arena* arena, mabd_cuda_loop_lists* l) {
    const size_t count = (size_t)c->count;
    l->blocks =
        (mabd_cuda_loop_block*)mabd_arena_take(arena, (size_t)c->block_count, sizeof *l->blocks);
    l->cuts = (mabd_cuda_loop_cut*)mabd_arena_take(arena, (size_t)c->cut_count, sizeof *l->cuts);
    l->S = (mabd_real**)mabd_arena_take(arena, count, sizeof *l->S);
    l->t = (mabd_real**)mabd_arena_take(arena, count, sizeof *l->t);
}

static int32_t rows_of(const mabd_plan* plan, const mabd_plan_component* c) {
    return plan->slot_row[c->slot_first + c->slot_count] - plan->slot_row[c->slot_first];
}

// Slot of the plan of cut joint i of a component.
static int32_t cut_slot(const mabd_plan* plan, const mabd_plan_component* c, int32_t i) {
    return c->slot_first + plan->elimination[c->slot_first + c->slot_count - c->loops + i];
}

// ---- classes ------------------------------------------------------------------------------------

static mabd_status mark_cuts(const mabd_plan* plan, int32_t count, const int32_t* components,
                             workspace* w, mabd_error* error) {
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        int32_t column = 0;
        for (int32_t k = 0; k < c->loops; k++) {
            const int32_t slot = cut_slot(plan, c, k);
            w->left_out[slot] = true;
            w->column[slot] = column;
            column += plan->slot_width[slot];
        }
        if (c->loops == 0 || column != c->cut_rows) {
            return mabd_fail(error, MABD_ERR_ARG,
                             "the loop solver takes components with cycles only");
        }
    }
    return MABD_OK;
}

static void find_classes(const mabd_plan* plan, int32_t count, const int32_t* components,
                         workspace* w, mabd_cuda_loops* loops) {
    for (int32_t i = 0; i < count; i++) {
        const int32_t rows = plan->components[components[i]].cut_rows;
        int32_t k = 0;
        while (k < loops->class_count && loops->classes[k].cut_rows != rows) k++;
        if (k == loops->class_count) loops->classes[loops->class_count++].cut_rows = rows;
        loops->classes[k].count++;
        w->of_class[i] = k;
    }
}

// Find stretches of components of one size at equal distances.
static void find_stretches(const mabd_plan* plan, const int32_t* members, mabd_cuda_loop_class* c) {
    mabd_cuda_loop_stretch* last = NULL;
    for (int32_t i = 0; i < c->count; i++) {
        const mabd_plan_component* part = &plan->components[members[i]];
        const int32_t row = plan->slot_row[part->slot_first], rows = rows_of(plan, part);
        if (last && last->rows == rows) {
            const int32_t step = row - (last->row + (last->count - 1) * last->stride);
            if (last->count == 1) last->stride = step;
            if (last->stride == step) {
                last->count++;
                continue;
            }
        }
        last = &c->stretches[c->stretch_count++];
        const mabd_cuda_loop_stretch fresh = {i, 1, row, rows, rows};
        *last = fresh;
    }
}

// ---- blocks -------------------------------------------------------------------------------------

static void count_blocks(const mabd_plan* plan, const int32_t* members, const workspace* w,
                         mabd_cuda_loop_class* c) {
    const mabd_plan_component *head = &plan->components[members[0]],
                              *tail = &plan->components[members[c->count - 1]];
    c->row_first = plan->slot_row[head->slot_first];
    c->row_count = plan->slot_row[tail->slot_first + tail->slot_count] - c->row_first;
    for (int32_t i = 0; i < c->count; i++) {
        const mabd_plan_component* part = &plan->components[members[i]];
        c->cut_count += part->loops;
        c->block_count += part->loops;
        for (int32_t e = part->edge_first; e < part->edge_first + part->edge_count; e++) {
            c->block_count += w->left_out[plan->edge_from[e]] + w->left_out[plan->edge_to[e]];
        }
    }
}

// List block (s, t) of K, t a cut slot: the block of an edge, or on the diagonal (edge = -1).
static void add_block(const mabd_plan* plan, const workspace* w, int32_t component, int32_t s,
                      int32_t t, int32_t edge, mabd_cuda_loop_class* c) {
    const size_t m = (size_t)c->cut_rows, column = (size_t)w->column[t];
    mabd_cuda_loop_block block = {};
    block.height = plan->slot_width[s], block.width = plan->slot_width[t];
    block.diagonal = edge < 0;
    block.from = edge < 0 ? plan->slot_block[s] : plan->edge_block[edge];
    block.turned = edge >= 0 && plan->edge_from[edge] == t;
    block.inner = w->left_out[s];
    block.lead = block.inner ? m : (size_t)c->row_count;
    block.to = column * block.lead + (block.inner ? (size_t)component * m * m + (size_t)w->column[s]
                                                  : (size_t)(plan->slot_row[s] - c->row_first));
    c->host.blocks[c->block_count++] = block;
}

static void fill_component(const mabd_plan* plan, const mabd_plan_component* part,
                           const workspace* w, int32_t component, mabd_cuda_loop_class* c) {
    for (int32_t i = 0; i < part->loops; i++) {
        const int32_t slot = cut_slot(plan, part, i);
        const mabd_cuda_loop_cut cut = {slot, plan->slot_row[slot], component, w->column[slot],
                                        plan->slot_width[slot]};
        c->host.cuts[c->cut_count++] = cut;
        add_block(plan, w, component, slot, slot, -1, c);
    }
    for (int32_t e = part->edge_first; e < part->edge_first + part->edge_count; e++) {
        const int32_t from = plan->edge_from[e], to = plan->edge_to[e];
        if (w->left_out[to]) add_block(plan, w, component, from, to, e, c);
        if (w->left_out[from]) add_block(plan, w, component, to, from, e, c);
    }
}

static mabd_status fill_class(const mabd_plan* plan, const int32_t* members, const workspace* w,
                              const mabd_allocator* allocator, mabd_cuda_loop_class* c,
                              mabd_error* error) {
    mabd_arena arena = {NULL, 0, 0};
    MABD_TRY(MABD_CUDA(levels_plan_part)(plan, c->count, members, w->left_out, allocator,
                                         &c->levels, error));
    count_blocks(plan, members, w, c);
    if ((int64_t)c->levels.slot_count * c->cut_rows > INT32_MAX) {
        return mabd_fail_memory(error, "solving for all columns of loops at once");
    }
    lay_lists(c, &arena, &c->host);
    if (arena.used == SIZE_MAX) return mabd_fail_memory(error, "listing loops");
    c->size = arena.size = arena.used;
    c->host_memory = arena.memory = (char*)mabd_alloc(allocator, arena.size);
    c->stretches =
        (mabd_cuda_loop_stretch*)mabd_alloc(allocator, (size_t)c->count * sizeof *c->stretches);
    if (!c->host_memory || !c->stretches) return mabd_fail_memory(error, "listing loops");
    arena.used = 0;
    lay_lists(c, &arena, &c->host);
    find_stretches(plan, members, c);
    c->cut_count = c->block_count = 0; // filled below, by the same loops
    for (int32_t i = 0; i < c->count; i++) {
        fill_component(plan, &plan->components[members[i]], w, i, c);
    }
    return MABD_OK;
}

// ---- plan, layout, upload, release --------------------------------------------------------------

static mabd_status plan_classes(const mabd_plan* plan, int32_t count, const int32_t* components,
                                workspace* w, const mabd_allocator* allocator,
                                mabd_cuda_loops* loops, mabd_error* error) {
    MABD_TRY(mark_cuts(plan, count, components, w, error));
    find_classes(plan, count, components, w, loops);
    for (int32_t k = 0; k < loops->class_count; k++) {
        int32_t members = 0;
        for (int32_t i = 0; i < count; i++) {
            if (w->of_class[i] == k) w->members[members++] = components[i];
        }
        MABD_TRY(fill_class(plan, w->members, w, allocator, &loops->classes[k], error));
    }
    return MABD_OK;
}

static void release(const mabd_allocator* allocator, void* solver) {
    mabd_cuda_loops* loops = (mabd_cuda_loops*)solver;
    const mabd_cuda_loops none = {};
    for (int32_t i = 0; i < loops->class_count; i++) {
        mabd_cuda_loop_class* c = &loops->classes[i];
        if (c->work) cudaFree(c->work);
        MABD_CUDA(dual_levels).release(allocator, &c->levels);
        mabd_free(allocator, c->host_memory, c->size);
        mabd_free(allocator, c->stretches, (size_t)c->count * sizeof *c->stretches);
    }
    MABD_CUDA(libraries_close)(&loops->libraries);
    mabd_free(allocator, loops->classes, (size_t)loops->room * sizeof *loops->classes);
    *loops = none;
}

static mabd_status plan_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const mabd_allocator* allocator, void* solver, mabd_error* error) {
    mabd_cuda_loops* loops = (mabd_cuda_loops*)solver;
    const mabd_cuda_loops none = {};
    mabd_arena arena = {NULL, 0, 0};
    workspace w = {};
    *loops = none;
    loops->room = count;
    lay_workspace(plan, count, &arena, &w);
    if (arena.used == SIZE_MAX) return mabd_fail_memory(error, "listing loops");
    w.size = arena.size = arena.used;
    w.memory = arena.memory = (char*)mabd_alloc(allocator, arena.size);
    loops->classes =
        (mabd_cuda_loop_class*)mabd_alloc(allocator, (size_t)count * sizeof *loops->classes);
    mabd_status status = MABD_OK;
    if (w.memory && loops->classes) {
        arena.used = 0;
        lay_workspace(plan, count, &arena, &w);
        status = plan_classes(plan, count, components, &w, allocator, loops, error);
    } else {
        status = mabd_fail_memory(error, "listing loops");
    }
    mabd_free(allocator, w.memory, w.size);
    if (status != MABD_OK) release(allocator, loops);
    return status;
}

static void layout_class(mabd_cuda_loop_class* c, mabd_arena* arena) {
    const size_t count = (size_t)c->count, m = (size_t)c->cut_rows, rows = (size_t)c->row_count;
    mabd_arena lists = {NULL, c->size, 0};
    MABD_CUDA(dual_levels).layout(&c->levels, arena);
    lists.memory = (char*)mabd_arena_take(arena, c->size, 1);
    c->memory = lists.memory;
    lay_lists(c, &lists, &c->on);
    c->B = (mabd_real*)mabd_arena_take(arena, rows * m, sizeof *c->B);
    c->W = (mabd_real*)mabd_arena_take(arena, rows * m, sizeof *c->W);
    c->S = (mabd_real*)mabd_arena_take(arena, count * m * m, sizeof *c->S);
    c->t = (mabd_real*)mabd_arena_take(arena, count * m, sizeof *c->t);
    c->info = (int32_t*)mabd_arena_take(arena, count + 1, sizeof *c->info);
}

static void layout(void* solver, mabd_arena* arena) {
    mabd_cuda_loops* loops = (mabd_cuda_loops*)solver;
    for (int32_t i = 0; i < loops->class_count; i++) layout_class(&loops->classes[i], arena);
}

static mabd_status upload_class(const mabd_libraries* l, mabd_cuda_loop_class* c,
                                const mabd_device* device, mabd_error* error) {
    const size_t m = (size_t)c->cut_rows;
    static_assert(sizeof(mabd_real) == sizeof(double),
                  "cuBLAS and cuSOLVER are called for doubles");
    for (int32_t i = 0; i < c->count; i++) {
        c->host.S[i] = c->S + (size_t)i * m * m, c->host.t[i] = c->t + (size_t)i * m;
    }
    MABD_TRY(MABD_CUDA(dual_levels).upload(&c->levels, device, error));
    MABD_TRY(MABD_CUDA(device_upload)(device, c->host_memory, c->size, c->memory, error));
    MABD_CUDA_TRY(cudaMemsetAsync(c->B, 0, (size_t)c->row_count * m * sizeof *c->B, device->stream),
                  "copying loops to the device");
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    if (c->count > 1) return MABD_OK;
    MABD_LIBRARY_TRY(l->potrf_size(l->solver, CUBLAS_FILL_MODE_LOWER, c->cut_rows, c->S,
                                   c->cut_rows, &c->work_reals),
                     "querying the workspace of a factorisation");
    MABD_CUDA_TRY(cudaMalloc((void**)&c->work, (size_t)c->work_reals * sizeof *c->work),
                  "allocating memory for a Schur complement");
    return MABD_OK;
}

static mabd_status upload(void* solver, const mabd_device* device, mabd_error* error) {
    mabd_cuda_loops* loops = (mabd_cuda_loops*)solver;
    if (loops->class_count == 0) return MABD_OK;
    MABD_TRY(MABD_CUDA(libraries_open_dense)(&loops->libraries, device->stream, error));
    for (int32_t i = 0; i < loops->class_count; i++) {
        MABD_TRY(upload_class(&loops->libraries, &loops->classes[i], device, error));
    }
    return MABD_OK;
}

const mabd_cuda_dual_ops MABD_CUDA(dual_loops) = {
    .name = "loops",
    .size = sizeof(mabd_cuda_loops),
    .iterative = false,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = MABD_CUDA(loops_factor),
    .solve = MABD_CUDA(loops_solve),
    .release = release,
};

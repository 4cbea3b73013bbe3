// SPDX-License-Identifier: Apache-2.0
// The lists of nets.h: integers only, made on the host. O(slots + edges).

#include "cuda/dual/nets.h"

extern "C" {
#include "base/error.h"
#include "dual/graph_matrix.h"
#include "topology/color.h"
}

static void lay_lists(const mabd_cuda_nets* nets, mabd_arena* arena, mabd_cuda_net_lists* l) {
    const size_t slots = (size_t)nets->data.slot_count, blocks = nets->block_count;
    l->width = (int32_t*)mabd_arena_take(arena, slots, sizeof(int32_t));
    l->row = (int32_t*)mabd_arena_take(arena, slots + 1, sizeof(int32_t));
    l->plan_slot = (int32_t*)mabd_arena_take(arena, slots, sizeof(int32_t));
    l->plan_row = (int32_t*)mabd_arena_take(arena, slots, sizeof(int32_t));
    l->component = (int32_t*)mabd_arena_take(arena, slots, sizeof(int32_t));
    l->start = (int32_t*)mabd_arena_take(arena, slots + 1, sizeof(int32_t));
    l->column = (int32_t*)mabd_arena_take(arena, blocks, sizeof(int32_t));
    l->side = (int32_t*)mabd_arena_take(arena, blocks, sizeof(int32_t));
    l->at = (size_t*)mabd_arena_take(arena, blocks, sizeof(size_t));
    l->from = (size_t*)mabd_arena_take(arena, blocks, sizeof(size_t));
    l->turned = (bool*)mabd_arena_take(arena, blocks, sizeof(bool));
    l->block = (size_t*)mabd_arena_take(arena, slots, sizeof(size_t));
    l->order = (int32_t*)mabd_arena_take(arena, slots, sizeof(int32_t));
    l->parts = (mabd_cuda_net_part*)mabd_arena_take(arena, (size_t)nets->data.part_count,
                                                    sizeof *l->parts);
    l->part_first =
        (int32_t*)mabd_arena_take(arena, (size_t)nets->data.component_count + 1, sizeof(int32_t));
}

// ---- counts -------------------------------------------------------------------------------------

static mabd_status count_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                             mabd_cuda_nets* nets, mabd_error* error) {
    mabd_cuda_net_data* d = &nets->data;
    d->component_count = count;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        const int32_t last = c->slot_first + c->slot_count, end = c->edge_first + c->edge_count;
        if (c->junction_count > 0)
            return mabd_fail(error, MABD_ERR_ARG,
                             "the net solver takes components without junctions only");
        nets->block_count += (size_t)c->slot_count + 2 * (size_t)c->edge_count;
        nets->row_count += plan->slot_row[last] - plan->slot_row[c->slot_first];
        nets->F_reals += plan->slot_block[last] - plan->slot_block[c->slot_first];
        nets->A_reals += 2 * (plan->edge_block[end] - plan->edge_block[c->edge_first]);
        d->slot_count += c->slot_count;
        d->part_count += (c->slot_count + MABD_CUDA_NET_PART - 1) / MABD_CUDA_NET_PART;
    }
    nets->A_reals += nets->F_reals;
    if (nets->block_count > INT32_MAX) return mabd_fail_memory(error, "listing nets");
    return MABD_OK;
}

// ---- lists --------------------------------------------------------------------------------------

static void fill_slots(const mabd_plan* plan, const mabd_plan_component* c, int32_t component,
                       int32_t base, mabd_cuda_nets* nets) {
    mabd_cuda_net_lists* l = &nets->host;
    for (int32_t i = 0; i < c->slot_count; i++) {
        const int32_t s = base + i, slot = c->slot_first + i;
        l->width[s] = plan->slot_width[slot];
        l->row[s + 1] = l->row[s] + l->width[s];
        l->plan_slot[s] = slot, l->plan_row[s] = plan->slot_row[slot];
        l->component[s] = component;
        if (s == 0) nets->width = l->width[0];
        if (l->width[s] != nets->width) nets->width = 0;
    }
}

static void fill_parts(const mabd_plan_component* c, int32_t component, int32_t base,
                       mabd_cuda_net_lists* l) {
    int32_t part = l->part_first[component];
    for (int32_t s = 0; s < c->slot_count; s += MABD_CUDA_NET_PART) {
        const int32_t last =
            s + MABD_CUDA_NET_PART < c->slot_count ? s + MABD_CUDA_NET_PART : c->slot_count;
        const mabd_cuda_net_part one = {component, base + s, base + last};
        l->parts[part++] = one;
    }
    l->part_first[component + 1] = part;
}

// Add the block of row base + i and column base + other; edge -1 is the diagonal.
static void add_block(const mabd_plan* plan, const mabd_plan_component* c, int32_t base, int32_t i,
                      int32_t other, int32_t edge, mabd_cuda_net_lists* l, size_t* at) {
    const int32_t s = base + i, k = l->start[s + 1]++;
    l->column[k] = base + other;
    l->at[k] = *at;
    l->from[k] =
        edge < 0 ? plan->slot_block[c->slot_first + i] : plan->edge_block[c->edge_first + edge];
    l->turned[k] = edge >= 0 && other < i;
    *at += (size_t)(l->width[s] * l->width[base + other]);
}

static void fill_blocks(const mabd_plan* plan, const mabd_plan_component* c, int32_t base,
                        const mabd_dual_neighbours* n, mabd_cuda_net_lists* l, size_t* at,
                        size_t* block) {
    for (int32_t i = 0; i < c->slot_count; i++) {
        const int32_t s = base + i;
        int32_t k = n->start[i];
        l->start[s + 1] = l->start[s];
        for (; k < n->start[i + 1] && n->slot[k] < i; k++) {
            add_block(plan, c, base, i, n->slot[k], n->edge[k], l, at);
        }
        add_block(plan, c, base, i, i, -1, l, at);
        for (; k < n->start[i + 1]; k++) {
            add_block(plan, c, base, i, n->slot[k], n->edge[k], l, at);
        }
        l->block[s] = *block;
        *block += (size_t)(l->width[s] * l->width[s]);
    }
}

static mabd_status fill(const mabd_plan* plan, int32_t count, const int32_t* components,
                        const mabd_allocator* allocator, mabd_cuda_nets* nets, mabd_error* error) {
    size_t at = 0, block = 0;
    int32_t base = 0;
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        mabd_dual_system system = {};
        mabd_dual_neighbours list;
        system.slot_count = c->slot_count, system.edge_count = c->edge_count;
        system.from = plan->edge_from + c->edge_first, system.to = plan->edge_to + c->edge_first;
        system.slot_offset = c->slot_first;
        if (mabd_dual_neighbours_make(allocator, &system, &list) != MABD_OK) {
            return mabd_fail_memory(error, "listing nets");
        }
        fill_slots(plan, c, i, base, nets);
        fill_parts(c, i, base, &nets->host);
        fill_blocks(plan, c, base, &list, &nets->host, &at, &block);
        mabd_dual_neighbours_free(allocator, &list);
        base += c->slot_count;
    }
    return MABD_OK;
}

// ---- colours ------------------------------------------------------------------------------------

static mabd_status color(const mabd_allocator* allocator, mabd_cuda_nets* nets, mabd_error* error) {
    mabd_cuda_net_lists* l = &nets->host;
    const int32_t n = nets->data.slot_count;
    const size_t bytes = mabd_bytes(2 * (size_t)n, sizeof(int32_t));
    int32_t* colors = (int32_t*)mabd_alloc(allocator, bytes);
    if (!colors) return mabd_fail_memory(error, "colouring nets");
    nets->color_count = mabd_color_greedy(n, l->start, l->column, colors, colors + n);
    nets->color_first =
        (int32_t*)mabd_alloc(allocator, ((size_t)nets->color_count + 1) * sizeof(int32_t));
    if (nets->color_first) {
        mabd_color_sort(n, colors, nets->color_count, nets->color_first, l->order);
        for (int32_t s = 0; s < n; s++) {
            for (int32_t k = l->start[s]; k < l->start[s + 1]; k++) {
                const int32_t c = colors[l->column[k]];
                l->side[k] = (c > colors[s]) - (c < colors[s]);
            }
        }
    }
    mabd_free(allocator, colors, bytes);
    return nets->color_first ? MABD_OK : mabd_fail_memory(error, "colouring nets");
}

// ---- plan, layout, upload, release --------------------------------------------------------------

static mabd_status plan_lists(const mabd_plan* plan, int32_t count, const int32_t* components,
                              const mabd_allocator* allocator, mabd_cuda_nets* nets,
                              mabd_error* error) {
    mabd_arena arena = {NULL, 0, 0};
    MABD_TRY(count_all(plan, count, components, nets, error));
    lay_lists(nets, &arena, &nets->host);
    if (arena.used == SIZE_MAX) return mabd_fail_memory(error, "listing nets");
    nets->size = arena.size = arena.used;
    nets->host_memory = arena.memory = (char*)mabd_alloc(allocator, arena.size);
    nets->states =
        (mabd_cuda_net_state*)mabd_alloc(allocator, (size_t)count * sizeof *nets->states);
    if (!arena.memory || !nets->states) return mabd_fail_memory(error, "listing nets");
    arena.used = 0;
    lay_lists(nets, &arena, &nets->host);
    MABD_TRY(fill(plan, count, components, allocator, nets, error));
    return color(allocator, nets, error);
}

static void release(const mabd_allocator* allocator, void* solver) {
    mabd_cuda_nets* nets = (mabd_cuda_nets*)solver;
    const mabd_cuda_nets none = {};
    mabd_libraries* l = &nets->libraries;
    if (nets->buffer) cudaFree(nets->buffer);
    if (nets->vector_x) l->destroy_vector(nets->vector_x);
    if (nets->vector_z) l->destroy_vector(nets->vector_z);
    if (nets->vector_s) l->destroy_vector(nets->vector_s);
    if (nets->matrix) l->destroy_matrix(nets->matrix);
    MABD_CUDA(libraries_close)(l);
    mabd_free(allocator, nets->states, (size_t)nets->data.component_count * sizeof *nets->states);
    mabd_free(allocator, nets->color_first, ((size_t)nets->color_count + 1) * sizeof(int32_t));
    mabd_free(allocator, nets->host_memory, nets->size);
    *nets = none;
}

static mabd_status plan_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const mabd_allocator* allocator, void* solver, mabd_error* error) {
    mabd_cuda_nets* nets = (mabd_cuda_nets*)solver;
    const mabd_cuda_nets none = {};
    *nets = none;
    const mabd_status status = plan_lists(plan, count, components, allocator, nets, error);
    if (status != MABD_OK) release(allocator, nets);
    return status;
}

static void layout(void* solver, mabd_arena* arena) {
    mabd_cuda_nets* nets = (mabd_cuda_nets*)solver;
    mabd_cuda_net_data* d = &nets->data;
    mabd_arena lists = {NULL, nets->size, 0};
    mabd_real** const vectors[] = {&d->b, &d->x, &d->r, &d->z, &d->s, &d->p, &d->q};
    lists.memory = (char*)mabd_arena_take(arena, nets->size, 1);
    nets->memory = lists.memory;
    lay_lists(nets, &lists, &d->on);
    d->A = (mabd_real*)mabd_arena_take(arena, nets->A_reals, sizeof *d->A);
    d->F = (mabd_real*)mabd_arena_take(arena, nets->F_reals, sizeof *d->F);
    for (mabd_real** vector : vectors) {
        *vector = (mabd_real*)mabd_arena_take(arena, (size_t)nets->row_count, sizeof **vector);
    }
    d->partial = (mabd_real*)mabd_arena_take(arena, (size_t)d->part_count, sizeof *d->partial);
    d->states =
        (mabd_cuda_net_state*)mabd_arena_take(arena, (size_t)d->component_count, sizeof *d->states);
    d->running = (int32_t*)mabd_arena_take(arena, 1, sizeof *d->running);
}

// Prepare products by cuSPARSE, which takes blocks of one size; blocks of one row use our kernel.
static mabd_status prepare_products(mabd_cuda_nets* nets, const mabd_device* device,
                                    mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    mabd_libraries* l = &nets->libraries;
    const mabd_real one = 1, zero = 0;
    size_t bytes = 0;
    if (nets->width < 2) return MABD_OK;
    static_assert(sizeof(mabd_real) == sizeof(double), "cuSPARSE is called for doubles");
    MABD_TRY(MABD_CUDA(libraries_open_sparse)(l, device->stream, error));
    MABD_LIBRARY_TRY(
        l->create_bsr(&nets->matrix, d->slot_count, d->slot_count, (int64_t)nets->block_count,
                      nets->width, nets->width, d->on.start, d->on.column, d->A, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, CUSPARSE_ORDER_ROW),
        "describing a net's matrix");
    const struct {
        cusparseDnVecDescr_t* vector;
        mabd_real* values;
    } vectors[] = {{&nets->vector_x, d->x}, {&nets->vector_z, d->z}, {&nets->vector_s, d->s}};
    for (const auto& v : vectors) {
        MABD_LIBRARY_TRY(l->create_vector(v.vector, nets->row_count, v.values, CUDA_R_64F),
                         "describing a net's vectors");
    }
    MABD_LIBRARY_TRY(l->spmv_size(l->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, nets->matrix,
                                  nets->vector_x, &zero, nets->vector_s, CUDA_R_64F,
                                  CUSPARSE_SPMV_BSR_ALG1, &bytes),
                     "querying the buffer of a product");
    MABD_CUDA_TRY(cudaMalloc(&nets->buffer, bytes), "allocating memory for products of nets");
    return MABD_OK;
}

static mabd_status upload(void* solver, const mabd_device* device, mabd_error* error) {
    mabd_cuda_nets* nets = (mabd_cuda_nets*)solver;
    if (nets->data.slot_count == 0) return MABD_OK;
    MABD_TRY(MABD_CUDA(device_upload)(device, nets->host_memory, nets->size, nets->memory, error));
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    return prepare_products(nets, device, error);
}

const mabd_cuda_dual_ops MABD_CUDA(dual_gs) = {
    .name = "gs",
    .size = sizeof(mabd_cuda_nets),
    .iterative = true,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = MABD_CUDA(nets_factor),
    .solve = MABD_CUDA(nets_solve_gs),
    .release = release,
};

const mabd_cuda_dual_ops MABD_CUDA(dual_pcg) = {
    .name = "pcg",
    .size = sizeof(mabd_cuda_nets),
    .iterative = true,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = MABD_CUDA(nets_factor),
    .solve = MABD_CUDA(nets_solve_pcg),
    .release = release,
};

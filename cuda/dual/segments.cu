// SPDX-License-Identifier: Apache-2.0
// A thread for each segment (dual/segment_kernel.h): eliminate all segments of a depth, add their
// shares to the slots at the cuts, continue with the reduced chains of those slots; substitute back
// in the opposite order. Two launches for each depth to factor and one to solve: a chain of a
// million slots takes eleven.
//
// One kernel for each widest block, as a kernel needs the registers of its widest block.

#include "cuda/dual/segments.h"

#include "cuda/runtime/launch.h"

extern "C" {
#include "base/error.h"
}

// ---- lists on the host --------------------------------------------------------------------------

// A chain: slots first .. first + count - 1 of the list.
typedef struct chain_range {
    int32_t first, count;
} chain_range;

// The lists while they are filled.
typedef struct listing {
    mabd_dual_segment_slot* slots;
    mabd_dual_segment* segments;
    chain_range* chains; // of a depth
    int32_t slot_count, segment_count, chain_count;
    size_t own;
} listing;

static size_t take_own(listing* l, int32_t reals) {
    const size_t at = l->own;
    l->own += (size_t)reals;
    return at;
}

static void add_segment(listing* l, int32_t first, int32_t count, bool before, bool after) {
    mabd_dual_segment segment = {first, count, before, after, 0, 0};
    if (before) {
        const int32_t u = l->slots[first - 1].width;
        segment.share = take_own(l, u * u + u);
        if (after) segment.joined = take_own(l, u * l->slots[first + count].width);
        for (int32_t i = first; i < first + count; i++) {
            l->slots[i].spike = take_own(l, l->slots[i].width * u);
        }
    }
    l->segments[l->segment_count++] = segment;
}

// List the segments of a chain and return its reduced chain, which is empty if it is not cut.
static chain_range cut_chain(listing* l, chain_range chain) {
    const int32_t cuts = chain.count <= MABD_SEGMENT_WHOLE ? 0 : (chain.count - 1) / MABD_SEGMENT;
    const int32_t end = chain.first + chain.count;
    const chain_range next = {l->slot_count, cuts};
    for (int32_t k = 0, from = chain.first; k <= cuts; k++) {
        const int32_t to = k < cuts ? from + MABD_SEGMENT - 1 : end;
        add_segment(l, from, to - from, k > 0, k < cuts);
        if (k > 0 && k < cuts) { // the block between the cuts at both ends
            l->slots[l->slot_count - 1].edge = l->segments[l->segment_count - 1].joined;
        }
        if (k < cuts) l->slots[l->slot_count++] = l->slots[to];
        from = to + 1;
    }
    return next;
}

static void list_chains(const mabd_plan* plan, int32_t count, const int32_t* components,
                        listing* l) {
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        const chain_range chain = {l->slot_count, c->slot_count};
        if (c->slot_count > 0) l->chains[l->chain_count++] = chain;
        for (int32_t k = 0; k < c->slot_count; k++) {
            const int32_t s = c->slot_first + k;
            mabd_dual_segment_slot slot = {};
            slot.slot = s, slot.width = plan->slot_width[s], slot.row = plan->slot_row[s];
            slot.block = plan->slot_block[s], slot.edge = plan->edge_block[c->edge_first + k];
            l->slots[l->slot_count++] = slot;
        }
    }
}

static void list_depths(listing* l, mabd_cuda_segments* s) {
    while (l->chain_count > 0) {
        const int32_t chains = l->chain_count;
        l->chain_count = 0;
        for (int32_t i = 0; i < chains; i++) {
            const chain_range next = cut_chain(l, l->chains[i]);
            if (next.count > 0) l->chains[l->chain_count++] = next;
        }
        s->segment_first[++s->depths] = l->segment_count;
    }
}

// Memory for n slots in `chains` chains. Each depth has MABD_SEGMENT times fewer slots than the one
// before it, and one segment per chain plus at most one for every MABD_SEGMENT / 2 slots.
static void lay_lists(size_t n, size_t chains, mabd_arena* arena, mabd_cuda_segments* s,
                      listing* l) {
    const size_t slots = n + n / (MABD_SEGMENT / 2);
    const size_t segments = chains + slots / (MABD_SEGMENT / 2);
    l->slots = s->host_slots =
        (mabd_dual_segment_slot*)mabd_arena_take(arena, slots, sizeof *l->slots);
    l->segments = s->host_segments =
        (mabd_dual_segment*)mabd_arena_take(arena, segments, sizeof *l->segments);
    l->chains = (chain_range*)mabd_arena_take(arena, chains, sizeof *l->chains);
}

static mabd_status check_chains(const mabd_plan* plan, int32_t count, const int32_t* components,
                                size_t* slots, mabd_cuda_segments* s, mabd_error* error) {
    for (int32_t i = 0; i < count; i++) {
        const mabd_plan_component* c = &plan->components[components[i]];
        if (c->slot_count > 0 && c->kind != MABD_COMPONENT_CHAIN) {
            return mabd_fail(error, MABD_ERR_ARG, "the segment solver takes chains only");
        }
        *slots += (size_t)c->slot_count;
        for (int32_t k = 0; k < c->slot_count; k++) {
            const int32_t width = plan->slot_width[c->slot_first + k];
            if (width > s->most) s->most = width;
        }
    }
    return MABD_OK;
}

static mabd_status plan_all(const mabd_plan* plan, int32_t count, const int32_t* components,
                            const mabd_allocator* allocator, void* solver, mabd_error* error) {
    mabd_cuda_segments* segments = (mabd_cuda_segments*)solver;
    const mabd_cuda_segments none = {};
    mabd_arena arena = {NULL, 0, 0};
    listing l = {};
    size_t slots = 0;
    *segments = none;
    MABD_TRY(check_chains(plan, count, components, &slots, segments, error));
    lay_lists(slots, (size_t)count, &arena, segments, &l);
    segments->host_size = arena.size = arena.used;
    if (arena.used < SIZE_MAX) arena.memory = (char*)mabd_alloc(allocator, arena.size);
    if (!arena.memory) return mabd_fail_memory(error, "listing segments");
    segments->host_memory = arena.memory, arena.used = 0;
    lay_lists(slots, (size_t)count, &arena, segments, &l);
    list_chains(plan, count, components, &l);
    list_depths(&l, segments);
    segments->slot_count = l.slot_count, segments->own_reals = l.own;
    return MABD_OK;
}

static void layout(void* solver, mabd_arena* arena) {
    mabd_cuda_segments* s = (mabd_cuda_segments*)solver;
    s->slots =
        (mabd_dual_segment_slot*)mabd_arena_take(arena, (size_t)s->slot_count, sizeof *s->slots);
    s->segments = (mabd_dual_segment*)mabd_arena_take(arena, (size_t)s->segment_first[s->depths],
                                                      sizeof *s->segments);
    s->own = (mabd_real*)mabd_arena_take(arena, s->own_reals, sizeof *s->own);
}

static mabd_status upload(void* solver, const mabd_device* device, mabd_error* error) {
    const mabd_cuda_segments* s = (const mabd_cuda_segments*)solver;
    MABD_TRY(MABD_CUDA(device_upload)(device, s->host_slots,
                                      (size_t)s->slot_count * sizeof *s->slots, s->slots, error));
    return MABD_CUDA(device_upload)(device, s->host_segments,
                                    (size_t)s->segment_first[s->depths] * sizeof *s->segments,
                                    s->segments, error);
}

static void release(const mabd_allocator* allocator, void* solver) {
    mabd_cuda_segments* segments = (mabd_cuda_segments*)solver;
    const mabd_cuda_segments none = {};
    mabd_free(allocator, segments->host_memory, segments->host_size);
    *segments = none;
}

// ---- factor and solve ---------------------------------------------------------------------------

template <int most>
__global__ static void __launch_bounds__(THREADS, 1)
    eliminate_segments(CONSTANT mabd_dual_segment_arrays a, int32_t count,
                       const mabd_dual_segment* segments, int32_t* bad) {
    if (INDEX >= count) return;
    const mabd_dual_segment g = segments[INDEX];
    mabd_dual_segment_eliminate(most, &a, &g, bad);
}

__global__ static void __launch_bounds__(THREADS, 1)
    add_shares(CONSTANT mabd_dual_segment_arrays a, int32_t count,
               const mabd_dual_segment* segments) {
    if (INDEX >= count) return;
    const mabd_dual_segment g = segments[INDEX];
    if (g.before) mabd_dual_segment_add_share(&a, &g);
}

template <int most>
__global__ static void __launch_bounds__(THREADS, 1)
    back_segments(CONSTANT mabd_dual_segment_arrays a, int32_t count,
                  const mabd_dual_segment* segments) {
    if (INDEX >= count) return;
    const mabd_dual_segment g = segments[INDEX];
    mabd_dual_segment_back(most, &a, &g);
}

static mabd_dual_segment_arrays arrays_of(const mabd_cuda_segments* s,
                                          const mabd_cuda_dual_system* system, int32_t depth) {
    const mabd_dual_segment_arrays a = {s->slots, system->D, depth > 0 ? s->own : system->U,
                                        system->lambda, s->own};
    return a;
}

static mabd_status factor(void* solver, const mabd_device* device,
                          const mabd_cuda_dual_system* system, int32_t* bad, mabd_error* error) {
    const mabd_cuda_segments* s = (const mabd_cuda_segments*)solver;
    for (int32_t depth = 0; depth < s->depths; depth++) {
        const mabd_dual_segment_arrays a = arrays_of(s, system, depth);
        const int32_t first = s->segment_first[depth];
        const int32_t count = s->segment_first[depth + 1] - first;
        LAUNCH_MOST(device, "factor", eliminate_segments, s->most, count, a, count,
                    s->segments + first, bad);
        if (depth + 1 == s->depths) break; // no chain of this depth is cut
        LAUNCH_ON(device, "factor", add_shares, count, a, count, s->segments + first);
    }
    return MABD_OK;
}

static mabd_status solve(void* solver, const mabd_device* device,
                         const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                         mabd_dual_report* report, mabd_error* error) {
    const mabd_cuda_segments* s = (const mabd_cuda_segments*)solver;
    (void)goal, (void)report;
    for (int32_t depth = s->depths - 1; depth >= 0; depth--) {
        const int32_t first = s->segment_first[depth];
        const int32_t count = s->segment_first[depth + 1] - first;
        LAUNCH_MOST(device, "solve", back_segments, s->most, count, arrays_of(s, system, depth),
                    count, s->segments + first);
    }
    return MABD_OK;
}

const mabd_cuda_dual_ops MABD_CUDA(dual_segments) = {
    .name = "segments",
    .size = sizeof(mabd_cuda_segments),
    .iterative = false,
    .plan = plan_all,
    .layout = layout,
    .upload = upload,
    .factor = factor,
    .solve = solve,
    .release = release,
};

// SPDX-License-Identifier: Apache-2.0
// K x = b of nets. K is positive definite, D its diagonal blocks. Slots are coloured so that no two
// slots of one colour are coupled; ordered by colour, K = D + L + L'.
//
//   sweep    z = M^-1 r,  M = (D + L) D^-1 (D + L'):
//              y_s = D_s^-1 (r_s - sum K_st y_t)   t of earlier colours; one launch each, rising
//              z_s = y_s - D_s^-1 sum K_st z_t     t of later colours; falling, not for the last
//   gs       x += M^-1 (b - K x)
//   cg       s = K z,  c = r'z / old r'z (0 at first),  p = z + c p,  q = s + c q = K p
//            a = r'z / p'q,  x += a p,  r -= a q
//            (as dual/graph_cg.c; where r meets the goal, b - K x is computed to confirm it)
//
// A thread has one slot and gathers: it reads results of earlier launches and writes only its own
// slot. Each component has its own scalars on the device and stops independently, so its result
// does not depend on the other components. A sum over a component is made over parts, which depend
// on the plan only: one block of threads per part, then one block over the parts. The host checks
// every POLL iterations whether any component is still running; kernels skip the others, so the
// bits do not depend on POLL.
//
// cuSPARSE computes the product where all slots have the same number of rows, else a kernel here.

#include "cuda/dual/nets.h"

#include "cuda/runtime/reduce.h"

extern "C" {
#include "math/block.h"
}

#define NET CONSTANT mabd_cuda_net_data

#define MAX_STALLS 3  // restarts without halving the residual before the iteration ends
#define POLL       16 // iterations between two checks by the host

/// Launch the kernel that is compiled for the width of the slots: 3, 5, or 0 for any width.
#define LAUNCH_BY_WIDTH(what, kernel, count, ...)                                                  \
    do {                                                                                           \
        if (nets->width == 3) {                                                                    \
            LAUNCH_ON(device, what, kernel<3>, count, __VA_ARGS__);                                \
        } else if (nets->width == 5) {                                                             \
            LAUNCH_ON(device, what, kernel<5>, count, __VA_ARGS__);                                \
        } else {                                                                                   \
            LAUNCH_ON(device, what, kernel<0>, count, __VA_ARGS__);                                \
        }                                                                                          \
    } while (0)

// ---- factor -------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    load_blocks(NET net, const mabd_real* D, const mabd_real* U) {
    const int32_t s = INDEX;
    if (s >= net.slot_count) return;
    const int w = net.on.width[s];
    for (int32_t k = net.on.start[s]; k < net.on.start[s + 1]; k++) {
        const int v = net.on.width[net.on.column[k]];
        const mabd_real* from = (net.on.side[k] == 0 ? D : U) + net.on.from[k];
        mabd_real* to = net.A + net.on.at[k];
        const bool turned = net.on.turned[k];
        for (int e = 0; e < w * v; e++) to[e] = from[turned ? e % v * w + e / v : e];
    }
}

template <int fixed>
__global__ static void __launch_bounds__(THREADS, 1)
    factor_blocks(NET net, const mabd_real* D, int32_t* bad) {
    const int32_t s = INDEX;
    if (s >= net.slot_count) return;
    const int w = fixed ? fixed : net.on.width[s];
    mabd_real L[MABD_BLOCK_MAX * MABD_BLOCK_MAX] = {0};
    for (int32_t k = net.on.start[s]; k < net.on.start[s + 1]; k++) {
        if (net.on.side[k] == 0) mabd_block_copy_lower(w, D + net.on.from[k], L);
    }
    bad[net.on.plan_slot[s]] = !mabd_block_ldl(w, L);
    mabd_block_copy_lower(w, L, net.F + net.on.block[s]);
}

mabd_status MABD_CUDA(nets_factor)(void* solver, const mabd_device* device,
                                   const mabd_cuda_dual_system* system, int32_t* bad,
                                   mabd_error* error) {
    const mabd_cuda_nets* nets = (const mabd_cuda_nets*)solver;
    const mabd_cuda_net_data* d = &nets->data;
    LAUNCH_ON(device, "factor", load_blocks, d->slot_count, *d, system->D, system->U);
    LAUNCH_BY_WIDTH("factor", factor_blocks, d->slot_count, *d, system->D, bad);
    return MABD_OK;
}

// ---- rows of blocks -----------------------------------------------------------------------------

enum { EARLIER = -1, LATER = 1, ALL = 2 };

// y (w) -= sum of K_st x_t over the slots t that `which` names: EARLIER or LATER colours, or ALL.
template <int fixed>
__device__ static void sub_blocks(const mabd_cuda_net_data& net, int32_t s, int w, int which,
                                  const mabd_real* x, mabd_real* y) {
    for (int32_t k = net.on.start[s]; k < net.on.start[s + 1]; k++) {
        if (which != ALL && net.on.side[k] != which) continue;
        const int32_t t = net.on.column[k];
        const int v = fixed ? fixed : net.on.width[t];
        mabd_block_sub_mul(w, v, net.A + net.on.at[k], x + net.on.row[t], y);
    }
}

// y = D_s^-1 y
template <int fixed>
__device__ static void solve_block(const mabd_cuda_net_data& net, int32_t s, int w, mabd_real* y) {
    const mabd_real* L = net.F + net.on.block[s];
    mabd_block_solve_l(w, L, y);
    mabd_block_solve_d(w, L, y);
    mabd_block_solve_lt(w, L, y);
}

// s = K x
template <int fixed>
__global__ static void __launch_bounds__(THREADS, 1) multiply(NET net, const mabd_real* x) {
    const int32_t s = INDEX;
    if (s >= net.slot_count) return;
    const int w = fixed ? fixed : net.on.width[s];
    mabd_real y[MABD_BLOCK_MAX] = {0};
    sub_blocks<fixed>(net, s, w, ALL, x, y);
    for (int i = 0; i < w; i++) net.s[net.on.row[s] + i] = -y[i];
}

template <int fixed>
__global__ static void __launch_bounds__(THREADS, 1)
    sweep_forth(NET net, int32_t count, const int32_t* slots) {
    if (INDEX >= count) return;
    const int32_t s = slots[INDEX], row = net.on.row[s];
    if (net.states[net.on.component[s]].phase != MABD_NET_RUNNING) return;
    const int w = fixed ? fixed : net.on.width[s];
    mabd_real y[MABD_BLOCK_MAX] = {0};
    for (int i = 0; i < w; i++) y[i] = net.r[row + i];
    sub_blocks<fixed>(net, s, w, EARLIER, net.z, y);
    solve_block<fixed>(net, s, w, y);
    for (int i = 0; i < w; i++) net.z[row + i] = y[i];
}

template <int fixed>
__global__ static void __launch_bounds__(THREADS, 1)
    sweep_back(NET net, int32_t count, const int32_t* slots) {
    if (INDEX >= count) return;
    const int32_t s = slots[INDEX], row = net.on.row[s];
    if (net.states[net.on.component[s]].phase != MABD_NET_RUNNING) return;
    const int w = fixed ? fixed : net.on.width[s];
    mabd_real y[MABD_BLOCK_MAX] = {0};
    sub_blocks<fixed>(net, s, w, LATER, net.z, y);
    solve_block<fixed>(net, s, w, y);
    for (int i = 0; i < w; i++) net.z[row + i] += y[i];
}

// z = M^-1 r
static mabd_status sweep(const mabd_cuda_nets* nets, const mabd_device* device, mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    const int32_t* first = nets->color_first;
    for (int32_t c = 0; c < nets->color_count; c++) {
        const int32_t count = first[c + 1] - first[c];
        LAUNCH_BY_WIDTH("sweep", sweep_forth, count, *d, count, d->on.order + first[c]);
    }
    for (int32_t c = nets->color_count - 2; c >= 0; c--) {
        const int32_t count = first[c + 1] - first[c];
        LAUNCH_BY_WIDTH("sweep", sweep_back, count, *d, count, d->on.order + first[c]);
    }
    return MABD_OK;
}

// s = K x or K z
static mabd_status product(const mabd_cuda_nets* nets, const mabd_device* device, bool of_x,
                           mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    const mabd_libraries* l = &nets->libraries;
    const mabd_real one = 1, zero = 0;
    if (l->sparse) {
        MABD_LIBRARY_TRY(l->spmv(l->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, nets->matrix,
                                 of_x ? nets->vector_x : nets->vector_z, &zero, nets->vector_s,
                                 CUDA_R_64F, CUSPARSE_SPMV_BSR_ALG1, nets->buffer),
                         "multiplying with a net's matrix");
        return MABD_OK;
    }
    LAUNCH_BY_WIDTH("product", multiply, d->slot_count, *d, of_x ? d->x : d->z);
    return MABD_OK;
}

// ---- sums ---------------------------------------------------------------------------------------

// The larger of two numbers, NaN if either is NaN.
MABD_FN mabd_real larger(mabd_real a, mabd_real b) {
    return b > a || b != b ? b : a;
}

template <bool largest>
__host__ __device__ static inline void combine(mabd_real* a, const mabd_real* b) {
    *a = largest ? larger(*a, *b) : *a + *b;
}

// The sum or the largest over the threads of a block, in their order; valid in the first thread.
template <bool largest> __device__ static mabd_real join(mabd_real own) {
    __shared__ mabd_real shared[THREADS];
    reduce_block<mabd_real, combine<largest>>(shared, own);
    return shared[0];
}

template <bool largest>
__device__ static void end_part(const mabd_cuda_net_data& net, mabd_real own) {
    const mabd_real all = join<largest>(own);
    if (threadIdx.x == 0) net.partial[blockIdx.x] = all;
}

// The sum or the largest over the parts of component blockIdx.x; valid in the first thread.
template <bool largest> __device__ static mabd_real join_parts(const mabd_cuda_net_data& net) {
    const int32_t last = net.on.part_first[blockIdx.x + 1];
    mabd_real own = 0;
    for (int32_t i = net.on.part_first[blockIdx.x] + (int32_t)threadIdx.x; i < last; i += THREADS) {
        own = largest ? larger(own, net.partial[i]) : own + net.partial[i];
    }
    return join<largest>(own);
}

__device__ static bool is_running(const mabd_cuda_net_data& net, int32_t component) {
    return net.states[component].phase == MABD_NET_RUNNING;
}

// |r_s|^2
__device__ static mabd_real square_of(const mabd_cuda_net_data& net, int32_t s) {
    mabd_real square = 0;
    for (int32_t k = net.on.row[s]; k < net.on.row[s + 1]; k++) square += net.r[k] * net.r[k];
    return square;
}

/// Loop over the rows of a part, shared among the threads of the block.
#define FOR_ROWS(k, part)                                                                          \
    for (int32_t k = net.on.row[(part).first] + (int32_t)threadIdx.x; k < net.on.row[(part).last]; \
         k += THREADS)
/// Loop over the slots of a part, shared among the threads of the block.
#define FOR_SLOTS(s, part)                                                                         \
    for (int32_t s = (part).first + (int32_t)threadIdx.x; s < (part).last; s += THREADS)

// ---- the residual -------------------------------------------------------------------------------

// r = b - s, s = K x
__global__ static void __launch_bounds__(THREADS, 1) take_residual(NET net) {
    const mabd_cuda_net_part part = net.on.parts[blockIdx.x];
    if (net.states[part.component].phase == MABD_NET_DONE) return;
    mabd_real own = 0;
    FOR_SLOTS(s, part) {
        for (int32_t k = net.on.row[s]; k < net.on.row[s + 1]; k++) net.r[k] = net.b[k] - net.s[k];
        own = larger(own, square_of(net, s));
    }
    end_part<true>(net, own);
}

MABD_FN bool is_finite(mabd_real x) {
    return x - x == 0;
}

// Continue, restart or end the conjugate gradients of a component, given the residual of b - K x.
MABD_FN void judge(mabd_cuda_net_state* state, const mabd_dual_goal* goal, mabd_real residual) {
    const bool ended = state->phase == MABD_NET_ENDED;
    state->residual = residual;
    state->phase = MABD_NET_DONE;
    if (residual <= goal->tolerance || ended || !is_finite(residual)) return;
    if (state->iterations >= goal->max_iterations) return;
    if (residual <= state->best / 2) {
        state->best = residual;
    } else if (++state->stalls == MAX_STALLS) {
        return;
    }
    state->phase = MABD_NET_RUNNING, state->fresh = 1;
}

__global__ static void __launch_bounds__(THREADS, 1) judge_residuals(NET net, mabd_dual_goal goal) {
    mabd_cuda_net_state* state = &net.states[blockIdx.x];
    if (state->phase == MABD_NET_DONE) return;
    const mabd_real square = join_parts<true>(net);
    if (threadIdx.x == 0) judge(state, &goal, (mabd_real)sqrt(square));
}

// End the iteration of a component, or count one more sweep.
__global__ static void __launch_bounds__(THREADS, 1) judge_sweeps(NET net, mabd_dual_goal goal) {
    mabd_cuda_net_state* state = &net.states[blockIdx.x];
    if (state->phase == MABD_NET_DONE) return;
    const mabd_real square = join_parts<true>(net);
    if (threadIdx.x != 0) return;
    state->residual = (mabd_real)sqrt(square);
    if (state->residual <= goal.tolerance || state->iterations >= goal.max_iterations ||
        !is_finite(state->residual)) {
        state->phase = MABD_NET_DONE;
    } else {
        state->iterations++;
    }
}

// ---- one iteration of conjugate gradients -------------------------------------------------------

// r'z
__global__ static void __launch_bounds__(THREADS, 1) sum_rz(NET net) {
    const mabd_cuda_net_part part = net.on.parts[blockIdx.x];
    if (!is_running(net, part.component)) return;
    mabd_real own = 0;
    FOR_ROWS(k, part) own += net.r[k] * net.z[k];
    end_part<false>(net, own);
}

// c = r'z / old r'z
__global__ static void __launch_bounds__(THREADS, 1) set_beta(NET net) {
    mabd_cuda_net_state* state = &net.states[blockIdx.x];
    if (state->phase != MABD_NET_RUNNING) return;
    const mabd_real rz = join_parts<false>(net);
    if (threadIdx.x != 0) return;
    state->beta = state->fresh ? 0 : rz / state->rz;
    state->rz = rz;
}

// p = z + c p,  q = s + c q, and p'q
__global__ static void __launch_bounds__(THREADS, 1) update_directions(NET net) {
    const mabd_cuda_net_part part = net.on.parts[blockIdx.x];
    if (!is_running(net, part.component)) return;
    const bool fresh = net.states[part.component].fresh;
    const mabd_real beta = net.states[part.component].beta;
    mabd_real own = 0;
    FOR_ROWS(k, part) {
        net.p[k] = fresh ? net.z[k] : net.z[k] + beta * net.p[k];
        net.q[k] = fresh ? net.s[k] : net.s[k] + beta * net.q[k];
        own += net.p[k] * net.q[k];
    }
    end_part<false>(net, own);
}

// a = r'z / p'q; ends where K or M is not positive or a number is not finite.
__global__ static void __launch_bounds__(THREADS, 1) set_alpha(NET net) {
    mabd_cuda_net_state* state = &net.states[blockIdx.x];
    if (state->phase != MABD_NET_RUNNING) return;
    const mabd_real pq = join_parts<false>(net);
    if (threadIdx.x != 0) return;
    if (!(state->rz > 0) || !(pq > 0)) {
        state->phase = MABD_NET_ENDED;
    } else {
        state->alpha = state->rz / pq;
    }
}

// x += a p,  r -= a q, and the largest |r_s|
__global__ static void __launch_bounds__(THREADS, 1) advance(NET net) {
    const mabd_cuda_net_part part = net.on.parts[blockIdx.x];
    if (!is_running(net, part.component)) return;
    const mabd_real alpha = net.states[part.component].alpha;
    mabd_real own = 0;
    FOR_SLOTS(s, part) {
        for (int32_t k = net.on.row[s]; k < net.on.row[s + 1]; k++) {
            net.x[k] += alpha * net.p[k];
            net.r[k] -= alpha * net.q[k];
        }
        own = larger(own, square_of(net, s));
    }
    end_part<true>(net, own);
}

__global__ static void __launch_bounds__(THREADS, 1) count_iteration(NET net, mabd_dual_goal goal) {
    mabd_cuda_net_state* state = &net.states[blockIdx.x];
    if (state->phase != MABD_NET_RUNNING) return;
    const mabd_real square = join_parts<true>(net);
    if (threadIdx.x != 0) return;
    state->iterations++;
    state->fresh = 0;
    if ((mabd_real)sqrt(square) <= goal.tolerance) {
        state->phase = MABD_NET_MET;
    } else if (state->iterations >= goal.max_iterations) {
        state->phase = MABD_NET_ENDED;
    }
}

static mabd_status iterate_once(const mabd_cuda_nets* nets, const mabd_device* device,
                                const mabd_dual_goal* goal, mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    MABD_TRY(sweep(nets, device, error));
    MABD_TRY(product(nets, device, false, error));
    LAUNCH_BLOCKS(device, "iterate", sum_rz, d->part_count, *d);
    LAUNCH_BLOCKS(device, "iterate", set_beta, d->component_count, *d);
    LAUNCH_BLOCKS(device, "iterate", update_directions, d->part_count, *d);
    LAUNCH_BLOCKS(device, "iterate", set_alpha, d->component_count, *d);
    LAUNCH_BLOCKS(device, "iterate", advance, d->part_count, *d);
    LAUNCH_BLOCKS(device, "iterate", count_iteration, d->component_count, *d, *goal);
    return MABD_OK;
}

// ---- one sweep as an iteration ------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1) add_sweep(NET net) {
    const mabd_cuda_net_part part = net.on.parts[blockIdx.x];
    if (!is_running(net, part.component)) return;
    FOR_ROWS(k, part) net.x[k] += net.z[k];
}

static mabd_status sweep_once(const mabd_cuda_nets* nets, const mabd_device* device,
                              const mabd_dual_goal* goal, mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    MABD_TRY(product(nets, device, true, error));
    LAUNCH_BLOCKS(device, "iterate", take_residual, d->part_count, *d);
    LAUNCH_BLOCKS(device, "iterate", judge_sweeps, d->component_count, *d, *goal);
    MABD_TRY(sweep(nets, device, error));
    LAUNCH_BLOCKS(device, "iterate", add_sweep, d->part_count, *d);
    return MABD_OK;
}

// ---- solve --------------------------------------------------------------------------------------

__global__ static void __launch_bounds__(THREADS, 1)
    begin_rows(NET net, const mabd_real* lambda, const mabd_real* guess) {
    const int32_t s = INDEX;
    if (s >= net.slot_count) return;
    const int32_t row = net.on.row[s], from = net.on.plan_row[s];
    for (int32_t i = 0; i < net.on.width[s]; i++) {
        net.b[row + i] = lambda[from + i];
        net.x[row + i] = guess[from + i];
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    begin_states(mabd_cuda_net_state* states, int32_t count, int32_t phase) {
    if (INDEX >= count) return;
    mabd_cuda_net_state state = {};
    state.best = (mabd_real)INFINITY;
    state.phase = phase;
    states[INDEX] = state;
}

__global__ static void __launch_bounds__(THREADS, 1)
    end_rows(NET net, mabd_real* lambda, mabd_real* guess) {
    const int32_t s = INDEX;
    if (s >= net.slot_count) return;
    const int32_t row = net.on.row[s], to = net.on.plan_row[s];
    for (int32_t i = 0; i < net.on.width[s]; i++) {
        lambda[to + i] = guess[to + i] = net.x[row + i];
    }
}

// Count the components in phase RUNNING; one block of threads.
__global__ static void __launch_bounds__(THREADS, 1)
    count_running(const mabd_cuda_net_state* states, int32_t count, int32_t* running) {
    mabd_real own = 0;
    for (int32_t i = (int32_t)threadIdx.x; i < count; i += THREADS) {
        own += states[i].phase == MABD_NET_RUNNING;
    }
    const mabd_real all = join<false>(own);
    if (threadIdx.x == 0) *running = (int32_t)all;
}

// Number of components that are still running. Waits.
static mabd_status poll(const mabd_cuda_nets* nets, const mabd_device* device, int32_t* running,
                        mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    LAUNCH_BLOCKS(device, "iterate", count_running, 1, d->states, d->component_count, d->running);
    MABD_TRY(MABD_CUDA(device_download)(device, d->running, sizeof *running, running, error));
    return MABD_CUDA(device_wait)(device, error);
}

typedef mabd_status iteration(const mabd_cuda_nets* nets, const mabd_device* device,
                              const mabd_dual_goal* goal, mabd_error* error);

// Iterate until no component is running. max_iterations bounds the loop; sweeps need one judgement
// more.
static mabd_status repeat(const mabd_cuda_nets* nets, const mabd_device* device, iteration* once,
                          const mabd_dual_goal* goal, mabd_error* error) {
    int64_t left = (int64_t)goal->max_iterations + 1;
    for (int32_t running = 1; running > 0;) {
        for (int i = 0; i < POLL && left > 0; i++, left--) {
            MABD_TRY(once(nets, device, goal, error));
        }
        MABD_TRY(poll(nets, device, &running, error));
    }
    return MABD_OK;
}

// Conjugate gradients from r = b - K x; repeated where round-off has taken r away from b - K x.
static mabd_status descend(const mabd_cuda_nets* nets, const mabd_device* device,
                           const mabd_dual_goal* goal, mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    for (;;) {
        int32_t running = 0;
        MABD_TRY(product(nets, device, true, error));
        LAUNCH_BLOCKS(device, "iterate", take_residual, d->part_count, *d);
        LAUNCH_BLOCKS(device, "iterate", judge_residuals, d->component_count, *d, *goal);
        MABD_TRY(poll(nets, device, &running, error));
        if (running == 0) return MABD_OK;
        MABD_TRY(repeat(nets, device, iterate_once, goal, error));
    }
}

static mabd_status iterate(mabd_cuda_nets* nets, const mabd_device* device,
                           const mabd_cuda_dual_system* system, const mabd_dual_goal* goal,
                           bool sweeps_only, mabd_dual_report* report, mabd_error* error) {
    const mabd_cuda_net_data* d = &nets->data;
    const int32_t count = d->component_count;
    report->iterations = 0, report->residual = 0;
    if (d->slot_count == 0) return MABD_OK;
    LAUNCH_ON(device, "iterate", begin_rows, d->slot_count, *d, system->lambda, system->guess);
    LAUNCH_ON(device, "iterate", begin_states, count, d->states, count,
              (int32_t)(sweeps_only ? MABD_NET_RUNNING : MABD_NET_MET));
    MABD_TRY(sweeps_only ? repeat(nets, device, sweep_once, goal, error)
                         : descend(nets, device, goal, error));
    LAUNCH_ON(device, "iterate", end_rows, d->slot_count, *d, system->lambda, system->guess);
    MABD_TRY(MABD_CUDA(device_download)(device, d->states, (size_t)count * sizeof *nets->states,
                                        nets->states, error));
    MABD_TRY(MABD_CUDA(device_wait)(device, error));
    for (int32_t i = 0; i < count; i++) {
        report->iterations += nets->states[i].iterations;
        report->residual = larger(report->residual, nets->states[i].residual);
    }
    return MABD_OK;
}

mabd_status MABD_CUDA(nets_solve_gs)(void* solver, const mabd_device* device,
                                     const mabd_cuda_dual_system* system,
                                     const mabd_dual_goal* goal, mabd_dual_report* report,
                                     mabd_error* error) {
    return iterate((mabd_cuda_nets*)solver, device, system, goal, true, report, error);
}

mabd_status MABD_CUDA(nets_solve_pcg)(void* solver, const mabd_device* device,
                                      const mabd_cuda_dual_system* system,
                                      const mabd_dual_goal* goal, mabd_dual_report* report,
                                      mabd_error* error) {
    return iterate((mabd_cuda_nets*)solver, device, system, goal, false, report, error);
}

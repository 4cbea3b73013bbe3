// SPDX-License-Identifier: Apache-2.0
// The tables of stages, and the calls through the table of a simulation: tile by tile, on the
// threads of the pool. Reports of tiles are merged in the order of the tiles.

#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/element/side_share.h"
#include "formulation/affine/element/update.h"
#include "formulation/affine/limits.h"

#include <string.h>

#define ENTRY(isa, result, name, arguments) .name = MABD_STAGE_JOIN(name, isa),
#define TABLE(isa)                          {MABD_STAGE_EACH(ENTRY, isa)},

MABD_ISA_EACH(MABD_STAGE_PROTOTYPES)
static const mabd_affine_isa_table tables[] = {MABD_ISA_EACH(TABLE)};

const mabd_affine_isa_table* mabd_affine_isa_table_of(int32_t isa) {
    return &tables[isa];
}

void mabd_affine_predict_body(mabd_affine_sim* sim, int32_t body) {
    sim->stages->predict_body(sim, body);
}
int32_t mabd_affine_joint_rows(mabd_affine_sim* sim, int32_t body, int32_t side, mabd_vec12* rows) {
    return sim->stages->joint_rows(sim, body, side, rows);
}

// ---- tiles ----

typedef struct tile_job {
    mabd_affine_sim* sim;
    mabd_pool_part part; // processes one tile
    int32_t batches;
    mabd_affine_pass pass;
    bool flag;
    const mabd_real* q;
} tile_job;

static void run_batch(void* context, int32_t batch, int32_t thread) {
    const tile_job* job = context;
    const int64_t tiles = job->sim->packs->tile_count;
    const int64_t first = tiles * batch / job->batches, last = tiles * (batch + 1) / job->batches;
    for (int64_t i = first; i < last; i++) job->part(context, (int32_t)i, thread);
}

// First of `count` items in a part: items other than bodies are divided into as many parts as there
// are tiles.
static int32_t first_in(const mabd_affine_sim* sim, int32_t count, int32_t part) {
    return (int32_t)((int64_t)count * part / sim->packs->tile_count);
}

static void run_tiles(mabd_affine_sim* sim, mabd_pool_part part, tile_job* job) {
    const int32_t tiles = sim->packs->tile_count,
                  most = MABD_BATCHES_PER_THREAD * mabd_pool_threads(sim->pool);
    job->sim = sim, job->part = part;
    job->batches = tiles < most ? tiles : most;
    mabd_pool_run(sim->pool, job->batches, run_batch, job);
}

static void predict_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    (void)thread;
    job->sim->stages->predict(job->sim, job->flag, &job->sim->packs->tiles[tile]);
}

static void predict_halo(void* context, int32_t part, int32_t thread) {
    mabd_affine_sim* sim = ((const tile_job*)context)->sim;
    const int32_t count = sim->packs->halo_count;
    (void)thread;
    sim->stages->predict_halo(sim, first_in(sim, count, part), first_in(sim, count, part + 1));
}

void mabd_affine_predict(mabd_affine_sim* sim) {
    tile_job job = {.flag = !mabd_affine_fuses_predict(sim)};
    run_tiles(sim, predict_tile, &job);
    if (!job.flag && sim->packs->halo_count > 0) run_tiles(sim, predict_halo, &job);
    sim->stages->predict_rest(sim);
}

static void start_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    (void)thread;
    job->sim->stages->start(job->sim, job->pass, &job->sim->packs->tiles[tile]);
}

static void assemble_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    job->sim->stages->assemble(job->sim, job->pass, job->flag, &job->sim->packs->tiles[tile],
                               thread);
}

// Add the shares of sides whose joint was begun in another tile. A joint has at most one of them.
static void add_deferred_shares(void* context, int32_t part, int32_t thread) {
    const mabd_affine_sim* sim = ((const tile_job*)context)->sim;
    const int32_t count = sim->shares->deferred_count, last = first_in(sim, count, part + 1);
    (void)thread;
    for (int32_t i = first_in(sim, count, part); i < last; i++) {
        mabd_affine_add_deferred(sim, &sim->shares->deferred[i]);
    }
}

bool mabd_affine_fuses_predict(const mabd_affine_sim* sim) {
    const mabd_affine_packs* packs = sim->packs;
    return !sim->contacts && packs->unpacked_count == 0 && packs->group_count == 0 &&
           sim->sizes.motor_only == 0 &&
           (int64_t)MABD_HALO_SHARE * packs->halo_count <= sim->model->body_count;
}

// True if tiles must be processed one at a time, in order: contacts append rows, and two bodies add
// to shared blocks, which are zeroed first.
static bool has_order(const mabd_affine_sim* sim) {
    return sim->contacts || sim->shared_edges;
}

void mabd_affine_assemble(mabd_affine_sim* sim, mabd_affine_pass pass) {
    tile_job job = {.pass = pass,
                    .flag = pass == MABD_PASS_FIRST && mabd_affine_fuses_predict(sim)};
    if (sim->sizes.held > 0 && !sim->contacts->condensed.on && pass != MABD_PASS_AGAIN) {
        const mabd_real* stress = pass == MABD_PASS_FIRST ? sim->stress : sim->stress_new;
        memcpy(sim->stress_held, stress, 6 * sim->sizes.held * sizeof *stress);
    }
    if (sim->contacts) sim->contacts->by_body.eliminated.count = 0;
    if (sim->shared_edges) memset(sim->U, 0, sim->sizes.edge_reals * sizeof *sim->U);
    if (sim->packs->unpacked_count + sim->packs->group_count > 0 || sim->contacts) {
        run_tiles(sim, start_tile, &job);
    }
    if (has_order(sim)) {
        job.sim = sim;
        for (int32_t i = 0; i < sim->packs->tile_count; i++) assemble_tile(&job, i, 0);
    } else {
        run_tiles(sim, assemble_tile, &job);
    }
    if (sim->shares->deferred_count > 0) run_tiles(sim, add_deferred_shares, &job);
}

static void update_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    mabd_affine_motion_report* report = &job->sim->packs->motions[tile];
    (void)thread;
    report->rotation = -1, report->rotated_body = report->broken_body = -1;
    report->each = job->sim->sizes.by_copy > 0 ? job->sim->rotations : NULL;
    job->sim->stages->update(job->sim, &job->sim->packs->tiles[tile], report);
}

mabd_affine_motion_report mabd_affine_update(mabd_affine_sim* sim) {
    mabd_affine_motion_report report = {-1, -1, -1, NULL};
    tile_job job = {0};
    run_tiles(sim, update_tile, &job);
    for (int32_t i = 0; i < sim->packs->tile_count; i++) {
        const mabd_affine_motion_report* one = &sim->packs->motions[i];
        if (report.broken_body < 0) report.broken_body = one->broken_body;
        if (one->rotation > report.rotation) {
            report.rotation = one->rotation;
            report.rotated_body = one->rotated_body;
        }
    }
    report.rotation = report.rotation > 0 ? (mabd_real)sqrt(report.rotation) / 2 : 0;
    return report;
}

static void relinearize_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    (void)thread;
    job->sim->packs->motions[tile].broken_body =
        job->sim->stages->relinearize(job->sim, &job->sim->packs->tiles[tile]);
}

bool mabd_affine_relinearize(mabd_affine_sim* sim, int32_t* body) {
    tile_job job = {0};
    run_tiles(sim, relinearize_tile, &job);
    for (int32_t i = 0; i < sim->packs->tile_count; i++) {
        if (sim->packs->motions[i].broken_body < 0) continue;
        *body = sim->packs->motions[i].broken_body;
        return false;
    }
    return true;
}

// Check the joints of a part. Update has checked balls inside segments.
static void check_part(void* context, int32_t part, int32_t thread) {
    const tile_job* job = context;
    const mabd_affine_sim* sim = job->sim;
    const int32_t joints = sim->model->joint_count;
    const int32_t first = first_in(sim, joints, part), last = first_in(sim, joints, part + 1);
    mabd_affine_joint_error* worst = &sim->packs->joint_errors[part];
    (void)thread;
    memset(worst, 0, sizeof *worst);
    worst->joint = -1;
    const bool* inner = sim->packs->joint_inner;
    if (!inner) {
        sim->stages->check(sim, job->q, first, last, worst);
        return;
    }
    for (int32_t i = first; i < last;) {
        const bool* next = memchr(inner + i, false, (size_t)(last - i));
        if (!next) return;
        i = (int32_t)(next - inner);
        const bool* end = memchr(next, true, (size_t)(last - i));
        const int32_t stop = end ? (int32_t)(end - inner) : last;
        sim->stages->check(sim, job->q, i, stop, worst);
        i = stop;
    }
}

mabd_affine_joint_error mabd_affine_check_joints(mabd_affine_sim* sim, const mabd_real* q) {
    mabd_affine_joint_error worst = {0, 0, 0, -1};
    tile_job job = {.q = q};
    run_tiles(sim, check_part, &job);
    for (int32_t i = 0; i < sim->packs->tile_count; i++) {
        mabd_affine_joint_error_add(&worst, &sim->packs->joint_errors[i]);
        if (sim->packs->tiles[i].segment >= 0)
            mabd_affine_joint_error_add(&worst, &sim->packs->inner_errors[i]);
    }
    return worst;
}

// ---- the end of a step ----

static void finish_tile(void* context, int32_t tile, int32_t thread) {
    const tile_job* job = context;
    (void)thread;
    job->sim->stages->finish(job->sim, job->flag, &job->sim->packs->tiles[tile]);
}

static void finish_part(void* context, int32_t part, int32_t thread) {
    const tile_job* job = context;
    const int32_t count = job->sim->packs->ungrouped_count;
    (void)thread;
    job->sim->stages->finish_coordinates(job->sim, job->flag, first_in(job->sim, count, part),
                                         first_in(job->sim, count, part + 1));
}

void mabd_affine_finish(mabd_affine_sim* sim, bool keep_history) {
    tile_job job = {.flag = keep_history};
    if (sim->packs->ungrouped_count > 0) run_tiles(sim, finish_part, &job);
    run_tiles(sim, finish_tile, &job);
    mabd_affine_advance_history(sim, keep_history);
}

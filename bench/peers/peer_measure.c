// SPDX-License-Identifier: Apache-2.0
// Times and judges every engine in the same way; see peer_measure.h.
#include "bench/peers/peer_measure.h"

#include "math/quat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Processor time of this thread: engines run on one, and other load of the machine does not count.
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- measures ----------------------------------------------------------------------------------

static mabd_vec3 point_of(const peer_state* states, int32_t body, const double* anchor) {
    const mabd_vec3 X = mabd_v3_load(anchor);
    if (body == PEER_WORLD) return X;
    const peer_state* s = &states[body];
    return mabd_v3_add(mabd_v3_load(s->position), mabd_q_rotate(mabd_q_load(s->quaternion), X));
}

static double gap_of(const peer_joint* j, const peer_state* states) {
    return mabd_v3_norm(
        mabd_v3_sub(point_of(states, j->b, j->anchor_b), point_of(states, j->a, j->anchor_a)));
}

double peer_gap(const peer_scene* scene, const peer_state* states) {
    double largest = 0;
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const double gap = gap_of(&scene->joints[i], states);
        if (!(gap <= largest)) largest = gap; // NaN is kept
    }
    return largest;
}

bool peer_is_apart(const peer_scene* scene, const peer_state* states) {
    bool apart = false;
    for (int32_t i = 0; !apart && i < scene->joint_count; i++) {
        const peer_joint* j = &scene->joints[i];
        double arms = 0;
        if (j->a != PEER_WORLD) arms += mabd_v3_norm(mabd_v3_load(j->anchor_a));
        if (j->b != PEER_WORLD) arms += mabd_v3_norm(mabd_v3_load(j->anchor_b));
        apart = arms > 0 && gap_of(j, states) > arms;
    }
    return apart;
}

static double kinetic(const peer_body* body, const peer_state* s) {
    const mabd_vec3 v = mabd_v3_load(s->velocity);
    const mabd_quat back = mabd_q_conjugate(mabd_q_load(s->quaternion));
    const mabd_vec3 w = mabd_q_rotate(back, mabd_v3_load(s->angular));
    const double* I = body->inertia;
    return 0.5 * (body->mass * mabd_v3_dot(v, v) + I[0] * w.x * w.x + I[1] * w.y * w.y +
                  I[2] * w.z * w.z);
}

double peer_energy(const peer_scene* scene, const peer_state* states) {
    const mabd_vec3 g = mabd_v3_load(scene->gravity);
    double energy = 0;
    for (int32_t i = 0; i < scene->body_count; i++) {
        const peer_body* body = &scene->bodies[i];
        energy += kinetic(body, &states[i]) -
                  body->mass * mabd_v3_dot(g, mabd_v3_load(states[i].position));
    }
    return energy;
}

static mabd_vec3 centre_of_all(const peer_scene* scene) {
    mabd_vec3 sum = mabd_v3(0, 0, 0);
    double mass = 0;
    for (int32_t i = 0; i < scene->body_count; i++) {
        const peer_body* body = &scene->bodies[i];
        sum = mabd_v3_axpy(body->mass, mabd_v3_load(body->start.position), sum);
        mass += body->mass;
    }
    return mabd_v3_scale(1 / mass, sum);
}

// Pointers to the anchors in the world (count), to be freed; null if memory is short.
static const double** world_anchors(const peer_scene* scene, int32_t* count) {
    const double** anchors = malloc(((size_t)scene->joint_count + 1) * sizeof(*anchors));
    *count = 0;
    for (int32_t i = 0; anchors != NULL && i < scene->joint_count; i++) {
        const peer_joint* j = &scene->joints[i];
        if (j->a == PEER_WORLD) anchors[(*count)++] = j->anchor_a;
        if (j->b == PEER_WORLD) anchors[(*count)++] = j->anchor_b;
    }
    return anchors;
}

double peer_energy_scale(const peer_scene* scene) {
    int32_t count = 0;
    const double** anchors = world_anchors(scene, &count);
    const mabd_vec3 centre = centre_of_all(scene);
    const double g = mabd_v3_norm(mabd_v3_load(scene->gravity));
    double scale = anchors != NULL ? 0 : NAN;
    for (int32_t i = 0; anchors != NULL && i < scene->body_count; i++) {
        const peer_body* body = &scene->bodies[i];
        const mabd_vec3 x = mabd_v3_load(body->start.position);
        double d = count > 0 ? INFINITY : mabd_v3_norm(mabd_v3_sub(x, centre));
        for (int32_t k = 0; k < count; k++) {
            d = fmin(d, mabd_v3_norm(mabd_v3_sub(mabd_v3_load(anchors[k]), x)));
        }
        scale += body->mass * g * d + kinetic(body, &body->start);
    }
    free(anchors);
    return scale;
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct run {
    const peer_engine* engine;
    const peer_scene* scene;
    const peer_limits* limits;
    peer_state* states; // (body_count)
    double* times;      // (steps) of the scene: the fastest of each [s]
    double deadline;    // no step begins later
    double energy_start;
    int64_t rest_steps;  // of the last PEER_REST seconds; 0 = the run is shorter
    double* rest_places; // (body_count x 3) positions when they begin
    peer_result* result;
} run;

static void fail_at(peer_result* result, int64_t step, const char* why) {
    result->failed_step = step;
    snprintf(result->failure, sizeof(result->failure), "%s", why);
}

static void keep_poses(const run* r, int64_t step) {
    const peer_samples* samples = r->limits->samples;
    const int32_t n = r->scene->body_count;
    if (samples == NULL || step % samples->every != 0) return;
    const int64_t k = step / samples->every - 1;
    for (int32_t i = 0; k < samples->count && i < n; i++) {
        const peer_state* s = &r->states[i];
        memcpy(samples->positions + 3 * (k * n + i), s->position, sizeof(s->position));
        if (samples->quaternions == NULL) continue;
        memcpy(samples->quaternions + 4 * (k * n + i), s->quaternion, sizeof(s->quaternion));
    }
}

// Keep the positions at the start of the last PEER_REST seconds, and measure at the end.
static void judge_rest(run* r, int64_t step) {
    const int32_t n = r->scene->body_count;
    const int64_t left = r->scene->steps - step;
    double way = 0;
    if (r->rest_steps == 0 || (left != r->rest_steps && left != 0)) return;
    for (int32_t i = 0; i < n; i++) {
        double* place = r->rest_places + 3 * (int64_t)i;
        const mabd_vec3 now = mabd_v3_load(r->states[i].position);
        way = fmax(way, mabd_v3_norm(mabd_v3_sub(now, mabd_v3_load(place))));
        if (left > 0) mabd_v3_store(now, place);
    }
    if (left == 0) r->result->rest_speed = way / ((double)r->rest_steps * r->scene->h);
}

// Judge the state after step `step` of the first repeat. Numbers of a failed state are not used.
static void judge(run* r, const void* world, int64_t step) {
    peer_result* result = r->result;
    r->engine->get(world, r->states);
    const double gap = peer_gap(r->scene, r->states);
    const double energy = r->engine->own_energy != NULL ? r->engine->own_energy(world)
                                                        : peer_energy(r->scene, r->states);
    if (!isfinite(gap) || !isfinite(energy)) {
        fail_at(result, step, "not finite");
        return;
    }
    const double change = (energy - r->energy_start) / result->energy_scale;
    result->max_gap = fmax(result->max_gap, gap);
    result->energy_error = fmax(result->energy_error, fabs(change));
    result->energy_end = change;
    if (result->apart_step < 0 && peer_is_apart(r->scene, r->states)) result->apart_step = step;
    if (r->engine->own_gap != NULL) {
        result->own_gap = fmax(result->own_gap, r->engine->own_gap(world));
    }
    keep_poses(r, step);
    judge_rest(r, step);
    if (fabs(change) > PEER_EXPLOSION) fail_at(result, step, "exploded");
}

// Do all steps once. The first repeat is judged; later ones do as many steps, and the fastest time
// of each step is kept.
static void run_once(run* r, void* world, bool first) {
    peer_result* result = r->result;
    const int64_t steps = first ? r->scene->steps : result->steps;
    for (int64_t i = 1; i <= steps && result->failed_step != i - 1; i++) {
        if (seconds() > r->deadline) {
            if (first) result->stopped = true;
            return;
        }
        const double start = processor_seconds();
        const char* failure = r->engine->step(world);
        const double time = processor_seconds() - start;
        r->times[i - 1] = first ? time : fmin(time, r->times[i - 1]);
        if (!first) continue;
        result->steps = i;
        if (failure != NULL) fail_at(result, i, failure);
        if (failure == NULL) judge(r, world, i);
    }
}

// Mean over the steps after the warm-up, or over all if there are no more.
static double mean_time(const run* r) {
    const int64_t steps = r->result->steps;
    const int64_t first = steps > PEER_WARM_UP ? PEER_WARM_UP : 0;
    double sum = 0;
    for (int64_t i = first; i < steps; i++) sum += r->times[i];
    return steps > 0 ? sum / (double)(steps - first) : 0;
}

static void run_repeats(run* r, int32_t variant) {
    peer_result* result = r->result;
    const peer_engine* engine = r->engine;
    r->deadline = INFINITY;
    for (int32_t i = 0; i < r->limits->repeats && seconds() < r->deadline; i++) {
        char message[PEER_TEXT_BYTES] = "";
        const double start = seconds();
        void* world = engine->create(engine->context, r->scene, variant, message, sizeof(message));
        if (i == 0) result->build_seconds = seconds() - start;
        if (world == NULL) {
            if (i == 0) fail_at(result, 0, message);
            return;
        }
        if (i == 0 && r->limits->on_built != NULL) r->limits->on_built();
        if (i == 0) r->deadline = seconds() + r->limits->seconds;
        run_once(r, world, i == 0);
        engine->destroy(world);
    }
}

void peer_samples_clear(const peer_samples* samples, int32_t bodies) {
    const int64_t poses = samples != NULL ? (int64_t)samples->count * bodies : 0;
    for (int64_t i = 0; i < 3 * poses; i++) samples->positions[i] = NAN;
    for (int64_t i = 0; i < 4 * poses && samples->quaternions != NULL; i++) {
        samples->quaternions[i] = NAN;
    }
}

static void run_all(run* r, int32_t variant) {
    const peer_scene* scene = r->scene;
    const peer_samples* samples = r->limits->samples;
    peer_samples_clear(samples, scene->body_count);
    for (int32_t i = 0; i < scene->body_count; i++) r->states[i] = scene->bodies[i].start;
    r->energy_start = peer_energy(scene, r->states);
    run_repeats(r, variant);
    r->result->seconds_per_step = mean_time(r);
}

bool peer_measure(const peer_engine* engine, int32_t variant, const peer_scene* scene,
                  const peer_limits* limits, peer_result* result) {
    run r = {.engine = engine, .scene = scene, .limits = limits, .result = result};
    const int64_t rest = (int64_t)llround(PEER_REST / scene->h);
    r.rest_steps = rest < scene->steps ? rest : 0;
    *result = (peer_result){.own_gap = engine->own_gap != NULL ? 0 : -1,
                            .energy_scale = peer_energy_scale(scene),
                            .rest_speed = -1,
                            .apart_step = -1,
                            .failed_step = -1};
    r.states = calloc((size_t)scene->body_count, sizeof(*r.states));
    r.times = calloc((size_t)scene->steps, sizeof(*r.times));
    r.rest_places = calloc(3 * (size_t)scene->body_count, sizeof(*r.rest_places));
    const bool ready = r.states != NULL && r.times != NULL && r.rest_places != NULL &&
                       !isnan(result->energy_scale);
    if (ready) run_all(&r, variant);
    free(r.states);
    free(r.times);
    free(r.rest_places);
    return ready;
}

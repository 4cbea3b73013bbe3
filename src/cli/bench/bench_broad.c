// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_broad.h"

#include "base/clock.h"
#include "base/memory.h"
#include "contact/broad.h"

#include <math.h>

#define LINK   0.1  // [m]
#define RADIUS 0.02 // of links and hubs [m]
#define STEP   0.01 // [s]

typedef struct scene_boxes {
    bench_broad_scene scene;
    int32_t count, capacity, excluded, planes;
    mabd_broad_geom* geoms;
    mabd_broad_box* boxes;
    int32_t (*exclude)[2];
    mabd_broad_plane plane;
} scene_boxes;

static void add(scene_boxes* s, const double* a, const double* b, double radius, bool moving) {
    if (s->count == s->capacity) return;
    const int32_t i = s->count++;
    s->geoms[i] = (mabd_broad_geom){moving ? i : -1, 1, 1, moving};
    for (int k = 0; k < 3; k++) {
        s->boxes[i].lo[k] = (mabd_real)(fmin(a[k], b[k]) - radius);
        s->boxes[i].hi[k] = (mabd_real)(fmax(a[k], b[k]) + radius);
    }
}

static void exclude(scene_boxes* s, int32_t a, int32_t b) {
    if (a >= s->count || b >= s->count) return;
    s->exclude[s->excluded][0] = a;
    s->exclude[s->excluded++][1] = b;
}

// Add a plane below all geoms, as the first geom.
static void add_plane(scene_boxes* s, double height) {
    const double endless[3] = {0, 0, 0};
    s->plane = (mabd_broad_plane){s->count, {0, 0, 1}, (mabd_real)height};
    add(s, endless, endless, INFINITY, false);
    s->planes = 1;
}

// ---- scenes ------------------------------------------------------------------------------------

// z = c cosh(x / c) from its lowest point to a slope of about 2, by arc length: x = c asinh(s / c).
static void hanging_point(double s, double length, double time, double* p) {
    const double c = length / 4;
    p[0] = c * asinh((s - length / 2) / c);
    p[1] = 0.05 * length * sin(6 * s / length + time);
    p[2] = sqrt(c * c + (s - length / 2) * (s - length / 2));
}

static void build_chain(scene_boxes* s, double time) {
    const double length = LINK * s->capacity;
    for (int32_t k = 0; k < s->capacity; k++) {
        double a[3], b[3];
        hanging_point(LINK * k, length, time, a);
        hanging_point(LINK * (k + 1), length, time, b);
        add(s, a, b, RADIUS, true);
        if (k > 0) exclude(s, k - 1, k);
    }
}

// Hubs with a rod to the right and a rod ahead of each.
static void build_net(scene_boxes* s, double time) {
    const int32_t side = (int32_t)sqrt(s->capacity / 3.0);
    add_plane(s, 0.01 * LINK);
    for (int32_t k = 0; k < side * side; k++) {
        const double x = 1.5 * LINK * (k % side), y = 1.5 * LINK * (double)(k / side);
        const double z = RADIUS + 0.002 * sin(x + y + time);
        const double hub[3] = {x, y, z}, right[3] = {x + 1.5 * LINK, y, z};
        const double ahead[3] = {x, y + 1.5 * LINK, z};
        const int32_t first = s->count;
        add(s, hub, hub, 1.2 * RADIUS, true);
        add(s, hub, right, 0.5 * RADIUS, true);
        add(s, hub, ahead, 0.5 * RADIUS, true);
        exclude(s, first, first + 1);
        exclude(s, first, first + 2);
        if (k % side > 0) exclude(s, first - 3 + 1, first);
        if (k >= side) exclude(s, first - 3 * side + 2, first);
    }
}

static double draw(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void build_pile(scene_boxes* s, double time) {
    uint64_t state = 1;
    const double ball = 4.0 / 3 * 3.14159265 * 0.04 * 0.04 * 0.04;
    const double side = cbrt(s->capacity * ball / 0.4);
    add_plane(s, 0.1);
    for (int32_t k = 1; k < s->capacity; k++) {
        double p[3];
        for (int axis = 0; axis < 3; axis++) p[axis] = side * draw(&state) + 0.01 * sin(time + k);
        add(s, p, p, 0.03 + 0.02 * draw(&state), true);
    }
}

// Lanes of 1000 links along x, waves whose crests rest on cylinders of 2 m radius across the lanes.
static void build_cylinders(scene_boxes* s, double time) {
    const int32_t lanes = s->capacity / 1000 + 1;
    add_plane(s, -5);
    for (int32_t k = 0; k < 5; k++) {
        const double a[3] = {20.0 * k + 10, 0, -2}, b[3] = {20.0 * k + 10, 0.3 * lanes, -2};
        add(s, a, b, 2, false);
    }
    for (int32_t k = 0; s->count < s->capacity; k++) {
        const double x = LINK * (k % 1000), y = 0.3 * (double)(k / 1000);
        const double z = 0.5 * cos(0.314159265 * x - 3.14159265) - 0.5 + 0.01 * sin(time);
        const double a[3] = {x, y, z}, b[3] = {x + LINK, y, z};
        add(s, a, b, RADIUS, true);
        if (k % 1000 > 0) exclude(s, s->count - 2, s->count - 1);
    }
}

static void build(scene_boxes* s, double time) {
    static void (*const builders[])(scene_boxes*, double) = {
        [BENCH_BROAD_CHAIN] = build_chain,
        [BENCH_BROAD_NET] = build_net,
        [BENCH_BROAD_PILE] = build_pile,
        [BENCH_BROAD_CYLINDERS] = build_cylinders,
    };
    s->count = s->excluded = s->planes = 0;
    builders[s->scene](s, time);
}

// ---- timing ------------------------------------------------------------------------------------

static mabd_status update(mabd_broad* broad, const scene_boxes* s, mabd_broad_result* found) {
    const mabd_broad_input input = {.geom_count = s->count,
                                    .plane_count = s->planes,
                                    .geoms = s->geoms,
                                    .boxes = s->boxes,
                                    .planes = &s->plane};
    return mabd_broad_update(broad, &input, found, NULL);
}

static mabd_status time_updates(const mabd_allocator* allocator, scene_boxes* s, int32_t repeats,
                                bench_broad_result* result) {
    const mabd_broad_def def = {.geom_capacity = s->count,
                                .body_count = s->count,
                                .exclusion_count = s->excluded,
                                .exclusions = (const int32_t(*)[2])s->exclude};
    mabd_broad* broad;
    mabd_broad_result found = {0};
    MABD_TRY(mabd_broad_create(allocator, &def, &broad));
    mabd_status status = update(broad, s, &found);
    if (status == MABD_ERR_MEMORY)
        status = mabd_broad_reserve(broad, found.count + found.count / 4);
    result->seconds = INFINITY;
    for (int32_t k = 1; k <= repeats && status == MABD_OK; k++) {
        build(s, STEP * k);
        const double start = mabd_clock();
        status = update(broad, s, &found);
        result->seconds = fmin(result->seconds, mabd_clock() - start);
    }
    result->geoms = s->count;
    result->levels = found.level_count;
    result->pairs = found.count;
    result->bytes = mabd_broad_bytes(broad);
    mabd_broad_destroy(broad);
    return status;
}

mabd_status bench_broad_run(bench_broad_scene scene, int32_t geoms, int32_t repeats,
                            bench_broad_result* result) {
    const mabd_allocator allocator = mabd_default_allocator();
    const size_t n = (size_t)geoms, geom_bytes = mabd_bytes(n, sizeof(mabd_broad_geom)),
                 box_bytes = mabd_bytes(n, sizeof(mabd_broad_box)),
                 exclude_bytes = mabd_bytes(2 * n, sizeof(int32_t[2]));
    scene_boxes s = {.scene = scene,
                     .capacity = geoms,
                     .geoms = mabd_alloc(&allocator, geom_bytes),
                     .boxes = mabd_alloc(&allocator, box_bytes),
                     .exclude = mabd_alloc(&allocator, exclude_bytes)};
    mabd_status status = MABD_ERR_MEMORY;
    if (s.geoms != NULL && s.boxes != NULL && s.exclude != NULL) {
        build(&s, 0);
        status = time_updates(&allocator, &s, repeats, result);
    }
    mabd_free(&allocator, s.geoms, geom_bytes);
    mabd_free(&allocator, s.boxes, box_bytes);
    mabd_free(&allocator, s.exclude, exclude_bytes);
    return status;
}

#define X(name, text) text,
static const char* const SCENES[] = {BENCH_BROAD_LIST(X)};
#undef X

mabd_status bench_broad_report(FILE* out, int32_t repeats) {
    fprintf(out, "scene,geoms,levels,pairs,ms,ns_per_geom,bytes_per_geom\n");
    for (int scene = 0; scene < BENCH_BROAD_COUNT; scene++) {
        bench_broad_result r[3];
        int32_t geoms = 10000;
        for (int k = 0; k < 3; k++, geoms *= 10) {
            MABD_TRY(bench_broad_run((bench_broad_scene)scene, geoms, repeats, &r[k]));
            fprintf(out, "%s,%d,%d,%lld,%.4g,%.1f,%.0f\n", SCENES[scene], (int)r[k].geoms,
                    (int)r[k].levels, (long long)r[k].pairs, 1e3 * r[k].seconds,
                    1e9 * r[k].seconds / r[k].geoms, (double)r[k].bytes / r[k].geoms);
            fflush(out);
        }
        // three evenly spaced points: the least squares slope is that through the outer two
        fprintf(out, "# %s: time grows as geoms^%.3f\n", SCENES[scene],
                log(r[2].seconds / r[0].seconds) / log((double)r[2].geoms / r[0].geoms));
    }
    return MABD_OK;
}

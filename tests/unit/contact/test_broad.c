// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/broad*.c: every scene against a comparison of all pairs.
#include "contact/broad.h"

#include "support/counting_allocator.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GEOMS  3000
#define PLANES 8

typedef struct world {
    int32_t n, planes, bodies, excluded, members, exceptions;
    mabd_broad_box box[GEOMS];
    mabd_broad_geom geom[GEOMS];
    mabd_broad_plane plane[PLANES];
    int32_t exclude[GEOMS][2], exception[GEOMS][2];
    int32_t member[3 * GEOMS][2]; // body, group
} world;

static world w;
static uint64_t seed;
static counting_allocator counter;
static mabd_allocator allocator;

static void setup(void) {
    memset(&w, 0, sizeof(w));
    seed = 1;
    counter = (counting_allocator){.fail_at = -1};
    allocator = counting_allocator_make(&counter);
}

static void teardown(void) {
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));
}

TestSuite(broad, .init = setup, .fini = teardown);

// ---- scenes ------------------------------------------------------------------------------------

static int32_t draw_below(int32_t n) {
    return (int32_t)floor((double)(draw_real(&seed) + 1) / 2 * n) % n;
}

static int32_t add_box(mabd_vec3 centre, mabd_vec3 half) {
    const int32_t i = w.n++;
    cr_assert(lt(i32, i, GEOMS));
    w.geom[i] = (mabd_broad_geom){.body = w.bodies++, .category = 1, .mask = 1, .moving = 1};
    const mabd_vec3 lo = mabd_v3_sub(centre, half), hi = mabd_v3_add(centre, half);
    w.box[i] = (mabd_broad_box){{lo.x, lo.y, lo.z}, {hi.x, hi.y, hi.z}};
    return i;
}

static mabd_vec3 cube(double half) {
    return mabd_v3((mabd_real)half, (mabd_real)half, (mabd_real)half);
}

static mabd_real draw_log(double least, double most) {
    return (mabd_real)(least * pow(most / least, ((double)draw_real(&seed) + 1) / 2));
}

static void add_cloud(int32_t count, double size, double least, double most) {
    for (int32_t k = 0; k < count; k++) {
        const mabd_vec3 c = draw_vec3(&seed, (mabd_real)size);
        const mabd_real x = draw_log(least, most), y = draw_log(least, most);
        add_box(c, mabd_v3(x, y, draw_log(least, most)));
    }
}

static void add_chain(int32_t count, mabd_vec3 step, double half) {
    for (int32_t k = 0; k < count; k++) {
        add_box(mabd_v3_scale((mabd_real)(k - count / 2), step), cube(half));
    }
}

static int32_t add_unbounded(void) {
    const int32_t i = add_box(mabd_v3(0, 0, 0), cube(1));
    for (int k = 0; k < 3; k++) w.box[i].lo[k] = -INFINITY, w.box[i].hi[k] = INFINITY;
    w.geom[i].moving = 0;
    return i;
}

static void add_plane(mabd_vec3 normal, double offset) {
    const int32_t geom = add_unbounded();
    w.plane[w.planes++] = (mabd_broad_plane){
        .geom = geom, .normal = {normal.x, normal.y, normal.z}, .offset = (mabd_real)offset};
}

// Bodies of several geoms, fixed ones, categories and excluded pairs.
static void add_rules(void) {
    w.bodies = 1 + w.n / 3;
    for (int32_t i = 0; i < w.n; i++) {
        w.geom[i].body = draw_below(8) == 0 ? -1 : draw_below(w.bodies);
        w.geom[i].moving = draw_below(3) != 0;
        w.geom[i].category = 1u << draw_below(4);
        w.geom[i].mask = (uint32_t)draw_below(16);
    }
    w.excluded = w.n;
    for (int32_t k = 0; k < w.n; k++) {
        // body 0 has more excluded neighbours than a short list holds
        w.exclude[k][0] = draw_below(4) == 0 ? 0 : draw_below(w.bodies + 1) - 1;
        w.exclude[k][1] = draw_below(w.bodies);
    }
}

// Each body is in up to three of seven groups; some pairs are exceptions.
static void add_groups(void) {
    w.members = 0, w.exceptions = w.n;
    for (int32_t body = 0; body < w.bodies; body++) {
        int32_t group = -1;
        for (int k = draw_below(4); k > 0; k--) {
            group += 1 + draw_below(5 - k);
            w.member[w.members][0] = body, w.member[w.members++][1] = group;
        }
    }
    for (int32_t k = 0; k < w.n; k++) {
        w.exception[k][0] = draw_below(w.bodies), w.exception[k][1] = draw_below(w.bodies);
    }
}

// ---- all pairs ---------------------------------------------------------------------------------

static bool is_listed(int32_t count, int32_t (*pairs)[2], int32_t a, int32_t b) {
    for (int32_t k = 0; k < count; k++) {
        if (pairs[k][0] == a && pairs[k][1] == b) return true;
        if (pairs[k][0] == b && pairs[k][1] == a) return true;
    }
    return false;
}

static uint32_t groups_of(int32_t body) {
    uint32_t groups = 0;
    for (int32_t k = 0; k < w.members; k++) {
        if (w.member[k][0] == body) groups |= 1u << w.member[k][1];
    }
    return groups;
}

static bool is_excluded(int32_t a, int32_t b) {
    if (is_listed(w.excluded, w.exclude, a, b)) return true;
    return (groups_of(a) & groups_of(b)) != 0 && !is_listed(w.exceptions, w.exception, a, b);
}

static const mabd_broad_plane* plane_of(int32_t geom) {
    for (int32_t k = 0; k < w.planes; k++) {
        if (w.plane[k].geom == geom) return &w.plane[k];
    }
    return NULL;
}

// The lowest corner of the box over the plane.
static bool reaches(const mabd_broad_plane* plane, const mabd_broad_box* box) {
    mabd_real least = INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        mabd_real height = 0;
        for (int k = 0; k < 3; k++) {
            height += plane->normal[k] * (corner >> k & 1 ? box->hi[k] : box->lo[k]);
        }
        least = height < least ? height : least;
    }
    return least <= plane->offset;
}

static bool meets(int32_t i, int32_t j) {
    for (int k = 0; k < 3; k++) {
        if (w.box[i].lo[k] > w.box[j].hi[k] || w.box[j].lo[k] > w.box[i].hi[k]) return false;
    }
    const mabd_broad_plane *a = plane_of(i), *b = plane_of(j);
    if (a != NULL && isfinite(w.box[j].lo[0])) return reaches(a, &w.box[j]);
    if (b != NULL && isfinite(w.box[i].lo[0])) return reaches(b, &w.box[i]);
    return true;
}

static bool is_wanted(int32_t i, int32_t j) {
    const mabd_broad_geom *a = &w.geom[i], *b = &w.geom[j];
    return (a->moving || b->moving) && a->body != b->body && (a->category & b->mask) != 0 &&
           (b->category & a->mask) != 0 && meets(i, j) && !is_excluded(a->body, b->body);
}

static mabd_broad_input input_of_world(void) {
    return (mabd_broad_input){.geom_count = w.n,
                              .plane_count = w.planes,
                              .geoms = w.geom,
                              .boxes = w.box,
                              .planes = w.plane};
}

static mabd_status create(int32_t pairs, mabd_broad** broad) {
    const mabd_broad_def def = {.geom_capacity = w.n,
                                .body_count = w.bodies,
                                .pair_capacity = pairs,
                                .exclusion_count = w.excluded,
                                .exclusions = (const int32_t(*)[2])w.exclude,
                                .member_count = w.members,
                                .members = (const int32_t(*)[2])w.member,
                                .exception_count = w.exceptions,
                                .exceptions = (const int32_t(*)[2])w.exception};
    return mabd_broad_create(&allocator, &def, broad);
}

static mabd_broad_result update(mabd_broad* broad) {
    const mabd_broad_input input = input_of_world();
    mabd_broad_result result;
    mabd_error error = {0};
    mabd_status status = mabd_broad_update(broad, &input, &result, &error);
    if (status == MABD_ERR_MEMORY) {
        cr_assert(eq(int, mabd_broad_reserve(broad, result.count), MABD_OK));
        status = mabd_broad_update(broad, &input, &result, &error);
    }
    if (status != MABD_OK) cr_fatal("%s", error.text);
    return result;
}

// Expect the broad phase to find the pairs of a comparison of all boxes with all, in order.
static int64_t compare(const char* name, int32_t levels_least) {
    mabd_broad* broad;
    cr_assert(eq(int, create(0, &broad), MABD_OK));
    const mabd_broad_result r = update(broad);
    int64_t at = 0;
    for (int32_t i = 0; i < w.n; i++) {
        for (int32_t j = i + 1; j < w.n; j++) {
            if (!is_wanted(i, j)) continue;
            if (at >= r.count || r.pairs[at].i != i || r.pairs[at].j != j) {
                cr_fatal("%s: pair %lld should be (%d, %d), is (%d, %d) of %lld", name,
                         (long long)at, (int)i, (int)j, at < r.count ? (int)r.pairs[at].i : -1,
                         at < r.count ? (int)r.pairs[at].j : -1, (long long)r.count);
            }
            at++;
        }
    }
    if (at != r.count) cr_fatal("%s: %lld pairs too many", name, (long long)(r.count - at));
    cr_assert(ge(i32, r.level_count, levels_least), "%s: %d levels", name, (int)r.level_count);
    mabd_broad_destroy(broad);
    return at;
}

// ---- tests -------------------------------------------------------------------------------------

Test(broad, none_and_one) {
    cr_assert(eq(i64, compare("none", 0), 0));
    add_cloud(1, 1, 0.1, 1);
    cr_assert(eq(i64, compare("one", 1), 0));
    add_cloud(1, 0, 0.1, 1);
    cr_assert(eq(i64, compare("two", 1), 1));
}

Test(broad, clouds_of_all_sizes) {
    const double sizes[] = {0.01, 0.1, 1, 10, 1e3, 1e6};
    for (int k = 0; k < 6; k++) {
        for (int spread = 0; spread < 4; spread++) {
            w.n = w.bodies = 0;
            seed = (uint64_t)(10 * k + spread);
            add_cloud(600, sizes[k], 0.02, 0.02 * pow(40, spread));
            compare("cloud", 1);
        }
    }
}

Test(broad, sizes_over_five_decades) {
    for (int round = 0; round < 5; round++) {
        w.n = w.bodies = 0;
        add_cloud(900, 10, 1e-4, 10);
        cr_assert(lt(i64, 1000, compare("five decades", 10)));
    }
}

// From about a thousand geoms on, a sample chooses the axes of keys and merges levels.
Test(broad, sampled_grids) {
    const mabd_vec3 flat[] = {mabd_v3(1, 0, 0), mabd_v3(0, 1, 1), mabd_v3(1, 0, 1),
                              mabd_v3(1, 1, 1)};
    for (int k = 0; k < 4; k++) {
        for (int spread = 0; spread < 3; spread++) {
            w.n = w.bodies = 0;
            for (int m = 0; m < 2500; m++) {
                const mabd_vec3 at = draw_vec3(&seed, k == 0 ? 400 : k == 3 ? 2 : 8);
                const mabd_vec3 f = flat[k], p = mabd_v3(f.x * at.x, f.y * at.y, f.z * at.z);
                add_box(mabd_v3_add(p, draw_vec3(&seed, (mabd_real)0.1)),
                        cube((double)draw_log(0.05, 0.1 * (1 + spread * spread))));
            }
            cr_assert(lt(i64, 300, compare("sampled", 1)));
        }
    }
    w.n = w.bodies = 0;
    add_cloud(1700, 10, 1e-3, 5);
    add_chain(1200, mabd_v3((mabd_real)0.05, 0, (mabd_real)0.02), 0.02);
    cr_assert(lt(i64, 1000, compare("sampled decades", 2)));
}

Test(broad, more_sizes_than_levels) {
    for (int octave = -60; octave < 60; octave++) {
        for (int k = 0; k < 6; k++) {
            const double half = ldexp(1, octave);
            add_box(draw_vec3(&seed, (mabd_real)(4 * half)), cube(half));
        }
    }
    cr_assert(lt(i64, 1000, compare("120 octaves", 32)));
}

Test(broad, lines_along_and_across_the_axes) {
    const mabd_vec3 steps[] = {mabd_v3(1, 0, 0),  mabd_v3(0, 1, 0),  mabd_v3(0, 0, -1),
                               mabd_v3(1, 1, 1),  mabd_v3(-1, 1, 0), mabd_v3(1, -1, 2),
                               mabd_v3(0, -1, -1)};
    for (int k = 0; k < 7; k++) {
        const int longest = k == 5 ? 2 : 1;
        for (int half = 1; half < 5; half++) {
            w.n = w.bodies = 0;
            add_chain(700, mabd_v3_scale((mabd_real)0.1, steps[k]), 0.03 * half);
            cr_assert(eq(i64, compare("line", 1) > 0, 6 * half > 10 * longest));
        }
    }
}

Test(broad, boxes_that_just_touch) {
    // integers: the faces are equal to the last bit, in cells of any size
    for (int half = 1; half < 4; half++) {
        w.n = w.bodies = 0;
        for (int k = 0; k < 9 * 9 * 9; k++) {
            const mabd_vec3 at = mabd_v3((mabd_real)(k % 9 - 4), (mabd_real)(k / 9 % 9 - 4),
                                         (mabd_real)(k / 81 - 4));
            add_box(mabd_v3_scale((mabd_real)(2 * half), at), cube(half));
        }
        // neighbours of a 9^3 block over faces, edges and corners: (25^3 - 9^3) / 2
        cr_assert(eq(i64, compare("touching", 1), (25 * 25 * 25 - 729) / 2));
    }
}

Test(broad, boxes_in_one_place) {
    for (int k = 0; k < 200; k++) add_box(mabd_v3(-3, 2, 1), cube(0.5));
    cr_assert(eq(i64, compare("coincident", 1), 200 * 199 / 2));
    for (int k = 0; k < 100; k++) add_box(mabd_v3(-3, 2, 1), cube(0));
    cr_assert(eq(i64, compare("coincident points", 2), 300 * 299 / 2));
}

Test(broad, points) {
    for (int k = 0; k < 500; k++) {
        add_box(draw_vec3(&seed, 100), cube(0));
        if (k % 5 == 0) add_box(mabd_v3(w.box[k].lo[0], w.box[k].lo[1], w.box[k].lo[2]), cube(0));
    }
    cr_assert(ge(i64, compare("points", 1), 100));
}

Test(broad, clusters_and_flat_boxes) {
    for (int cluster = 0; cluster < 6; cluster++) {
        const mabd_vec3 c = draw_vec3(&seed, 1000);
        for (int k = 0; k < 150; k++) {
            const mabd_vec3 at = mabd_v3_add(c, draw_vec3(&seed, 1));
            add_box(at, mabd_v3((mabd_real)0.3, (mabd_real)0.01, (mabd_real)(cluster * 0.1)));
        }
    }
    cr_assert(lt(i64, 100, compare("clusters", 1)));
}

Test(broad, far_from_everything) {
    // keys of these cells do not fit; several clusters, and strays beyond the last cell
    const double far[] = {1e5, 1e7, 1e9, 1e12, 1e15, 1e30, 1e300};
    for (int k = 0; k < 7; k++) {
        if (far[k] > 1e37 && sizeof(mabd_real) == sizeof(float)) continue;
        w.n = w.bodies = 0;
        add_cloud(300, 1, 0.05, 0.15);
        for (int corner = 0; corner < 8; corner++) {
            const mabd_vec3 c = mabd_v3((mabd_real)(corner & 1 ? far[k] : -far[k]),
                                        (mabd_real)(corner & 2 ? far[k] : -far[k]),
                                        (mabd_real)(corner & 4 ? far[k] : -far[k]));
            for (int m = 0; m < 30; m++) {
                add_box(mabd_v3_add(c, draw_vec3(&seed, 1)), cube((double)draw_log(0.05, 0.15)));
            }
        }
        cr_assert(lt(i64, 100, compare("far", 1)));
    }
}

Test(broad, masks_bodies_and_exclusions) {
    for (int round = 0; round < 10; round++) {
        w.n = w.bodies = 0;
        add_cloud(700, 2, 0.05, 1.5);
        const int64_t all = (w.excluded = 0, compare("no rules", 1));
        add_rules();
        const int64_t some = compare("rules", 1);
        cr_assert(lt(i64, 200, some));
        cr_assert(lt(i64, some, all));
    }
}

Test(broad, groups_and_exceptions) {
    for (int round = 0; round < 10; round++) {
        w.n = w.bodies = w.members = w.exceptions = 0;
        add_cloud(500, 2, 0.05, 1.5);
        add_rules();
        const int64_t some = compare("rules", 1);
        add_groups();
        const int64_t fewer = (w.exceptions = 0, compare("groups", 1));
        w.exceptions = w.n;
        const int64_t again = compare("groups and exceptions", 1);
        cr_assert(lt(i64, 50, fewer));
        cr_assert(lt(i64, fewer, again));
        cr_assert(lt(i64, again, some));
    }
}

Test(broad, jointed_neighbours_of_a_chain) {
    add_chain(1000, mabd_v3((mabd_real)0.1, 0, 0), 0.06);
    w.excluded = 999;
    for (int32_t k = 0; k < 999; k++) w.exclude[k][0] = k + 1, w.exclude[k][1] = k;
    cr_assert(eq(i64, compare("excluded chain", 1), 0));
    w.excluded = 500; // only the first half is jointed
    cr_assert(eq(i64, compare("half a chain", 1), 499));
}

Test(broad, bodies_jointed_to_the_surroundings) {
    add_chain(300, mabd_v3((mabd_real)0.1, 0, 0), 0.04);
    const int32_t ground = add_box(mabd_v3(0, 0, 0), mabd_v3(100, 1, 1));
    w.geom[ground].body = -1, w.geom[ground].moving = 0;
    w.excluded = 1;
    w.exclude[0][0] = 250, w.exclude[0][1] = -1;
    cr_assert(eq(i64, compare("jointed to the ground", 2), 299));
}

Test(broad, large_and_small) {
    // big fixed geoms among small moving ones, which do not meet each other
    add_chain(900, mabd_v3((mabd_real)0.1, 0, (mabd_real)0.01), 0.04);
    for (int k = 0; k < 12; k++) {
        const int32_t i = add_box(draw_vec3(&seed, 40), cube(pow(1.6, k) * 0.2));
        w.geom[i].moving = 0;
    }
    const int64_t pairs = compare("large and small", 5);
    cr_assert(lt(i64, 300, pairs));
}

Test(broad, thick_and_short_among_long_and_thin) {
    // the coarser boxes are far thinner than the finer ones
    for (int k = 0; k < 400; k++) {
        const mabd_real thin = (mabd_real)0.05;
        add_box(draw_vec3(&seed, 6), k % 2 ? mabd_v3(2, thin, thin) : cube(0.4));
    }
    cr_assert(lt(i64, 100, compare("thick and thin", 2)));
}

Test(broad, planes_and_endless_geoms) {
    add_plane(mabd_v3(0, 0, 2), -1);
    add_cloud(500, 3, 0.05, 1);
    add_plane(mabd_v3(1, -1, (mabd_real)0.5), 0.25);
    const int32_t rod = add_unbounded(); // along x, moving
    w.box[rod].lo[1] = w.box[rod].lo[2] = (mabd_real)-0.2;
    w.box[rod].hi[1] = w.box[rod].hi[2] = (mabd_real)0.3;
    w.geom[rod].moving = 1;
    add_cloud(300, 3, 0.05, 1);
    add_plane(mabd_v3(-1, 0, 0), 100);
    const int64_t pairs = compare("planes", 1);
    cr_assert(lt(i64, 1500, pairs));
    add_rules();
    cr_assert(lt(i64, 200, compare("planes and rules", 1)));
}

Test(broad, a_plane_touches_bodies_that_rest_on_it) {
    for (int k = 0; k < 50; k++) {
        add_box(mabd_v3((mabd_real)(3 * k), 0, k % 2 ? 1 : (mabd_real)1.0000001), cube(1));
    }
    add_plane(mabd_v3(0, 0, 1), 0);
    cr_assert(eq(i64, compare("standing", 1), 25));
}

static int compare_pairs(const void* a, const void* b) {
    const mabd_broad_pair *p = a, *q = b;
    return p->i != q->i ? (p->i > q->i) - (p->i < q->i) : (p->j > q->j) - (p->j < q->j);
}

Test(broad, another_order_of_geoms_gives_the_same_pairs) {
    static int32_t order[GEOMS], back[GEOMS];
    add_cloud(1500, 4, 0.01, 1);
    add_rules();
    const world before = w;
    mabd_broad* broad;
    cr_assert(eq(int, create(0, &broad), MABD_OK));
    mabd_broad_result r = update(broad);
    const size_t bytes = (size_t)r.count * sizeof(mabd_broad_pair);
    const int64_t count = r.count;
    mabd_broad_pair *first = malloc(bytes), *second = malloc(bytes);
    memcpy(first, r.pairs, bytes);

    r = update(broad); // same input, same bits
    cr_assert(eq(i64, r.count, count));
    cr_assert(eq(int, memcmp(first, r.pairs, bytes), 0));

    for (int32_t k = 0; k < w.n; k++) order[k] = k;
    for (int32_t k = w.n - 1; k > 0; k--) {
        const int32_t other = draw_below(k + 1), held = order[k];
        order[k] = order[other], order[other] = held;
    }
    for (int32_t k = 0; k < w.n; k++) {
        w.box[k] = before.box[order[k]], w.geom[k] = before.geom[order[k]];
        back[k] = order[k];
    }
    r = update(broad);
    cr_assert(eq(i64, r.count, count));
    for (int64_t k = 0; k < count; k++) {
        const int32_t i = back[r.pairs[k].i], j = back[r.pairs[k].j];
        second[k] = (mabd_broad_pair){i < j ? i : j, i < j ? j : i};
    }
    qsort(second, (size_t)count, sizeof(*second), compare_pairs);
    cr_assert(eq(int, memcmp(first, second, bytes), 0));
    free(first), free(second);
    mabd_broad_destroy(broad);
}

Test(broad, says_how_much_room_it_needs_and_allocates_nothing_then) {
    add_cloud(800, 1, 0.05, 0.4);
    const int64_t wanted = compare("room", 1);
    mabd_broad* broad;
    cr_assert(eq(int, create(5, &broad), MABD_OK));
    const mabd_broad_input input = input_of_world();
    mabd_broad_result r;
    mabd_error error = {0};
    cr_assert(eq(int, mabd_broad_update(broad, &input, &r, &error), MABD_ERR_MEMORY));
    cr_assert(eq(i64, r.count, wanted));
    cr_assert(eq(ptr, (void*)r.pairs, NULL));
    cr_assert(ne(chr, error.text[0], 0));
    const size_t before = mabd_broad_bytes(broad);
    cr_assert(eq(int, mabd_broad_reserve(broad, r.count), MABD_OK));
    cr_assert(ge(sz, mabd_broad_bytes(broad), before + 16 * (size_t)(wanted - 5) - 128));
    cr_assert(eq(i64, counter.live_bytes, (int64_t)mabd_broad_bytes(broad)));

    const int64_t calls = counter.calls;
    for (int round = 0; round < 20; round++) {
        for (int32_t i = 0; i < w.n; i++) {
            const mabd_real by = (mabd_real)0.02 * draw_real(&seed);
            w.box[i].lo[round % 3] += by, w.box[i].hi[round % 3] += by;
        }
        const mabd_status status = mabd_broad_update(broad, &input, &r, &error);
        cr_assert(status == MABD_OK || r.count > wanted);
    }
    cr_assert(eq(i64, counter.calls, calls));
    mabd_broad_destroy(broad);
}

Test(broad, every_allocation_failing_in_turn) {
    add_cloud(100, 1, 0.05, 0.4);
    add_rules();
    int fails = 0;
    for (;; fails++) {
        counter.calls = 0;
        counter.fail_at = fails;
        mabd_broad* broad;
        mabd_status status = create(1, &broad);
        if (status == MABD_OK) {
            const size_t bytes = mabd_broad_bytes(broad);
            status = mabd_broad_reserve(broad, 100000);
            if (status != MABD_OK) cr_assert(eq(sz, mabd_broad_bytes(broad), bytes));
            mabd_broad_destroy(broad);
        } else {
            cr_assert(eq(ptr, broad, NULL));
        }
        cr_assert(eq(i64, counter.live_blocks, 0));
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
    }
    cr_assert(ge(int, fails, 7));
}

Test(broad, refuses_bad_boxes_and_names_them) {
    add_cloud(100, 1, 0.05, 0.4);
    mabd_broad* broad;
    cr_assert(eq(int, create(100 * 100, &broad), MABD_OK));
    const mabd_broad_input input = input_of_world();
    const mabd_real bad[][2] = {{NAN, 1},
                                {-1, NAN},
                                {1, (mabd_real)0.999999},
                                {INFINITY, INFINITY},
                                {-INFINITY, -INFINITY}};
    for (int k = 0; k < 15; k++) {
        const int32_t geom = 99 - 6 * k;
        const mabd_broad_box saved = w.box[geom];
        w.box[geom].lo[k % 3] = bad[k / 3][0], w.box[geom].hi[k % 3] = bad[k / 3][1];
        mabd_broad_result r;
        mabd_error error = {0};
        cr_assert(eq(int, mabd_broad_update(broad, &input, &r, &error), MABD_ERR_ARG));
        cr_assert(eq(i32, r.bad_geom, geom));
        cr_assert(eq(i32, error.body, w.geom[geom].body));
        cr_assert(eq(int, mabd_broad_update(broad, &input, &r, NULL), MABD_ERR_ARG));
        w.box[geom] = saved;
    }
    mabd_broad_destroy(broad);
}

static int32_t refused_plane(mabd_broad* broad, mabd_broad_plane plane, int32_t count) {
    mabd_broad_input input = input_of_world();
    const mabd_broad_plane planes[2] = {plane, plane};
    input.plane_count = count, input.planes = planes;
    mabd_broad_result r;
    const mabd_status status = mabd_broad_update(broad, &input, &r, NULL);
    cr_assert(eq(int, status, MABD_ERR_ARG));
    return r.bad_geom;
}

Test(broad, refuses_bad_planes_and_definitions) {
    add_cloud(5, 1, 0.05, 0.4);
    const int32_t g = add_unbounded();
    mabd_broad* broad;
    cr_assert(eq(int, create(100, &broad), MABD_OK));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){2, {0, 0, 1}, 0}, 1), 2));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){g, {0, 0, 0}, 0}, 1), g));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){g, {0, NAN, 0}, 0}, 1), g));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){g, {0, 0, 1}, INFINITY}, 1), g));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){-1, {0, 0, 1}, 0}, 1), -1));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){w.n, {0, 0, 1}, 0}, 1), -1));
    cr_assert(eq(i32, refused_plane(broad, (mabd_broad_plane){g, {0, 0, 1}, 0}, 2), -1));
    add_cloud(1, 1, 1, 1); // one more than there is room for
    const mabd_broad_input input = input_of_world();
    mabd_broad_result r;
    cr_assert(eq(int, mabd_broad_update(broad, &input, &r, NULL), MABD_ERR_ARG));
    mabd_broad_destroy(broad);

    w.excluded = 1;
    w.exclude[0][1] = w.bodies;
    cr_assert(eq(int, create(0, &broad), MABD_ERR_ARG));
    w.exclude[0][1] = -2;
    cr_assert(eq(int, create(0, &broad), MABD_ERR_ARG));
    w.exclude[0][1] = -1;
    cr_assert(eq(int, create(-1, &broad), MABD_ERR_ARG));
    w.members = 2; // twice body 0 in group 0
    cr_assert(eq(int, create(0, &broad), MABD_ERR_ARG));
    w.member[1][0] = w.bodies;
    cr_assert(eq(int, create(0, &broad), MABD_ERR_ARG));
    w.members = 0;
    cr_assert(eq(int, create(0, &broad), MABD_OK));
    mabd_broad_destroy(broad);
    mabd_broad_destroy(NULL);
}

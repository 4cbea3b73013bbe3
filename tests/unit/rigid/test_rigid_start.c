// SPDX-License-Identifier: Apache-2.0
// Tests for src/rigid/start.c: velocities and poses that the joints allow, in the mass metric.
//
// Oracle for velocities: a free chain of bodies has the freedoms of the chain as a whole and those
// of its joints, each a motion of all bodies behind the joint. With these motions as columns of N,
//   u* = N (N' M N)^-1 N' M u
// is the nearest allowed velocity. N comes from the geometry of the scene; nothing of J or K is in
// it. Poses: distances of anchors from the poses of the result.
#include "rigid/start.h"

#include "math/quat.h"
#include "support/draw.h"
#include "support/rig.h"

#define BODIES  6
#define COLUMNS 32

// World quantities of a chain in its closed pose.
typedef struct chain {
    mabd_model* model;
    mabd_vec3 x[BODIES], anchor[BODIES], axis[BODIES]; // joint i is between i - 1 and i
    mabd_quat turn[BODIES];
    double mass[BODIES], size[BODIES][3];
    mabd_joint type[BODIES];
} chain;

// Velocities of the centres and angular velocities, world.
typedef struct motion {
    mabd_vec3 v[BODIES], w[BODIES];
} motion;

static double draw_between(uint64_t* state, double low, double high) {
    return low + (high - low) * (1 + draw_real(state)) / 2;
}

static void add_joint(mabd_scene* scene, const chain* c, int i) {
    mabd_joint_def def = mabd_default_joint_def();
    mabd_error error = {0};
    mabd_real axis[3];
    def.type = c->type[i], def.a = i - 1, def.b = i;
    mabd_v3_store(c->anchor[i], def.anchor), mabd_v3_store(c->axis[i], axis);
    cr_assert(mabd_frame_from_axes(axis, NULL, def.frame));
    rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
}

// A random free chain with joints of five types.
static chain make_chain(uint64_t* state) {
    static const mabd_joint types[BODIES] = {MABD_JOINT_FREE,        MABD_JOINT_HINGE,
                                             MABD_JOINT_BALL,        MABD_JOINT_PRISMATIC,
                                             MABD_JOINT_CYLINDRICAL, MABD_JOINT_FIXED};
    mabd_scene* scene = rig_scene(0);
    chain c;
    for (int i = 0; i < BODIES; i++) {
        const mabd_vec3 way = draw_vec3(state, 1);
        mabd_body_def body = mabd_default_body_def();
        c.type[i] = types[i];
        c.axis[i] = draw_direction(state);
        c.x[i] = mabd_v3_axpy(1, way, i > 0 ? c.x[i - 1] : mabd_v3(0, 0, 0));
        c.anchor[i] = mabd_v3_add(c.x[i], draw_vec3(state, 0.5));
        c.turn[i] = mabd_q_axis_angle(c.axis[i], draw_between(state, 0, 3));
        for (int k = 0; k < 3; k++) c.size[i][k] = draw_between(state, 0.1, 0.5);
        c.mass[i] = 1000 * c.size[i][0] * c.size[i][1] * c.size[i][2];
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, c.size[i], 1000);
        body.geom_count = 1, body.geoms = &geom;
        mabd_v3_store(c.x[i], body.position), mabd_q_store(c.turn[i], body.rotation);
        rig_add_body(scene, &body);
        if (i > 0) add_joint(scene, &c, i);
    }
    c.model = rig_model(scene);
    return c;
}

// ---- oracle ------------------------------------------------------------------------------------

// M of a body times (v, w), dotted with (v2, w2).
static double mass_dot(const chain* c, const motion* a, const motion* b) {
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        const double* s = c->size[i];
        const mabd_mat3 R = mabd_q_matrix(c->turn[i]);
        const mabd_vec3 wa = mabd_m3_tmul(R, a->w[i]), wb = mabd_m3_tmul(R, b->w[i]);
        sum += c->mass[i] * mabd_v3_dot(a->v[i], b->v[i]);
        for (int k = 0; k < 3; k++) {
            const double p = s[(k + 1) % 3], q = s[(k + 2) % 3];
            sum += c->mass[i] * (p * p + q * q) / 12 * mabd_v3_get(wa, k) * mabd_v3_get(wb, k);
        }
    }
    return sum;
}

// Add a motion of the bodies from `first` on: a rotation w about a point, and a translation v.
static void add_column(const chain* c, motion* N, int* count, int first, mabd_vec3 point,
                       mabd_vec3 w, mabd_vec3 v) {
    motion* n = &N[(*count)++];
    memset(n, 0, sizeof *n);
    for (int i = first; i < BODIES; i++) {
        n->w[i] = w;
        n->v[i] = mabd_v3_add(v, mabd_v3_cross(w, mabd_v3_sub(c->x[i], point)));
    }
}

static int freedoms(const chain* c, motion* N) {
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    int count = 0;
    for (int i = 0; i < BODIES; i++) {
        const bool whole = i == 0;
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
            if (whole) add_column(c, N, &count, i, zero, zero, e);
            if (whole || c->type[i] == MABD_JOINT_BALL) {
                add_column(c, N, &count, i, c->anchor[i], e, zero);
            }
        }
        if (c->type[i] == MABD_JOINT_HINGE || c->type[i] == MABD_JOINT_CYLINDRICAL) {
            add_column(c, N, &count, i, c->anchor[i], c->axis[i], zero);
        }
        if (c->type[i] == MABD_JOINT_PRISMATIC || c->type[i] == MABD_JOINT_CYLINDRICAL) {
            add_column(c, N, &count, i, zero, zero, c->axis[i]);
        }
    }
    return count;
}

// Make the columns orthonormal in the mass metric and project: modified Gram-Schmidt, twice.
static motion project(const chain* c, const motion* u) {
    motion N[COLUMNS], out;
    const int count = freedoms(c, N);
    memset(&out, 0, sizeof out);
    for (int k = 0; k < count; k++) {
        for (int j = 0; j < 2 * k; j++) {
            const double s = -mass_dot(c, &N[j % k], &N[k]);
            for (int i = 0; i < BODIES; i++) {
                N[k].v[i] = mabd_v3_axpy(s, N[j % k].v[i], N[k].v[i]);
                N[k].w[i] = mabd_v3_axpy(s, N[j % k].w[i], N[k].w[i]);
            }
        }
        const double over = 1 / sqrt(mass_dot(c, &N[k], &N[k]));
        for (int i = 0; i < BODIES; i++) {
            N[k].v[i] = mabd_v3_scale(over, N[k].v[i]), N[k].w[i] = mabd_v3_scale(over, N[k].w[i]);
        }
        const double part = mass_dot(c, &N[k], u);
        for (int i = 0; i < BODIES; i++) {
            out.v[i] = mabd_v3_axpy(part, N[k].v[i], out.v[i]);
            out.w[i] = mabd_v3_axpy(part, N[k].w[i], out.w[i]);
        }
    }
    return out;
}

// ---- tests -------------------------------------------------------------------------------------

static mabd_rigid_start start_of(const mabd_model* m, const mabd_allocator* allocator,
                                 const mabd_model_start* state) {
    const mabd_rigid_start start = {
        .model = m, .allocator = allocator, .state = state, .pose = true, .threads = 1};
    return start;
}

Test(rigid_start, random_velocities_of_chains_are_projected_to_the_nearest_allowed_ones) {
    const mabd_allocator allocator = mabd_default_allocator();
    uint64_t seed = 7;
    for (int n = 0; n < 20; n++) {
        const chain c = make_chain(&seed);
        mabd_model_start state[BODIES];
        mabd_warnings warnings = {.allocator = allocator};
        mabd_error error = {0};
        motion u;
        memcpy(state, c.model->start, sizeof state);
        for (int i = 0; i < BODIES; i++) {
            u.v[i] = draw_vec3(&seed, 2), u.w[i] = draw_vec3(&seed, 3);
            mabd_v3_store(u.v[i], state[i].velocity);
            mabd_v3_store(u.w[i], state[i].angular_velocity);
        }
        mabd_rigid_start start = start_of(c.model, &allocator, state);
        rig_check(mabd_rigid_start_settle(&start, &warnings, &error), &error, "settle");
        cr_assert_not_null(start.result);
        cr_expect(eq(int, warnings.list.count, 1));
        const motion expected = project(&c, &u);
        for (int i = 0; i < BODIES; i++) {
            const mabd_vec3 v = mabd_v3_load(start.result[i].velocity);
            const mabd_vec3 w = mabd_v3_load(start.result[i].angular_velocity);
            const double off = mabd_v3_norm(mabd_v3_sub(v, expected.v[i])) +
                               mabd_v3_norm(mabd_v3_sub(w, expected.w[i]));
            cr_expect(lt(dbl, off, 1e-9), "chain %d, body %d: %g", n, i, off);
            cr_expect(
                eq(int,
                   memcmp(start.result[i].position, state[i].position, sizeof state[i].position),
                   0),
                "poses keep their bits");
        }
        mabd_rigid_start_free(c.model, &allocator, start.result);
        mabd_warnings_free(&warnings);
        mabd_model_destroy(c.model);
    }
}

// Distance of the anchors of two bodies joined by a ball joint at the origin of the first.
static double gap_of(const mabd_model_start* a, const mabd_model_start* b, mabd_vec3 arm) {
    const mabd_vec3 end = mabd_q_rotate(mabd_q_load(b->rotation), arm);
    const mabd_vec3 at = mabd_v3_add(mabd_v3_load(b->position), end);
    return mabd_v3_norm(mabd_v3_sub(at, mabd_v3_load(a->position)));
}

// A ball joint that is open by 1e-8 m: accepted, and closed to round-off if the start is exact.
// With m and I of a cube, closing by the mass metric moves the joint's ends by their parts of the
// mobility 1/m1 and 1/m2 + arm^2/I across the arm; along the arm by 1/m1 and 1/m2.
Test(rigid_start, an_exact_start_closes_what_is_below_the_tolerance_without_a_warning) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_model* m = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": ["
        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [1, 1, 1], \"mass\": 2},"
        "{\"name\": \"b\", \"shape\": \"box\", \"size\": [1, 1, 1], \"mass\": 6, \"position\": [1, "
        "0, 0]}],"
        "\"joints\": [{\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", \"anchor_a\": [0, 0, 0],"
        " \"anchor_b\": [-1, 0, 0]}]}");
    const mabd_vec3 arm = mabd_v3(-1, 0, 0);
    const double across = (1.0 / 2) / (1.0 / 2 + 1.0 / 6 + 1.0),
                 along = (1.0 / 2) / (1.0 / 2 + 1.0 / 6);
    mabd_model_start state[2];
    mabd_error error = {0};
    memcpy(state, m->start, sizeof state);
    state[0].position[0] = 3e-8, state[0].position[1] = 1e-8;
    for (int exact = 0; exact < 2; exact++) {
        mabd_warnings warnings = {.allocator = allocator};
        mabd_rigid_start start = start_of(m, &allocator, state);
        start.exact = exact;
        rig_check(mabd_rigid_start_settle(&start, &warnings, &error), &error, "settle");
        cr_expect(eq(int, warnings.list.count, 0));
        cr_assert(eq(int, start.result != NULL, exact));
        if (exact) {
            const mabd_model_start* r = start.result;
            cr_expect(lt(dbl, gap_of(&r[0], &r[1], arm), 1e-15));
            cr_expect(epsilon_eq(dbl, r[0].position[0], 3e-8 * (1 - along), 1e-15));
            cr_expect(epsilon_eq(dbl, r[0].position[1], 1e-8 * (1 - across), 1e-15));
        }
        mabd_rigid_start_free(m, &allocator, start.result);
    }
    mabd_model_destroy(m);
}

// The current state may be open by more than the tolerance, by the strain of bodies: a state that
// is not more open is accepted.
Test(rigid_start, errors_of_the_current_state_are_accepted) {
    const mabd_allocator allocator = mabd_default_allocator();
    uint64_t seed = 3;
    const chain c = make_chain(&seed);
    mabd_model_start now[BODIES], state[BODIES];
    memcpy(now, c.model->start, sizeof now);
    now[2].position[0] += 1e-4;
    memcpy(state, now, sizeof state);
    for (int k = 0; k < 3; k++) {
        mabd_rigid_start start = start_of(c.model, &allocator, state);
        mabd_error error = {0};
        start.now = k > 0 ? now : NULL;
        if (k == 2) state[2].position[0] += 1e-5;
        const mabd_status status = mabd_rigid_start_settle(&start, NULL, &error);
        cr_expect(eq(int, status, k == 1 ? MABD_OK : MABD_ERR_INPUT), "%d: %s", k, error.text);
        cr_expect_null(start.result);
    }
    mabd_model_destroy(c.model);
}

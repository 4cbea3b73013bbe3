// SPDX-License-Identifier: Apache-2.0
// Closing joints of a start pose: the rows are closed, and the motion is the least one in the mass
// metric. A closed mechanism is displaced by e in all freedoms of its bodies; joints close to the
// pose x with the displacement d. The least displacement to a point of the manifold C(x) = 0 is
// normal to it in the mass metric:
//
//   n' M d = 0   for all n with J(x) n = 0
//
// The projection claims |n' M d| <= 1e-6 |n| |d|, norms in the mass metric, for all e.
// Oracles: M of boxes, rows from the poses, and null vectors n in closed form.
#include "math/quat.h"
#include "math/so3.h"
#include "support/counting_allocator.h"
#include "support/rig.h"

#define MOST_BODIES 300
#define MOST_JOINTS 300

// Bodies are boxes that turn about y against each other and the world, if at all; hinges turn
// about y. Anchors are in the user frames.
typedef struct part {
    double size[3], density;
    mabd_vec3 x;  // closed pose
    double angle; // from +x to +z, of the closed pose [rad]
} part;
typedef struct link {
    mabd_joint type;
    int a, b; // a: -1 = world
    mabd_vec3 at_a, at_b;
} link;
typedef struct mechanism {
    int body_count, joint_count;
    part bodies[MOST_BODIES];
    link joints[MOST_JOINTS];
} mechanism;

typedef struct placement {
    mabd_vec3 x[MOST_BODIES];
    mabd_mat3 R[MOST_BODIES];
} placement;
// Velocities of the centres and angular velocities of all bodies, or a small displacement; world.
typedef struct motion {
    mabd_vec3 v[MOST_BODIES], w[MOST_BODIES];
} motion;

static mabd_quat turn_about_y(double angle) {
    return mabd_q_axis_angle(mabd_v3(0, 1, 0), -angle);
}

// ---- mass metric -------------------------------------------------------------------------------

// a' M b at a placement
static double mass_dot(const mechanism* m, const placement* at, const motion* a, const motion* b) {
    double sum = 0;
    for (int i = 0; i < m->body_count; i++) {
        const double *s = m->bodies[i].size, mass = m->bodies[i].density * s[0] * s[1] * s[2];
        const double squares = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        const mabd_vec3 wa = mabd_m3_tmul(at->R[i], a->w[i]), wb = mabd_m3_tmul(at->R[i], b->w[i]);
        sum += mass * mabd_v3_dot(a->v[i], b->v[i]);
        for (int k = 0; k < 3; k++) {
            const double moment = mass * (squares - s[k] * s[k]) / 12;
            sum += moment * mabd_v3_get(wa, k) * mabd_v3_get(wb, k);
        }
    }
    return sum;
}

// Cosine between a displacement and a null vector, 0 = normal.
static double cosine(const mechanism* m, const placement* at, const motion* d, const motion* n) {
    return fabs(mass_dot(m, at, d, n)) / sqrt(mass_dot(m, at, d, d) * mass_dot(m, at, n, n));
}

static motion motion_between(const mechanism* m, const placement* from, const placement* to) {
    motion d = {0};
    for (int i = 0; i < m->body_count; i++) {
        const mabd_mat3 back = mabd_m3_transpose(from->R[i]);
        d.v[i] = mabd_v3_sub(to->x[i], from->x[i]);
        d.w[i] = mabd_so3_log(mabd_m3_product(to->R[i], back));
    }
    return d;
}

// ---- rows --------------------------------------------------------------------------------------

static double larger(double a, double b) {
    return a > b ? a : b;
}

// Largest distance of anchors [m] and angle between hinge axes, or between welded bodies [rad].
static double joint_error(const mechanism* m, const placement* at) {
    double worst = 0;
    for (int j = 0; j < m->joint_count; j++) {
        const link* l = &m->joints[j];
        const mabd_mat3 Ra = l->a < 0 ? mabd_m3_identity() : at->R[l->a], Rb = at->R[l->b];
        const mabd_vec3 xa = l->a < 0 ? mabd_v3(0, 0, 0) : at->x[l->a];
        const mabd_vec3 pa = mabd_v3_add(xa, mabd_m3_mul(Ra, l->at_a));
        const mabd_vec3 pb = mabd_v3_add(at->x[l->b], mabd_m3_mul(Rb, l->at_b));
        const mabd_vec3 tilt = mabd_v3_cross(mabd_m3_column(&Ra, 1), mabd_m3_column(&Rb, 1));
        worst = larger(worst, mabd_v3_norm(mabd_v3_sub(pb, pa)));
        if (l->type != MABD_JOINT_BALL) worst = larger(worst, mabd_v3_norm(tilt));
        if (l->type == MABD_JOINT_FIXED) {
            worst = larger(worst, mabd_v3_norm(mabd_so3_log(mabd_m3_tproduct(Ra, Rb))));
        }
    }
    return worst;
}

// ---- closing -----------------------------------------------------------------------------------

// Add a body, displaced by e in all its freedoms, and keep its pose.
static void add_displaced(mabd_scene* scene, const mechanism* m, int i, double e, placement* at) {
    const part* p = &m->bodies[i];
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, p->size, p->density);
    const mabd_vec3 turn = mabd_v3(cos(1 + 3 * i), cos(2 + 3 * i), cos(3 + 3 * i));
    const mabd_vec3 shift = mabd_v3(sin(1 + 3 * i), sin(2 + 3 * i), sin(3 + 3 * i));
    const mabd_real angle = mabd_v3_norm(turn);
    const mabd_quat q = mabd_q_product(mabd_q_axis_angle(mabd_v3_scale(1 / angle, turn), e * angle),
                                       turn_about_y(p->angle));
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    at->x[i] = mabd_v3_axpy(e, shift, p->x);
    at->R[i] = mabd_q_matrix(q);
    mabd_v3_store(at->x[i], body.position);
    mabd_q_store(q, body.rotation);
    rig_add_body(scene, &body);
}

static void add_link(mabd_scene* scene, const link* l) {
    const mabd_real y[3] = {0, 1, 0};
    mabd_error error = {0};
    mabd_joint_def def = mabd_default_joint_def();
    def.type = l->type, def.local = true;
    def.a = l->a < 0 ? MABD_WORLD : l->a, def.b = l->b;
    mabd_v3_store(l->at_a, def.anchor_a), mabd_v3_store(l->at_b, def.anchor_b);
    cr_assert(mabd_frame_from_axes(y, NULL, def.frame_a));
    cr_assert(mabd_frame_from_axes(y, NULL, def.frame_b));
    rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
}

// Displace a mechanism by e and let a simulation close it.
static void close_displaced(const mechanism* m, double e, placement* from, placement* to) {
    mabd_real x[3 * MOST_BODIES], q[4 * MOST_BODIES];
    mabd_scene* scene = rig_scene(0);
    mabd_error error = {0};
    for (int i = 0; i < m->body_count; i++) add_displaced(scene, m, i, e, from);
    for (int j = 0; j < m->joint_count; j++) add_link(scene, &m->joints[j]);
    rig_check(mabd_scene_set_close_joints(scene, true, &error), &error, "close");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_sim_get_state(sim, x, q, NULL, NULL);
    for (int i = 0; i < m->body_count; i++) {
        to->x[i] = mabd_v3_load(x + 3 * i);
        to->R[i] = mabd_q_matrix(mabd_q_load(q + 4 * i));
    }
    cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), 1), "it says how far bodies moved");
    rig_destroy(sim, model);
}

// Null vectors of the rows of a closed mechanism; returns how many.
typedef int null_space(const mechanism* m, const placement* at, motion* n);

static void expect_least_motion(const mechanism* m, null_space* null_space_of) {
    static const double sizes[] = {1e-2, 1e-3, 1e-4};
    for (int k = 0; k < 3; k++) {
        placement from = {0}, to = {0};
        motion n[6];
        const double e = sizes[k];
        close_displaced(m, e, &from, &to);
        cr_expect(lt(dbl, e / 10, joint_error(m, &from)), "the joints are open");
        cr_expect(lt(dbl, joint_error(m, &to), 1e-9), "e = %g: the joints are closed", e);
        const motion d = motion_between(m, &from, &to);
        const int count = null_space_of(m, &to, n);
        for (int i = 0; i < count; i++) {
            const double off = cosine(m, &to, &d, &n[i]);
            cr_expect(lt(dbl, off, 2e-6), "e = %g: null vector %d, cosine %g", e, i, off);
        }
    }
}

// ---- a planar four-bar, three rows redundant ---------------------------------------------------

// One freedom: with s_i the angular velocities about y and t_i = y x u_i of the bars along u_i,
// s1 a t1 + s2 b t2 = s3 c t3, s1 = 1.
static int four_bar_null(const mechanism* m, const placement* at, motion* n) {
    const mabd_vec3 y = mabd_v3(0, 1, 0);
    mabd_vec3 u[3], t[3]; // times the lengths
    for (int i = 0; i < 3; i++) {
        u[i] = mabd_v3_scale(m->bodies[i].size[0], mabd_m3_column(&at->R[i], 0));
        t[i] = mabd_v3_cross(y, u[i]);
    }
    const double s2 = -mabd_v3_dot(t[0], u[2]) / mabd_v3_dot(t[1], u[2]);
    const double s3 = mabd_v3_dot(t[0], u[1]) / mabd_v3_dot(t[2], u[1]);
    n->w[0] = y, n->w[1] = mabd_v3_scale(s2, y), n->w[2] = mabd_v3_scale(s3, y);
    n->v[0] = mabd_v3_scale(0.5, t[0]);
    n->v[1] = mabd_v3_axpy(s2 / 2, t[1], t[0]);
    n->v[2] = mabd_v3_scale(s3 / 2, t[2]);
    return 1;
}

Test(start_closing, a_four_bar_closes_by_the_least_motion) {
    const double a = 0.3, b = 0.8, c = 0.6, ground = 0.8, crank = 1;
    const double bx = a * cos(crank), bz = a * sin(crank), ex = ground - bx, ez = -bz;
    const double e = hypot(ex, ez), u = (e * e + b * b - c * c) / (2 * e), v = sqrt(b * b - u * u);
    const double cx = bx + (u * ex - v * ez) / e, cz = bz + (u * ez + v * ex) / e;
    const mechanism m = {
        3,
        4,
        {{{a, 0.03, 0.05}, 8000, mabd_v3(bx / 2, 0, bz / 2), crank},
         {{b, 0.02, 0.02}, 500, mabd_v3((bx + cx) / 2, 0, (bz + cz) / 2), atan2(cz - bz, cx - bx)},
         {{c, 0.1, 0.04}, 2000, mabd_v3((ground + cx) / 2, 0, cz / 2), atan2(cz, cx - ground)}},
        {{MABD_JOINT_HINGE, -1, 0, mabd_v3(0, 0, 0), mabd_v3(-a / 2, 0, 0)},
         {MABD_JOINT_HINGE, 0, 1, mabd_v3(a / 2, 0, 0), mabd_v3(-b / 2, 0, 0)},
         {MABD_JOINT_HINGE, 1, 2, mabd_v3(b / 2, 0, 0), mabd_v3(c / 2, 0, 0)},
         {MABD_JOINT_HINGE, -1, 2, mabd_v3(ground, 0, 0), mabd_v3(-c / 2, 0, 0)}}};
    expect_least_motion(&m, four_bar_null);
}

// ---- a door on two hinges, five rows redundant -------------------------------------------------

static int door_null(const mechanism* m, const placement* at, motion* n) {
    (void)m;
    n->w[0] = mabd_v3(0, 1, 0);
    n->v[0] = mabd_v3_cross(n->w[0], at->x[0]);
    return 1;
}

Test(start_closing, a_door_on_two_hinges_closes_by_the_least_motion) {
    const mechanism m = {1,
                         2,
                         {{{0.9, 2, 0.05}, 600, mabd_v3(0.45 * cos(0.3), 0, 0.45 * sin(0.3)), 0.3}},
                         {{MABD_JOINT_HINGE, -1, 0, mabd_v3(0, -0.8, 0), mabd_v3(-0.45, -0.8, 0)},
                          {MABD_JOINT_HINGE, -1, 0, mabd_v3(0, 0.8, 0), mabd_v3(-0.45, 0.8, 0)}}};
    expect_least_motion(&m, door_null);
}

// ---- two free bodies with two welds, six rows redundant ----------------------------------------

// Both bodies as one: the displacement has no linear and no angular momentum.
static int rigid_null(const mechanism* m, const placement* at, motion* n) {
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 axis = mabd_v3(k == 0, k == 1, k == 2);
        for (int i = 0; i < m->body_count; i++) {
            n[k].v[i] = n[3 + k].w[i] = axis;
            n[k].w[i] = mabd_v3(0, 0, 0);
            n[3 + k].v[i] = mabd_v3_cross(axis, at->x[i]);
        }
    }
    return 6;
}

Test(start_closing, bodies_with_two_welds_close_by_the_least_motion) {
    const mechanism m = {2,
                         2,
                         {{{0.4, 0.3, 0.1}, 1000, mabd_v3(-0.2, 0, 0), 0},
                          {{0.6, 0.3, 0.2}, 3000, mabd_v3(0.3, 0, 0), 0}},
                         {{MABD_JOINT_FIXED, 0, 1, mabd_v3(0.2, -0.1, 0), mabd_v3(-0.3, -0.1, 0)},
                          {MABD_JOINT_FIXED, 0, 1, mabd_v3(0.2, 0.1, 0), mabd_v3(-0.3, 0.1, 0)}}};
    expect_least_motion(&m, rigid_null);
}

// ---- a long chain, displaced by more than its links --------------------------------------------

// Full iterations of Newton's method do not end here: where the chain is nearly straight and too
// short, straightening it bends it to the other side.
Test(start_closing, a_chain_displaced_by_twice_its_links_closes) {
    static const mabd_joint types[] = {MABD_JOINT_BALL, MABD_JOINT_HINGE};
    static mechanism m = {.body_count = MOST_BODIES, .joint_count = MOST_BODIES};
    static placement from, to;
    const double half = 0.25;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < MOST_BODIES; i++) {
            const part p = {{2 * half, 0.05, 0.05}, 1000, mabd_v3((2 * i + 1) * half, 0, 0), 0};
            const link l = {types[k], i - 1, i, mabd_v3(i > 0 ? half : 0, 0, 0),
                            mabd_v3(-half, 0, 0)};
            m.bodies[i] = p, m.joints[i] = l;
        }
        close_displaced(&m, 1, &from, &to);
        cr_expect(lt(dbl, 1, joint_error(&m, &from)), "the joints are open");
        cr_expect(lt(dbl, joint_error(&m, &to), 1e-9), "%s joints", mabd_joint_name(types[k]));
    }
}

// ---- memory ------------------------------------------------------------------------------------

// Each allocation fails in turn: an error without a leak, or a simulation without its warning.
Test(start_closing, missing_memory_is_an_error_without_a_leak) {
    const mechanism m = {1,
                         2,
                         {{{0.9, 2, 0.05}, 600, mabd_v3(0.45, 0, 0), 0}},
                         {{MABD_JOINT_HINGE, -1, 0, mabd_v3(0, -1, 0), mabd_v3(-0.45, -1, 0)},
                          {MABD_JOINT_HINGE, -1, 0, mabd_v3(0, 1, 0), mabd_v3(-0.45, 1, 0)}}};
    mabd_scene* scene = rig_scene(0);
    mabd_error error = {0};
    placement at;
    int64_t fail_at = 0;
    bool failed = true;
    add_displaced(scene, &m, 0, 0.1, &at);
    for (int j = 0; j < m.joint_count; j++) add_link(scene, &m.joints[j]);
    rig_check(mabd_scene_set_close_joints(scene, true, &error), &error, "close");
    mabd_model* model = rig_model(scene);
    for (; failed; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = NULL;
        def.allocator = &allocator;
        const mabd_status status = mabd_sim_create(model, &def, &sim, &error);
        failed = counter.calls > fail_at;
        if (status == MABD_OK) {
            cr_expect(eq(int, mabd_sim_warnings(sim, 0, NULL), failed ? 0 : 1));
            mabd_sim_destroy(sim);
        } else {
            cr_expect(eq(int, status, MABD_ERR_MEMORY), "call %d: %s", (int)fail_at, error.text);
        }
        cr_expect(eq(i64, counter.live_blocks, 0), "call %d", (int)fail_at);
        cr_expect(eq(i64, counter.wrong_frees, 0), "call %d", (int)fail_at);
    }
    cr_expect(lt(i64, 6, fail_at), "the workspace of the projection was allocated");
    mabd_model_destroy(model);
}

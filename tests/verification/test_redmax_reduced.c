// SPDX-License-Identifier: Apache-2.0
// Motions of few freedoms in the redmax formulation: a chain whose couplings leave one angle,
// against Lagrange's equation of that angle, and a rope of nodes, against Newton's of its points.

#include "support/one_freedom.h"
#include "support/reference.h"

#include <string.h>

#define G 9.81

static mabd_sim_def redmax(mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    return def;
}

// ---- one angle ---------------------------------------------------------------------------------

#define LINKS  6
#define LENGTH 0.3
#define WIDTH  0.04

// Link i has the angle (i + 1) p.
static void curl_place(double p, double out[][3]) {
    double x = 0, z = 0;
    for (int i = 0; i < LINKS; i++) {
        const double angle = (i + 1) * p, dx = LENGTH * cos(angle), dz = LENGTH * sin(angle);
        out[i][0] = x + dx / 2, out[i][1] = z + dz / 2, out[i][2] = angle;
        x += dx, z += dz;
    }
}

static one_freedom curl(void) {
    one_freedom m = {.gravity = G, .at = curl_place};
    for (int i = 0; i < LINKS; i++) one_freedom_bar(&m, LENGTH, WIDTH);
    return m;
}

// A chain let go level; couplings keep the angles of all hinges equal to that of the first.
static mabd_model* curl_model(void) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_error error = {0};
    int32_t last = MABD_WORLD;
    for (int i = 0; i < LINKS; i++) {
        const int32_t rod =
            rig_add_rod(scene, (mabd_real)(LENGTH * i), (mabd_real)LENGTH, (mabd_real)WIDTH, 1e12);
        rig_add_joint(scene, MABD_JOINT_HINGE, last, rod, (mabd_real)(LENGTH * i), 0);
        last = rod;
    }
    for (int i = 1; i < LINKS; i++) {
        const mabd_coupling_axis axes[2] = {{i, MABD_AXIS_RX, 1}, {0, MABD_AXIS_RX, -1}};
        mabd_coupling_def def = mabd_default_coupling_def();
        def.axis_count = 2, def.axes = axes;
        rig_check(mabd_scene_add_coupling(scene, &def, &error), &error, "coupling");
    }
    return rig_model(scene);
}

Test(redmax_reduced, a_chain_of_one_angle_follows_lagranges_equation) {
    const one_freedom m = curl();
    mabd_model* model = curl_model();
    mabd_sim_def def = redmax(MABD_INTEGRATOR_RK45, 0.02);
    def.redmax.newton_tolerance = (mabd_real)1e-12;
    mabd_sim* sim = rig_sim(model, &def);
    double p = 0, w = 0, angle, rate, apart = 0;
    while (mabd_sim_time(sim) < 0.6 - 1e-9) {
        mabd_real first[MABD_AXIS_COUNT], other[MABD_AXIS_COUNT];
        rig_step(sim);
        mabd_sim_get_joint_coordinates(sim, 0, first);
        for (int32_t i = 1; i < LINKS; i++) {
            mabd_sim_get_joint_coordinates(sim, i, other);
            apart = fmax(apart, fabs(other[MABD_AXIS_RX] - first[MABD_AXIS_RX]));
        }
    }
    one_freedom_run(&m, 0.6, &p, &w);
    one_freedom_read(sim, &angle, &rate);
    printf("one angle: %.9f rad, off by %.1e; angles differ by %.1e\n", p, fabs(angle - p), apart);
    cr_expect(lt(dbl, fabs(remainder(angle - p, 2 * acos(-1))), 1e-9));
    cr_expect(lt(dbl, fabs(rate - w), 1e-8));
    cr_expect(lt(dbl, apart, 1e-9));
    rig_destroy(sim, model);
}

Test(redmax_reduced, orders_of_a_chain_of_one_angle) {
    static const one_freedom_bound bounds[] = {{MABD_INTEGRATOR_BDF2, {1.8, 2.2}, {1.8, 2.2}},
                                               {MABD_INTEGRATOR_SDIRK2, {1.85, 2.15}, {1.85, 2.15}},
                                               {MABD_INTEGRATOR_EULER, {0.85, 1.15}, {0.85, 1.15}}};
    const one_freedom m = curl();
    one_freedom_orders(&m, curl_model(), MABD_FORMULATION_REDMAX, 0.002, 0.4, 3, bounds);
}

// ---- nodes -------------------------------------------------------------------------------------

#define NODE      0.4 // mass [kg]
#define STIFFNESS 300.0
#define DAMPING   1.5
#define REST      0.5

// Force of a spring from the node at a to that at b on the one at b; states x z of all, then rates.
static void pull(const double* a, const double* va, const double* b, const double* vb,
                 double* force) {
    const double dx = b[0] - a[0], dz = b[1] - a[1], l = hypot(dx, dz);
    const double rate = (dx * (vb[0] - va[0]) + dz * (vb[1] - va[1])) / l;
    const double t = -(STIFFNESS * (l - REST) + DAMPING * rate) / l;
    force[0] = t * dx, force[1] = t * dz;
}

// Two nodes on springs that hang at the origin, y = (x1 z1 x2 z2, rates).
static void rope_rate(const void* context, const double* y, double* dy) {
    static const double zero[2] = {0, 0};
    double upper[2], lower[2];
    (void)context;
    pull(zero, zero, y, y + 4, upper);
    pull(y, y + 4, y + 2, y + 6, lower);
    memcpy(dy, y + 4, 4 * sizeof *dy);
    for (int k = 0; k < 2; k++) {
        dy[4 + k] = (upper[k] - lower[k]) / NODE - (k == 1 ? G : 0);
        dy[6 + k] = lower[k] / NODE - (k == 1 ? G : 0);
    }
}

static mabd_model* rope_model(void) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_error error = {0};
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 2; i++) {
        mabd_node_def node = mabd_default_node_def();
        mabd_spring_def spring = mabd_default_spring_def();
        mabd_spring_point points[2] = {{.body = last}, {.body = 0}};
        node.position[0] = (mabd_real)(0.5 * (i + 1)), node.mass = (mabd_real)NODE;
        rig_check(mabd_scene_add_node(scene, &node, &points[1].body, &error), &error, "node");
        spring.points = points, spring.point_count = 2, spring.length = (mabd_real)REST;
        spring.stiffness = (mabd_real)STIFFNESS, spring.damping = (mabd_real)DAMPING;
        rig_check(mabd_scene_add_spring(scene, &spring, &error), &error, "spring");
        last = points[1].body;
    }
    return rig_model(scene);
}

Test(redmax_reduced, a_rope_of_nodes_swings_like_its_points) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    double y[8] = {0.5, 0, 1, 0};
    reference_rk4(rope_rate, NULL, 8, 1e-4, 5000, y);
    for (int k = 0; k < 2; k++) {
        mabd_model* model = rope_model();
        double errors[4];
        for (int i = 0; i < 4; i++) {
            const mabd_sim_def def = redmax(methods[k], ldexp(0.004, -i));
            mabd_sim* sim = rig_sim(model, &def);
            mabd_real x[6];
            while (mabd_sim_time(sim) < 0.5 - 1e-9) rig_step(sim);
            mabd_sim_get_state(sim, x, NULL, NULL, NULL);
            errors[i] = fmax(hypot(x[0] - y[0], x[2] - y[1]), hypot(x[3] - y[2], x[5] - y[3]));
            mabd_sim_destroy(sim);
        }
        const char* name = mabd_integrator_name(methods[k]);
        const double order = rig_order(name, 0.004, 4, errors);
        cr_expect(ge(dbl, order, 1.85), "%s: order %g", name, order);
        mabd_model_destroy(model);
    }
}

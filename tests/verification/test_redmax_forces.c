// SPDX-License-Identifier: Apache-2.0
// Springs, nodes, ground and couplings of the redmax formulation against closed forms, and their
// refusals: by other formulations, and of wrong input.

#include "support/axis_rig.h"

#include <string.h>

static mabd_sim_def redmax(mabd_integrator integrator, double h) {
    axis_formulation = MABD_FORMULATION_REDMAX;
    mabd_sim_def def = axis_def(MABD_PRESET_EXACT, h);
    def.integrator = integrator;
    return def;
}

static int32_t add_node(mabd_scene* scene, double x, double z, double mass) {
    mabd_node_def def = mabd_default_node_def();
    mabd_error error = {0};
    int32_t id;
    def.position[0] = x, def.position[2] = z, def.mass = mass;
    rig_check(mabd_scene_add_node(scene, &def, &id, &error), &error, "node");
    return id;
}

// Add a spring through nodes; -1 = the origin of the world.
static void add_spring(mabd_scene* scene, int n, const int32_t* nodes, mabd_spring_law law,
                       double stiffness, double damping, double length) {
    mabd_spring_point points[4];
    mabd_spring_def def = mabd_default_spring_def();
    mabd_error error = {0};
    memset(points, 0, sizeof points);
    for (int i = 0; i < n; i++) points[i].body = nodes[i];
    def.points = points, def.point_count = n, def.law = law;
    def.stiffness = stiffness, def.damping = damping, def.length = length;
    rig_check(mabd_scene_add_spring(scene, &def, &error), &error, "spring");
}

static double state_x(const mabd_sim* sim, int body, int axis) {
    mabd_real x[32 * 3];
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    return x[3 * body + axis];
}

// ---- springs -----------------------------------------------------------------------------------

/// A body that swings about the rest of a spring with l = n x, and mass, at x from rest at 1.2 m.
typedef struct swing {
    mabd_spring_law law;
    int points; // 1: to the world; 2: two nodes; 3: two nodes over the world between
} swing;

static mabd_model* swing_model(const swing* w, double k, double c) {
    mabd_scene* scene = rig_scene(0);
    const int32_t a = add_node(scene, 1.2, 0, 2);
    const int32_t b = w->points > 1 ? add_node(scene, -1.2, 0, 2) : MABD_WORLD;
    const int32_t two[2] = {a, b}, three[3] = {a, MABD_WORLD, b};
    const double length = w->points > 1 ? 2 : 1;
    const double factor = w->law == MABD_SPRING_LINEAR ? 1 : length; // the same tension
    add_spring(scene, w->points == 3 ? 3 : 2, w->points == 3 ? three : two, w->law, factor * k,
               factor * c, length);
    return rig_model(scene);
}

// l - L = n (x - 1), so m x'' = -n k (x - 1) - n c x': x = 1 + exp(-d t)(A cos w t + B sin w t).
static double swing_at(int n, double k, double c, double t) {
    const double m = 2, d = n * c / (2 * m), w = sqrt(n * k / m - d * d), A = 0.2, B = d * A / w;
    return 1 + exp(-d * t) * (A * cos(w * t) + B * sin(w * t));
}

Test(redmax_forces, springs_swing_in_closed_form_at_second_order) {
    const swing cases[] = {{MABD_SPRING_LINEAR, 1}, {MABD_SPRING_LINEAR, 2},
                           {MABD_SPRING_LINEAR, 3}, {MABD_SPRING_STRAIN, 2},
                           {MABD_SPRING_STRAIN, 3}, {MABD_SPRING_STRAIN, 1}};
    const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    const double k = 50, c = 0.8;
    for (int i = 0; i < 12; i++) {
        const swing* w = &cases[i % 6];
        mabd_model* model = swing_model(w, k, c);
        double errors[3];
        for (int j = 0; j < 3; j++) {
            const mabd_sim_def def = redmax(methods[i / 6], ldexp(0.01, -j));
            mabd_sim* sim = rig_sim(model, &def);
            while (mabd_sim_time(sim) < 1 - 1e-9) rig_step(sim);
            const double x = swing_at(w->points > 1 ? 2 : 1, k, c, mabd_sim_time(sim));
            errors[j] = fabs(state_x(sim, 0, 0) - x);
            mabd_sim_destroy(sim);
        }
        const double order = rig_order(mabd_integrator_name(methods[i / 6]), 0.01, 3, errors);
        cr_expect(lt(dbl, 1.85, order), "case %d", i);
        cr_expect(lt(dbl, errors[2], 2e-4), "case %d: %g", i, errors[2]);
        mabd_model_destroy(model);
    }
}

// A mass falls by a slack cable of 1 m, whose stiffness is 4000 N, and is caught: it falls freely
// until then, the cable never pushes, and no energy is gained.
Test(redmax_forces, a_cable_pulls_only_where_it_is_taut) {
    mabd_scene* scene = rig_scene(-9.81);
    const int32_t ends[2] = {add_node(scene, 0, -0.5, 1), MABD_WORLD};
    add_spring(scene, 2, ends, MABD_SPRING_CABLE, 4000, 40, 1);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = redmax(MABD_INTEGRATOR_BDF2, 0.0005);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy, g = 9.81;
    double lowest = 0, highest = start;
    while (mabd_sim_time(sim) < 1) {
        rig_step(sim);
        const double t = mabd_sim_time(sim), z = state_x(sim, 0, 2);
        if (t < sqrt(1 / g) - 1e-3) cr_assert(lt(dbl, fabs(z + 0.5 + g * t * t / 2), 1e-9));
        lowest = fmin(lowest, z);
        highest = fmax(highest, mabd_sim_measure(sim).energy);
    }
    // m g (0.5 + s) = k s^2/2 without damping: s = 0.0523 m; half of the force is taken by damping
    cr_expect(lowest < -1.02 && lowest > -1.0525, "%g", lowest);
    cr_expect(lt(dbl, highest, start + 1e-4));
    rig_destroy(sim, model);
}

// A rope of n nodes of mass m that hangs by springs of k: spring i carries the weight of those
// below it, (n - i) m g, and has the length L + (n - i) m g/k.
Test(redmax_forces, a_hanging_rope_of_nodes_rests_in_closed_form) {
    enum { n = 12 };
    const double m = 0.3, k = 200, L = 0.1, g = 9.81;
    mabd_scene* scene = rig_scene(-g);
    double z[n], at = 0;
    int32_t last = MABD_WORLD;
    for (int i = 0; i < n; i++) {
        at -= L + (n - i) * m * g / k;
        z[i] = at;
        const int32_t ends[2] = {last, add_node(scene, 0, at, m)};
        add_spring(scene, 2, ends, MABD_SPRING_LINEAR, k, 1, L);
        last = ends[1];
    }
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = redmax(MABD_INTEGRATOR_BDF2, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 50; i++) rig_step(sim);
    for (int i = 0; i < n; i++) cr_expect(lt(dbl, fabs(state_x(sim, i, 2) - z[i]), 1e-9));
    cr_expect(lt(dbl, fabs(mabd_sim_measure(sim).kinetic), 1e-18));
    rig_destroy(sim, model);
}

// ---- ground ------------------------------------------------------------------------------------

static mabd_model* box_model(double friction, double speed, double height) {
    mabd_scene* scene = rig_scene(-9.81);
    const mabd_real size[3] = {(mabd_real)0.2, (mabd_real)0.2, (mabd_real)0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    mabd_ground_def ground = mabd_default_ground_def();
    mabd_error error = {0};
    body.geom_count = 1, body.geoms = &geom;
    body.position[2] = (mabd_real)(0.05 + height), body.velocity[0] = (mabd_real)speed;
    rig_add_body(scene, &body);
    ground.friction = (mabd_real)friction, ground.tangent = friction > 0 ? 5000 : 0;
    rig_check(mabd_scene_set_ground(scene, &ground, &error), &error, "ground");
    return rig_model(scene);
}

// 4 kg on four corners of 1e5 N/m.
Test(redmax_forces, a_box_sinks_into_the_ground_by_its_weight) {
    mabd_model* model = box_model(0, 0, 0.001);
    const mabd_sim_def def = redmax(MABD_INTEGRATOR_BDF2, 0.002);
    mabd_sim* sim = rig_sim(model, &def);
    while (mabd_sim_time(sim) < 2) rig_step(sim);
    cr_expect(lt(dbl, fabs(state_x(sim, 0, 2) - 0.05 + 4 * 9.81 / 4e5), 1e-6));
    rig_destroy(sim, model);
}

// A box at 1 m/s slides by v^2/(2 mu g).
Test(redmax_forces, a_box_slides_to_rest_by_friction) {
    const double mu = 0.3, sink = 4 * 9.81 / 4e5;
    mabd_model* model = box_model(mu, 1, -sink);
    const mabd_sim_def def = redmax(MABD_INTEGRATOR_BDF2, 0.002);
    mabd_sim* sim = rig_sim(model, &def);
    while (mabd_sim_time(sim) < 0.8) rig_step(sim);
    const double way = 1 / (2 * mu * 9.81);
    cr_expect(lt(dbl, fabs(state_x(sim, 0, 0) - way), 0.01 * way), "%g of %g", state_x(sim, 0, 0),
              way);
    rig_destroy(sim, model);
}

// [RM eq. 1.49] pulls what is below the ground: a point dropped from 0.1 m would be far below it.
Test(redmax_forces, the_ground_pushes_a_dropped_point_back) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_ground_def ground = mabd_default_ground_def();
    mabd_error error = {0};
    add_node(scene, 0, 0.1, 1);
    ground.damping = 0;
    rig_check(mabd_scene_set_ground(scene, &ground, &error), &error, "ground");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = redmax(MABD_INTEGRATOR_SDIRK2, 0.0005);
    mabd_sim* sim = rig_sim(model, &def);
    double lowest = 1, top = 0;
    while (mabd_sim_time(sim) < 0.4) {
        rig_step(sim);
        lowest = fmin(lowest, state_x(sim, 0, 2));
        if (mabd_sim_time(sim) > 0.2) top = fmax(top, state_x(sim, 0, 2));
    }
    // m g (0.1 + d) = k d^2/2: d = 4.53 mm
    cr_expect(lt(dbl, fabs(lowest + 4.53e-3), 1e-4), "%g", lowest);
    cr_expect(top > 0.095 && top < 0.1001, "%g", top);
    rig_destroy(sim, model);
}

// ---- couplings ---------------------------------------------------------------------------------

// Two rods of moment I on hinges, x_1 = -2 x_2, a torque on the second: (I + 4 I) x_2'' = torque,
// and the coupling turns the first by I x_1''.
Test(redmax_forces, a_coupling_gears_two_hinges) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                       MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_RK45,
                                       MABD_INTEGRATOR_SEMI_IMPLICIT};
    for (int i = 0; i < 5; i++) {
        mabd_scene* scene = rig_scene(0);
        const mabd_axis_def motor = {.motor = mabd_signal_constant(3)}, none = {0};
        const mabd_coupling_axis axes[2] = {{0, MABD_AXIS_RX, 1}, {1, MABD_AXIS_RX, 2}};
        mabd_coupling_def coupling = mabd_default_coupling_def();
        mabd_error error = {0};
        const int32_t a = rig_add_rod(scene, 0, 1, 0.1, 1e10);
        const int32_t b = rig_add_rod(scene, 2, 1, 0.1, 1e10);
        axis_add_joint(scene, false, MABD_WORLD, a, 0, &none);
        axis_add_joint(scene, false, MABD_WORLD, b, 2, &motor);
        coupling.axis_count = 2, coupling.axes = axes;
        rig_check(mabd_scene_add_coupling(scene, &coupling, &error), &error, "coupling");
        mabd_model* model = rig_model(scene);
        const double h = 0.01, bend = 3 / (5 * axis_inertia());
        const mabd_sim_def def = redmax(methods[i], h);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[MABD_AXIS_COUNT], y[MABD_AXIS_COUNT], wrench[12];
        while (mabd_sim_time(sim) < 0.5 - 1e-9) {
            rig_step(sim);
            mabd_sim_get_joint_coordinates(sim, 0, x);
            mabd_sim_get_joint_coordinates(sim, 1, y);
            cr_assert(lt(dbl, fabs(x[MABD_AXIS_RX] + 2 * y[MABD_AXIS_RX]), 1e-11));
        }
        mabd_sim_get_joint_forces(sim, wrench);
        const double t = mabd_sim_time(sim), late = i == 2 || i == 4 ? bend * t * h / 2 : 0;
        const char* name = mabd_integrator_name(methods[i]);
        cr_expect(lt(dbl, fabs(y[MABD_AXIS_RX] - bend * t * t / 2 - late), 1e-9), "%s: %g", name,
                  (double)y[MABD_AXIS_RX] - bend * t * t / 2);
        cr_expect(lt(dbl, fabs(wrench[4] + 2 * bend * axis_inertia()), 1e-6), "%s: %g", name,
                  (double)wrench[4]);
        rig_destroy(sim, model);
    }
}

// ---- refusals ----------------------------------------------------------------------------------

#define ROD "{\"name\": \"a\", \"shape\": \"box\", \"size\": [1, 1, 1]}"
#define TWO                                                                                        \
    ROD ", {\"name\": \"b\", \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [3, 0, 0]}"
#define PIN  "{\"name\": \"p\", \"type\": \"hinge\", \"b\": \"a\"}"
#define PINS PIN ", {\"name\": \"q\", \"type\": \"hinge\", \"b\": \"b\"}"

Test(redmax_forces, other_formulations_refuse_them_by_name) {
    const char* const texts[][2] = {
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}, {\"body\": "
         "\"world\", \"point\": [0, 0, 3]}], \"stiffness\": 1}]}",
         "springs"},
        {"{\"nodes\": [{\"mass\": 2}]}", "nodes"},
        {"{\"bodies\": [" ROD "], \"ground\": {}}", "ground"},
        {"{\"bodies\": [" TWO "], \"joints\": [" PINS "], \"couplings\": [{\"axes\": [{\"joint\": "
         "\"p\", \"axis\": \"rx\"}, {\"joint\": \"q\", \"axis\": \"rx\"}]}]}",
         "couplings"},
        {"{\"bodies\": [" ROD "], \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"axes\": "
         "{\"rx\": {\"friction\": 1, \"friction_speed\": 0.1}}}]}",
         "pins"},
    };
    for (int i = 0; i < 10; i++) {
        mabd_model* model = rig_text_model(texts[i / 2][0]);
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
        def.formulation = i % 2 ? MABD_FORMULATION_QUATERNION : MABD_FORMULATION_AFFINE;
        mabd_error error = {0};
        mabd_sim* sim = NULL;
        cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
        cr_expect(strstr(error.text, texts[i / 2][1]) != NULL, "%s", error.text);
        cr_expect(strstr(error.text, mabd_formulation_name(def.formulation)) != NULL);
        mabd_model_destroy(model);
    }
}

Test(redmax_forces, wrong_input_is_refused_with_its_place) {
    const char* const texts[][2] = {
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}], \"stiffness\": "
         "1}]}",
         "at least two points"},
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}, {\"body\": "
         "\"a\", \"point\": [1, 0, 0]}], \"stiffness\": 1}]}",
         "one body"},
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}, {\"body\": "
         "\"world\"}], \"stiffness\": 1}]}",
         "coincide"},
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}, {\"body\": "
         "\"world\", \"point\": [2, 0, 0]}], \"stiffness\": 1, \"length\": 0}]}",
         "length"},
        {"{\"bodies\": [" ROD "], \"springs\": [{\"points\": [{\"body\": \"a\"}, {\"body\": "
         "\"world\", \"point\": [2, 0, 0]}], \"law\": \"glue\"}]}",
         "law"},
        {"{\"nodes\": [{\"mass\": 0}]}", "mass"},
        {"{\"nodes\": [{\"name\": \"n\"}], \"joints\": [{\"type\": \"ball\", \"b\": \"n\"}]}",
         "node"},
        {"{\"nodes\": [{\"name\": \"n\"}], \"forces\": [{\"body\": \"n\", \"torque\": [1, 0, 0]}]}",
         "node"},
        {"{\"bodies\": [" ROD "], \"ground\": {\"normal\": [0, 0, 0]}}", "normal"},
        {"{\"bodies\": [" ROD "], \"ground\": {\"friction\": 1}}", "tangent"},
        {"{\"bodies\": [" TWO "], \"joints\": [" PINS "], \"couplings\": [{\"axes\": [{\"joint\": "
         "\"p\", \"axis\": \"ry\"}, {\"joint\": \"q\", \"axis\": \"rx\"}]}]}",
         "locked"},
        {"{\"bodies\": [" TWO "], \"joints\": [" PINS "], \"couplings\": [{\"axes\": [{\"joint\": "
         "\"p\", \"axis\": \"rx\", \"ratio\": 0}, {\"joint\": \"q\", \"axis\": \"rx\"}]}]}",
         "ratio"},
        {"{\"bodies\": [" ROD "], \"joints\": [{\"name\": \"p\", \"type\": \"ball\", \"b\": "
         "\"a\"}], \"couplings\": [{\"axes\": [{\"joint\": \"p\", \"axis\": \"rx\"}, {\"joint\": "
         "\"p\", \"axis\": \"ry\"}]}]}",
         "rotation vector"},
        {"{\"bodies\": [" ROD "], \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"axes\": "
         "{\"rx\": {\"friction_speed\": 0.1}}}]}",
         "friction"},
        {"{\"bodies\": [" ROD "], \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"axes\": "
         "{\"rx\": {\"pin\": {\"friction\": 0.1}}}}]}",
         "radius"},
    };
    for (int i = 0; i < (int)(sizeof texts / sizeof texts[0]); i++) {
        mabd_error error = {0};
        mabd_scene* scene = NULL;
        cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
        const mabd_status status =
            mabd_scene_load_text(scene, texts[i][0], strlen(texts[i][0]), 0, NULL, &error);
        cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", texts[i][0]);
        cr_expect(strstr(error.text, texts[i][1]) != NULL, "%d: %s", i, error.text);
        cr_expect(error.line > 0 && error.column > 0, "%d: %s", i, error.text);
        mabd_scene_destroy(scene);
    }
}

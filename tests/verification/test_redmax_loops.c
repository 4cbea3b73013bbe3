// SPDX-License-Identifier: Apache-2.0
// Loops in the redmax formulation: orders against mechanisms of one freedom, dead points, redundant
// rows in a plane and in space, agreement with the other formulations, joint forces, what loops do
// not allow, threads, saved states.

#include "support/one_freedom.h"
#include "support/sanitized.h"

#include <stdlib.h>

static mabd_sim_def def_of(mabd_formulation formulation, mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = formulation, def.integrator = integrator;
    return def;
}

static mabd_sim_def redmax(double h) {
    return def_of(MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_AUTO, h);
}

// ---- orders ------------------------------------------------------------------------------------

static const one_freedom_bound bounds[] = {
    {MABD_INTEGRATOR_BDF2, {1.9, 2.2}, {1.9, 2.1}},
    {MABD_INTEGRATOR_SDIRK2, {1.9, 2.1}, {1.9, 2.1}},
    {MABD_INTEGRATOR_EULER, {0.9, 1.1}, {0.8, 1.1}},
    {MABD_INTEGRATOR_LINEAR_IMPLICIT, {0.9, 1.1}, {0.8, 1.1}},
    {MABD_INTEGRATOR_SEMI_IMPLICIT, {0.9, 1.1}, {0.9, 1.1}},
};

// Sdirk2 with the poses of rows in its stages has order 0.8 here.
Test(redmax_loops, orders_on_a_four_bar) {
    const one_freedom m = four_bar_mechanism();
    const double gap = one_freedom_orders(&m, four_bar_model(), MABD_FORMULATION_REDMAX, 0.002, 0.4,
                                          sizeof bounds / sizeof bounds[0], bounds);
    cr_expect(lt(dbl, gap, 1e-12));
}

// Distance of the crank from that of the one freedom.
static double crank_error(const one_freedom* m, const mabd_model* model, mabd_sim_def def,
                          double seconds, double* rate_error) {
    mabd_sim* sim = rig_sim(model, &def);
    double p, w, angle, speed;
    one_freedom_read(sim, &p, &w);
    one_freedom_run(m, seconds, &p, &w);
    while (mabd_sim_time(sim) < seconds - 1e-9) rig_step(sim);
    one_freedom_read(sim, &angle, &speed);
    *rate_error = fabs(speed - w);
    mabd_sim_destroy(sim);
    return fabs(remainder(angle - p, 2 * acos(-1)));
}

Test(redmax_loops, rk45_meets_its_tolerance_on_a_four_bar) {
    const one_freedom m = four_bar_mechanism();
    mabd_model* model = four_bar_model();
    mabd_sim_def def = def_of(MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_RK45, 0.02);
    double rate;
    def.redmax.newton_tolerance = (mabd_real)1e-8;
    const double pose = crank_error(&m, model, def, 0.4, &rate);
    printf("rk45: angle %.2e, rate %.2e\n", pose, rate);
    cr_expect(lt(dbl, pose, 1e-7));
    cr_expect(lt(dbl, rate, 1e-6));
    mabd_model_destroy(model);
}

// A crank of 0.3 m, a rod of 0.8 m and a slider of 0.2 m on a line along x at z = 0.3.
static void slider_place(double p, double out[][3]) {
    const double x = 0.3 * cos(p), z = 0.3 * sin(p), rise = 0.3 - z, run = sqrt(0.64 - rise * rise);
    const double places[3][3] = {
        {x / 2, z / 2, p}, {x + run / 2, z + rise / 2, atan2(rise, run)}, {x + run, 0.3, 0}};
    memcpy(out, places, sizeof places);
}

static const char* const slider_text =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"crank\", \"shape\": \"box\", \"size\": [0.05, 0.05, 0.3],"
    " \"position\": [0, 0, 0.15], \"velocity\": [-0.6, 0, 0], \"angular_velocity\": [0, -4, 0]},"
    "{\"name\": \"rod\", \"shape\": \"box\", \"size\": [0.8, 0.05, 0.05],"
    " \"position\": [0.4, 0, 0.3], \"velocity\": [-1.2, 0, 0]},"
    "{\"name\": \"slider\", \"shape\": \"box\", \"size\": [0.2, 0.05, 0.05],"
    " \"position\": [0.8, 0, 0.3], \"velocity\": [-1.2, 0, 0]}], \"joints\": ["
    "{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"crank\", \"anchor\": [0, 0, 0],"
    " \"axis\": [0, 1, 0]},"
    "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"rod\", \"anchor\": [0, 0, 0.3],"
    " \"axis\": [0, 1, 0]},"
    "{\"type\": \"hinge\", \"a\": \"rod\", \"b\": \"slider\", \"anchor\": [0.8, 0, 0.3],"
    " \"axis\": [0, 1, 0]},"
    "{\"type\": \"prismatic\", \"a\": \"world\", \"b\": \"slider\", \"anchor\": [0.8, 0, 0.3],"
    " \"axis\": [1, 0, 0]}]}";

Test(redmax_loops, orders_on_a_slider_crank) {
    one_freedom m = {.gravity = 9.81, .at = slider_place};
    const double lengths[3] = {0.3, 0.8, 0.2};
    for (int i = 0; i < 3; i++) one_freedom_bar(&m, lengths[i], 0.05);
    const double gap = one_freedom_orders(&m, rig_text_model(slider_text), MABD_FORMULATION_REDMAX,
                                          0.004, 0.6, 2, bounds);
    cr_expect(lt(dbl, gap, 1e-12));
}

// ---- dead points -------------------------------------------------------------------------------

// A coupler of 1 m on three cranks of 0.4 m, 0.5 m apart: it moves in circles. All cranks are
// parallel to the coupler twice in a turn; two of them would let it leave the circle there.
static void parallel_place(double p, double out[][3]) {
    for (int i = 0; i < 3; i++) {
        out[i][0] = 0.5 * i + 0.2 * cos(p), out[i][1] = 0.2 * sin(p), out[i][2] = p;
    }
    out[3][0] = 0.5 + 0.4 * cos(p), out[3][1] = 0.4 * sin(p), out[3][2] = 0;
}

// Hanging, turning at `rate` [rad/s].
static mabd_model* parallel_model(double rate) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    const mabd_real thin = (mabd_real)0.03, size[3] = {thin, thin, (mabd_real)0.4};
    const mabd_geom crank = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    int32_t cranks[3];
    for (int i = 0; i < 3; i++) {
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &crank;
        body.position[0] = (mabd_real)(0.5 * i), body.position[2] = (mabd_real)-0.2;
        body.velocity[0] = (mabd_real)(0.2 * rate);
        body.angular_velocity[1] = (mabd_real)-rate;
        cranks[i] = rig_add_body(scene, &body);
    }
    const mabd_real length[3] = {1, thin, thin};
    const mabd_geom bar = mabd_geom_make(MABD_SHAPE_BOX, length, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &bar;
    body.position[0] = (mabd_real)0.5, body.position[2] = (mabd_real)-0.4;
    body.velocity[0] = (mabd_real)(0.4 * rate);
    const int32_t coupler = rig_add_body(scene, &body);
    for (int i = 0; i < 3; i++) {
        rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, cranks[i], (mabd_real)(0.5 * i), 0);
        rig_add_joint(scene, MABD_JOINT_HINGE, cranks[i], coupler, (mabd_real)(0.5 * i),
                      (mabd_real)-0.4);
    }
    return rig_model(scene);
}

Test(redmax_loops, three_parallel_cranks_turn_through_their_dead_points) {
    one_freedom m = {.gravity = 9.81, .at = parallel_place};
    for (int i = 0; i < 3; i++) one_freedom_bar(&m, 0.4, 0.03);
    one_freedom_bar(&m, 1, 0.03);
    const double gap =
        one_freedom_orders(&m, parallel_model(12), MABD_FORMULATION_REDMAX, 0.004, 0.8, 2, bounds);
    cr_expect(lt(dbl, gap, 1e-12));
}

// At rest with all bars in line, or almost, and let go: nothing but the second order of the rows
// holds the coupler.
static void start_at_dead_point(double p) {
    mabd_model* model = parallel_model(0);
    mabd_sim_def def = redmax(0.002);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_real x[12], q[16], zero[12] = {0};
    double at[4][3], lowest = 0;
    parallel_place(p, at); // p = 0: cranks and coupler along x
    for (int i = 0; i < 4; i++) {
        const double turn = (i < 3 ? -(p + acos(-1) / 2) : 0) / 2; // about y, from hanging
        x[3 * i] = at[i][0], x[3 * i + 1] = 0, x[3 * i + 2] = at[i][1];
        q[4 * i] = cos(turn), q[4 * i + 2] = sin(turn), q[4 * i + 1] = q[4 * i + 3] = 0;
    }
    rig_check(mabd_sim_set_state(sim, x, q, zero, zero, &error), &error, "state");
    const mabd_real start = mabd_sim_measure(sim).energy;
    for (int i = 0; i < 300; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.gap < 1e-12, "step %d: gap %g", i, (double)info.gap);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        lowest = fmin(lowest, x[11]);
    }
    cr_expect(lt(dbl, fabs(hypot(x[9] - 0.5, x[11]) - 0.4), 1e-12)); // still on its circle
    cr_expect(lt(dbl, lowest, -0.39), "it swings through");
    cr_expect(lt(dbl, fabs(mabd_sim_measure(sim).energy - start), 0.01));
    rig_destroy(sim, model);
}

Test(redmax_loops, cranks_start_from_rest_near_a_dead_point) {
    start_at_dead_point(1e-7);
}

Test(redmax_loops, cranks_start_from_rest_in_a_dead_point) {
    start_at_dead_point(0);
}

// ---- space -------------------------------------------------------------------------------------

// Bennett's linkage: opposite bars alike, a = 0.5 m, twist 0.6 rad, and b = a sin(beta)/sin(alpha),
// twist beta = 1.1 rad. Its four hinges have one freedom where counting gives minus two. Corners by
// the closure of the loop: products of (turn t_i about z, shift a_i along x, twist about x).
typedef struct placed_frame {
    double R[3][3], p[3];
} placed_frame;

static placed_frame after(placed_frame F, double turn, double length, double twist) {
    const double c = cos(turn), s = sin(turn), ct = cos(twist), st = sin(twist);
    const double M[3][3] = {{c, -s * ct, s * st}, {s, c * ct, -c * st}, {0, st, ct}};
    const double shift[3] = {length * c, length * s, 0};
    placed_frame out = F;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            out.R[i][k] = 0;
            for (int j = 0; j < 3; j++) out.R[i][k] += F.R[i][j] * M[j][k];
            out.p[i] += F.R[i][k] * shift[k];
        }
    }
    return out;
}

static mabd_model* bennett(void) {
    const double alpha = 0.6, beta = 1.1, a = 0.5, b = a * sin(beta) / sin(alpha), first = 1;
    // tan(t1/2) tan(t2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2), t3 = -t1, t4 = -t2
    const double ratio = sin((beta + alpha) / 2) / sin((beta - alpha) / 2);
    const double second = 2 * atan(ratio / tan(first / 2));
    const double turns[4] = {first, second, -first, -second};
    const double lengths[4] = {a, b, a, b}, twists[4] = {alpha, beta, alpha, beta};
    placed_frame F[5] = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}};
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_error error = {0};
    int32_t bars[4];
    for (int i = 0; i < 4; i++) F[i + 1] = after(F[i], turns[i], lengths[i], twists[i]);
    for (int k = 0; k < 3; k++) cr_assert(lt(dbl, fabs(F[4].p[k]), 1e-12));
    for (int i = 0; i < 4; i++) { // a bar from corner i to corner i + 1, as a ball at its middle
        const mabd_real size[3] = {(mabd_real)0.05, 0, 0};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        body.motion = i == 0 ? MABD_MOTION_FIXED : MABD_MOTION_DYNAMIC;
        for (int k = 0; k < 3; k++) body.position[k] = (F[i].p[k] + F[(i + 1) % 4].p[k]) / 2;
        bars[i] = rig_add_body(scene, &body);
    }
    for (int i = 0; i < 4; i++) { // the hinge at corner i + 1 is along the z axis there
        mabd_joint_def joint = mabd_default_joint_def();
        const int corner = (i + 1) % 4;
        const mabd_real axis[3] = {F[corner].R[0][2], F[corner].R[1][2], F[corner].R[2][2]};
        joint.type = MABD_JOINT_HINGE, joint.a = bars[i], joint.b = bars[(i + 1) % 4];
        for (int k = 0; k < 3; k++) joint.anchor[k] = F[corner].p[k];
        cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

Test(redmax_loops, bennetts_linkage_moves_with_its_redundant_rows) {
    mabd_model* model = bennett();
    const mabd_sim_def def = redmax(0.002);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double most = 0;
    for (int i = 0; i < 500; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        cr_assert(info.converged && info.retries == 0, "step %d", i);
        cr_assert(info.gap < 1e-12 && info.angle_error < 1e-12, "gap %g", (double)info.gap);
        most = fmax(most, now.kinetic);
        cr_assert(lt(dbl, fabs(now.energy - start.energy), 2e-3 * (1e-3 + most)));
    }
    cr_expect(lt(dbl, 1, most)); // it falls
    rig_destroy(sim, model);
}

// ---- agreement ---------------------------------------------------------------------------------

#define LEVELS 3

// Largest distance of a body in two formulations after `time`.
static double distance_of(const mabd_model* model, mabd_formulation other, double h, double time) {
    const mabd_sim_def def = redmax(h), theirs = def_of(other, MABD_INTEGRATOR_AUTO, h);
    mabd_sim *a = rig_sim(model, &def), *b = rig_sim(model, &theirs);
    while (mabd_sim_time(a) < time - 1e-9) rig_step(a), rig_step(b);
    const double worst = rig_apart(model, a, b);
    mabd_sim_destroy(a), mabd_sim_destroy(b);
    return worst;
}

static void expect_agreement(mabd_model* model, const char* name, mabd_formulation other, double h,
                             double time) {
    double errors[LEVELS];
    char text[64];
    for (int i = 0; i < LEVELS; i++) errors[i] = distance_of(model, other, ldexp(h, -i), time);
    snprintf(text, sizeof text, "%s, %s", name, mabd_formulation_name(other));
    const double order = rig_order(text, h, LEVELS, errors);
    cr_expect(ge(dbl, order, 1.75), "%s: order %g", text, order);
    mabd_model_destroy(model);
}

// Five bars with the ground, two freedoms: cranks of 0.4 m, 1 m apart, and two bars that meet.
static mabd_model* five_bar(void) {
    return rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
        "{\"name\": \"left\", \"shape\": \"box\", \"size\": [0.03, 0.03, 0.4],"
        " \"position\": [0, 0, 0.2]}, {\"name\": \"right\", \"shape\": \"box\","
        " \"size\": [0.03, 0.03, 0.4], \"position\": [1, 0, 0.2]},"
        "{\"name\": \"up\", \"shape\": \"box\", \"size\": [0.03, 0.03, 0.5830951894845301],"
        " \"position\": [0.25, 0, 0.55], \"rotation\": [0.8746424812468178, 0, 0.4847685323929452, "
        "0]},"
        "{\"name\": \"down\", \"shape\": \"box\", \"size\": [0.03, 0.03, 0.5830951894845301],"
        " \"position\": [0.75, 0, 0.55], \"rotation\": [0.8746424812468178, 0, "
        "-0.4847685323929452, 0]}],"
        " \"joints\": ["
        "{\"type\": \"hinge\", \"b\": \"left\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]},"
        "{\"type\": \"hinge\", \"b\": \"right\", \"anchor\": [1, 0, 0], \"axis\": [0, 1, 0],"
        " \"axes\": {\"rx\": {\"motor\": 2}}},"
        "{\"type\": \"hinge\", \"a\": \"left\", \"b\": \"up\", \"anchor\": [0, 0, 0.4],"
        " \"axis\": [0, 1, 0]},"
        "{\"type\": \"hinge\", \"a\": \"right\", \"b\": \"down\", \"anchor\": [1, 0, 0.4],"
        " \"axis\": [0, 1, 0]},"
        "{\"type\": \"hinge\", \"a\": \"up\", \"b\": \"down\", \"anchor\": [0.5, 0, 0.7],"
        " \"axis\": [0, 1, 0]}]}");
}

Test(redmax_loops, agree_with_the_other_formulations_at_second_order) {
    const mabd_formulation quaternion = MABD_FORMULATION_QUATERNION;
    expect_agreement(bennett(), "Bennett's linkage", quaternion, 0.004, 0.2);
    expect_agreement(five_bar(), "five-bar", quaternion, 0.002, 0.3);
    expect_agreement(rig_file_model("scenes/four-bar.json", "driven", "0"), "four-bar",
                     MABD_FORMULATION_AFFINE, 0.001, 0.1);
}

// Where drives and loops determine every pose there is nothing to integrate.
Test(redmax_loops, driven_mechanisms_are_where_their_drives_put_them) {
    const char* const scenes[] = {"scenes/four-bar.json", "scenes/strandbeest.json"};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = rig_file_model(scenes[i], NULL, NULL);
        cr_expect(lt(dbl, distance_of(model, MABD_FORMULATION_QUATERNION, 0.002, 0.1), 1e-12));
        mabd_model_destroy(model);
    }
}

// ---- forces ------------------------------------------------------------------------------------

// The forces in the plane of a four-bar are those of the quaternion formulation, at the cut joint
// too; the others are redundant.
Test(redmax_loops, joint_forces_converge_to_those_of_the_quaternion_formulation) {
    mabd_model* model = four_bar_model();
    double errors[LEVELS];
    for (int level = 0; level < LEVELS; level++) {
        const double h = ldexp(0.001, -level);
        const mabd_sim_def def = redmax(h),
                           theirs = def_of(MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_AUTO, h);
        mabd_sim *a = rig_sim(model, &def), *b = rig_sim(model, &theirs);
        mabd_real ours[24], other[24];
        while (mabd_sim_time(a) < 0.1 - 1e-9) rig_step(a), rig_step(b);
        mabd_sim_get_joint_forces(a, ours);
        mabd_sim_get_joint_forces(b, other);
        errors[level] = 0;
        for (int j = 0; j < 4; j++) {
            const double dx = ours[6 * j] - other[6 * j], dz = ours[6 * j + 2] - other[6 * j + 2];
            const double size = hypot(other[6 * j], other[6 * j + 2]);
            cr_expect(lt(dbl, 1, size));
            errors[level] = fmax(errors[level], hypot(dx, dz) / size);
        }
        mabd_sim_destroy(a), mabd_sim_destroy(b);
    }
    cr_expect(ge(dbl, rig_order("joint forces", 0.001, LEVELS, errors), 0.9));
    cr_expect(lt(dbl, errors[LEVELS - 1], 2e-3));
    mabd_model_destroy(model);
}

// ---- what loops do not allow -------------------------------------------------------------------

static const char* const hinge_pair =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"door\", \"shape\": \"box\", \"size\": [1, 1, 1]}], \"joints\": ["
    "{\"name\": \"top\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"door\","
    " \"anchor\": [0, %s, 0], \"axis\": [0, 1, 0]},"
    "{\"name\": \"bottom\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"door\","
    " \"anchor\": [%s, -1, 0], \"axis\": [0, 1, 0]%s}]}";

static mabd_model* door(const char* y, const char* x, const char* axes) {
    char text[1024];
    snprintf(text, sizeof text, hinge_pair, y, x, axes);
    return rig_text_model(text);
}

// A door on two hinges in line swings; on two apart it stands still; both have redundant rows.
Test(redmax_loops, a_body_between_two_hinges) {
    for (int apart = 0; apart < 2; apart++) {
        mabd_model* model = door("1", apart ? "0.2" : "0", "");
        const mabd_sim_def def = redmax(0.01);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3], torque[12] = {0};
        mabd_error error = {0};
        const int32_t body = 0;
        const mabd_real push[3] = {0, 100, 0};
        for (int i = 0; i < 50; i++) {
            rig_check(mabd_sim_apply_force(sim, 1, &body, NULL, push, &error), &error, "push");
            cr_assert(lt(dbl, rig_step(sim).gap, 1e-12));
        }
        mabd_sim_get_joint_forces(sim, torque);
        cr_expect(lt(dbl, fabs(torque[2] + torque[8] - 9810), 1e-6)); // they carry its weight
        mabd_sim_get_state(sim, NULL, NULL, NULL, x);
        cr_expect(apart ? fabs(x[1]) < 1e-9 : x[1] > 0.1, "%d: %g", apart, (double)x[1]);
        rig_destroy(sim, model);
    }
}

Test(redmax_loops, a_drive_that_a_loop_does_not_allow_is_an_error_that_names_a_joint) {
    mabd_model* model = door("1", "0.2",
                             ", \"axes\": {\"rx\": {\"servo\": {\"ramp\": {\"to\": 1, \"end\": "
                             "1}}, \"servo_rigid\": true}}");
    const mabd_sim_def def = redmax(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_step_info info;
    mabd_real before[3], after_step[3];
    mabd_sim_get_state(sim, before, NULL, NULL, NULL);
    const mabd_status status = mabd_sim_step(sim, &info, &error);
    cr_expect(eq(int, status, MABD_ERR_DIVERGED));
    cr_expect(strstr(error.text, "the loop does not close at") && strstr(error.text, "top"), "%s",
              error.text);
    mabd_sim_get_state(sim, after_step, NULL, NULL, NULL);
    cr_expect(memcmp(before, after_step, sizeof before) == 0);
    rig_destroy(sim, model);
}

// ---- bits --------------------------------------------------------------------------------------

// Four copies of a mechanism with loops, on 1, 2 and 4 threads, saved and restored on the way.
Test(redmax_loops, same_bits_on_any_number_of_threads_and_after_a_restore) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_error error = {0};
    for (int i = 0; i < 4; i++) {
        mabd_four_bar_def four_bar = mabd_default_four_bar_def();
        four_bar.driven = false;
        const char* const names[4] = {"a", "b", "c", "d"};
        four_bar.name = names[i], four_bar.position[1] = i;
        rig_check(mabd_generate_four_bar(scene, &four_bar, &error), &error, "four-bar");
    }
    mabd_model* model = rig_model(scene);
    mabd_real x[3][72], first[3];
    for (int t = 0; t < 3; t++) {
        mabd_sim_def def = redmax(0.004);
        def.threads = 1 << t;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 20; i++) rig_step(sim);
        const size_t size = mabd_sim_state_size(sim);
        void* state = malloc(size);
        mabd_sim_save(sim, state);
        for (int i = 0; i < 20 + 7 * t; i++) rig_step(sim);
        rig_check(mabd_sim_restore(sim, state, size, &error), &error, "restore");
        for (int i = 0; i < 20; i++) rig_step(sim);
        mabd_sim_get_state(sim, x[t], NULL, x[t] + 36, NULL);
        free(state);
        mabd_sim_destroy(sim);
        cr_expect(memcmp(x[0], x[t], sizeof x[0]) == 0, "%d threads", 1 << t);
    }
    mabd_model* single = four_bar_model();
    const mabd_sim_def def = redmax(0.004);
    mabd_sim* sim = rig_sim(single, &def);
    mabd_real alone[9];
    for (int i = 0; i < 40; i++) rig_step(sim);
    mabd_sim_get_state(sim, alone, NULL, NULL, NULL);
    memcpy(first, alone, sizeof first);
    cr_expect(memcmp(first, x[0], sizeof first) == 0); // among others as alone
    rig_destroy(sim, single);
    mabd_model_destroy(model);
}

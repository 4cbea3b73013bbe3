// SPDX-License-Identifier: Apache-2.0
// Contacts of the variational formulation: rest, friction, impacts and conservation laws of bodies
// on the ground and on each other, read through the public API alone.
#include "formulation/variational/variational_contact.h"
#include "mabd/batch.h"
#include "sim/sim_object.h"
#include "support/contact_rig.h"

#define G CONTACT_GRAVITY

static mabd_sim_def variational(double h, double tolerance) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    if (tolerance > 0) def.contact_tolerance = (mabd_real)tolerance;
    return def;
}

static mabd_sim* make_sim(mabd_scene* scene, const mabd_sim_def* def, mabd_model** model) {
    *model = rig_model(scene);
    return rig_sim(*model, def);
}

// Step that converges without being halved.
static mabd_step_info step(mabd_sim* sim) {
    const mabd_step_info info = contact_step(sim);
    cr_assert(info.retries == 0, "t = %g: %d retries", (double)mabd_sim_time(sim), info.retries);
    return info;
}

// ---- a box on the ground -----------------------------------------------------------------------

// [VI fig. 7d]: a cube of 1 kg falls 0.4 m and rests above the ground by the height at which its
// four corners carry its weight: gamma = m g/4 each, gamma s = mu. mu = 1e-4 J gives 40.8 um (43 um
// are published, 27 mm of a well known engine).
Test(variational_contacts, a_box_drops_and_rests_above_the_ground) {
    const mabd_real size[3] = {0.5, 0.5, 0.5};
    for (double mu = 1e-4; mu > 1e-11; mu *= 1e-3) {
        const double weight = (G + 0.1) / 4; // own compliance of a corner: 4/m
        mabd_scene* scene = contact_scene(G);
        mabd_model* model;
        contact_add_ground(scene, 0.5);
        contact_add(scene, &(contact_body){.shape = MABD_SHAPE_BOX,
                                           .size = {size[0], size[1], size[2]},
                                           .mass = 1,
                                           .friction = 0.5,
                                           .position = {0, 0, 0.65}});
        const mabd_sim_def def = variational(0.01, mu / weight);
        mabd_sim* sim = make_sim(scene, &def, &model);
        mabd_real x[6], q[8], v[6];
        double least = 1;
        int iterations = 0;
        for (int i = 0; i < 100; i++) {
            iterations += step(sim).iterations;
            mabd_sim_get_state(sim, x, q, v, NULL);
            least = fmin(least, contact_lowest_corner(x + 3, q + 4, size));
        }
        const double height = contact_lowest_corner(x + 3, q + 4, size);
        printf("mu %.0e J: rests %.3g m above the ground, %.2f iterations a step\n", mu, height,
               iterations / 100.0);
        cr_expect(lt(dbl, fabs(height / (4 * mu / G) - 1), 1e-4));
        cr_expect(height < 43e-6 && least > 0);
        cr_expect(lt(dbl, rig_norm(v + 3), 1e-9));
        rig_destroy(sim, model);
    }
}

// Way down scenes/incline.json, 20 degrees, after a second from rest, and the largest speed.
static double slide_down(double mu, mabd_sim_def def, double* speed) {
    char friction[32];
    snprintf(friction, sizeof friction, "%.17g", mu);
    mabd_model* model = rig_file_model("scenes/incline.json", "friction", friction);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real before[6], after[6], v[6];
    for (int i = 0; i < 20; i++) step(sim); // settles by less than its tolerance
    mabd_sim_get_state(sim, before, NULL, v, NULL);
    const double start = rig_norm(v + 3);
    for (int i = 0; i < 100; i++) step(sim);
    mabd_sim_get_state(sim, after, NULL, v, NULL);
    rig_destroy(sim, model);
    *speed = rig_norm(v + 3);
    for (int k = 3; k < 6; k++) after[k] -= before[k];
    return rig_norm(after + 3) - start; // 100 steps of 10 ms
}

Test(variational_contacts, a_block_rests_below_the_angle_of_friction_and_slides_above) {
    const double down = 20 * acos(-1) / 180;
    double speed;
    const mabd_sim_def exact = variational(0.01, 1e-9), plain = variational(0.01, 0);
    const double stuck = slide_down(tan(down) / 0.99, exact, &speed);
    printf("0.99 of the bound: %.1e m in 1 s, %.1e m/s\n", stuck, speed);
    cr_expect(stuck < 1e-9 && speed < 1e-9);
    (void)slide_down(tan(down) / 0.99, plain, &speed);
    printf("0.99, tolerance 1 um: %.1e m/s\n", speed);
    cr_expect(speed < 1e-9);
    const double mu = tan(down) / 1.01, wanted = G * (sin(down) - mu * cos(down)) / 2;
    const double slid = slide_down(mu, plain, &speed);
    printf("1.01: %.9f m of %.9f m\n", slid, wanted);
    cr_expect(lt(dbl, fabs(slid - wanted), 1e-6));
}

// A sliding box stops after v0^2/(2 c g) in all directions; the first step has half the friction.
// A block that starts in touch has Coulomb's friction at once, however small the step is: it is
// lifted to its height at rest too slowly to stick by the blow of it.
Test(variational_contacts, a_block_slides_from_its_first_step_on) {
    const double down = 20 * acos(-1) / 180, steps[3] = {0.01, 1e-3, 5e-4};
    for (int i = 0; i < 3; i++) {
        const mabd_sim_def def = variational(steps[i], 0);
        mabd_model* model = rig_file_model("scenes/incline.json", "friction", "0.3");
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real before[6], after[6], v[6];
        const int count = (int)round(0.1 / steps[i]);
        mabd_sim_get_state(sim, before, NULL, NULL, NULL);
        step(sim);
        mabd_sim_get_state(sim, after, NULL, v, NULL);
        const double speed = G * (sin(down) - 0.3 * cos(down)) * steps[i];
        cr_expect(lt(dbl, fabs(rig_norm(v + 3) - speed), 1e-5), "h = %g: %g of %g m/s", steps[i],
                  rig_norm(v + 3), speed);
        for (int k = 1; k < count; k++) step(sim);
        mabd_sim_get_state(sim, after, NULL, NULL, NULL);
        rig_destroy(sim, model);
        for (int k = 3; k < 6; k++) after[k] -= before[k];
        const double wanted = G * (sin(down) - 0.3 * cos(down)) / 2 * 0.01;
        printf("h = %g s: %.3e m off %.6f m\n", steps[i], rig_norm(after + 3) - wanted, wanted);
        cr_expect(lt(dbl, fabs(rig_norm(after + 3) - wanted), 2e-6), "h = %g", steps[i]);
    }
}

static double sliding_way(double degrees, mabd_cone cone, double* aside) {
    const double angle = degrees * acos(-1) / 180;
    mabd_scene* scene = contact_scene(G);
    mabd_model* model;
    contact_add_ground(scene, 0.3);
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_BOX,
                                       .size = {0.5, 0.5, 0.5},
                                       .mass = 1,
                                       .friction = 0.3,
                                       .position = {0, 0, 0.25},
                                       .velocity = {2 * cos(angle), 2 * sin(angle), 0}});
    mabd_sim_def def = variational(0.01, 1e-8);
    def.variational.cone = cone;
    mabd_sim* sim = make_sim(scene, &def, &model);
    mabd_real x[6];
    for (int i = 0; i < 100; i++) step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    rig_destroy(sim, model);
    *aside = x[3] * sin(angle) - x[4] * cos(angle);
    return hypot(x[3], x[4]);
}

Test(variational_contacts, a_sliding_box_stops_after_the_same_way_in_all_directions) {
    const double wanted = 4 / (2 * 0.3 * G);
    double aside, first = 0;
    for (int i = 0; i < 3; i++) {
        const double way = sliding_way(22.5 * i, MABD_CONE_CIRCULAR, &aside);
        printf("%g degrees: %.9f m of %.9f m, %.1e m aside\n", 22.5 * i, way, wanted, aside);
        if (i == 0) first = way;
        cr_expect(lt(dbl, fabs(way / wanted - 1), 2e-6));
        cr_expect(lt(dbl, fabs(way - first), 1e-6));
        cr_expect(lt(dbl, fabs(aside), 1e-6));
    }
    const double diagonal = sliding_way(45, MABD_CONE_PYRAMID, &aside);
    printf("pyramid at 45 degrees: %.3f of it\n", diagonal / wanted);
    cr_expect(lt(dbl, fabs(diagonal / wanted - sqrt(2)), 0.01));
    cr_expect(lt(dbl, fabs(sliding_way(0, MABD_CONE_PYRAMID, &aside) / wanted - 1), 1e-5));
}

// Add the forces of points that do not press: the barrier pushes from any distance.
static void add_unlisted(const mabd_sim* sim, double* sum) {
    const mabd_variational_contacts* c = ((const mabd_variational_sim*)sim->self)->contacts;
    const mabd_variational_known* known = c->known.data;
    for (int32_t i = 0; i < c->known.count; i++) {
        if (mabd_variational_presses(&known[i])) continue;
        mabd_vec3 f = mabd_v3_scale(known[i].memory.gamma, known[i].axis[0]);
        for (int k = 0; k < 2; k++) {
            f = mabd_v3_axpy(known[i].friction[k], known[i].axis[1 + k], f);
        }
        sum[0] += f.x, sum[1] += f.y, sum[2] += f.z;
    }
}

// The law at the end of every step of a tumbling box, and the momentum that contacts give.
Test(variational_contacts, forces_obey_the_law_and_change_the_momentum) {
    const double h = 0.01, c = 0.4;
    mabd_scene* scene = contact_scene(G);
    mabd_model* model;
    contact_add_ground(scene, c);
    mabd_real turn[4];
    contact_turn(1 / sqrt(1.13), 0.3 / sqrt(1.13), 0.2 / sqrt(1.13), 0.6, turn);
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_BOX,
                                       .size = {0.5, 0.4, 0.3},
                                       .mass = 2,
                                       .friction = c,
                                       .position = {0, 0, 0.6},
                                       .rotation = {turn[0], turn[1], turn[2], turn[3]},
                                       .velocity = {1.5, 0.4, 0},
                                       .angular = {1, 3, -2}});
    const mabd_sim_def def = variational(h, 0);
    mabd_sim* sim = make_sim(scene, &def, &model);
    mabd_real x0[6], x1[6], x2[6];
    mabd_sim_get_state(sim, x0, NULL, NULL, NULL);
    step(sim);
    mabd_sim_get_state(sim, x1, NULL, NULL, NULL);
    double worst = 0;
    int slides = 0;
    for (int i = 0; i < 150; i++) {
        mabd_contact_info contacts[8];
        step(sim);
        mabd_sim_get_state(sim, x2, NULL, NULL, NULL);
        const int32_t count = mabd_sim_get_contacts(sim, 8, contacts);
        double sum[3] = {0, 0, -2 * G};
        for (int k = 0; k < count; k++) {
            const double *f = contacts[k].force, *n = contacts[k].normal;
            const double push = f[0] * n[0] + f[1] * n[1] + f[2] * n[2];
            const double t[3] = {f[0] - push * n[0], f[1] - push * n[1], f[2] - push * n[2]};
            cr_assert(contacts[k].distance > 0 && push > 0);
            cr_assert(rig_norm(t) <= c * push * (1 + 1e-12));
            slides += contacts[k].slips;
            for (int j = 0; j < 3; j++) sum[j] += f[j];
        }
        // m (x2 - 2 x1 + x0)/h = h (weight + forces), with those far off that are not listed
        add_unlisted(sim, sum);
        for (int j = 0; j < 3; j++) {
            const double change = 2 * (x2[3 + j] - 2 * x1[3 + j] + x0[3 + j]) / h;
            worst = fmax(worst, fabs(change - h * sum[j]));
        }
        memcpy(x0, x1, sizeof x0), memcpy(x1, x2, sizeof x1);
    }
    printf("momentum off by %.1e kg m/s, %d sliding contacts\n", worst, slides);
    cr_expect(lt(dbl, worst, 1e-12));
    cr_expect(lt(int, 20, slides));
    rig_destroy(sim, model);
}

// ---- bodies on each other ----------------------------------------------------------------------

// Forces act at one common point: no angular momentum is lost, with friction, off centre.
Test(variational_contacts, spheres_that_collide_keep_their_momenta) {
    mabd_scene* scene = contact_scene(0);
    mabd_model* model;
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_SPHERE,
                                       .size = {0.25},
                                       .mass = 1,
                                       .friction = 0.5,
                                       .velocity = {2, 0, 0},
                                       .angular = {0, 0, 5}});
    contact_add(scene, &(contact_body){.shape = MABD_SHAPE_SPHERE,
                                       .size = {0.3},
                                       .mass = 2,
                                       .friction = 0.5,
                                       .position = {0.8, 0.2, 0.1},
                                       .angular = {1, -4, 2}});
    const mabd_sim_def def = variational(0.01, 0);
    mabd_sim* sim = make_sim(scene, &def, &model);
    const mabd_measure start = mabd_sim_measure(sim);
    bool touched = false;
    for (int i = 0; i < 100; i++) touched |= step(sim).contacts > 0;
    const mabd_measure end = mabd_sim_measure(sim);
    double linear = 0, angular = 0;
    for (int k = 0; k < 3; k++) {
        linear = fmax(linear, fabs(end.linear_momentum[k] - start.linear_momentum[k]));
        angular = fmax(angular, fabs(end.angular_momentum[k] - start.angular_momentum[k]));
    }
    printf("momenta: %.1e kg m/s, %.1e kg m^2/s\n", linear, angular);
    cr_assert(touched);
    cr_expect(lt(dbl, start.kinetic * 0.95, start.kinetic)); // (there is energy to lose)
    cr_expect(lt(dbl, end.kinetic, 0.95 * start.kinetic));
    cr_expect(lt(dbl, linear, 1e-13));
    cr_expect(lt(dbl, angular, 1e-13));
    rig_destroy(sim, model);
}

// Boxes on each other: every face carries what is above it; no restart, no overlap, rest.
static void expect_rest(const double (*at)[2], int count, const char* name) {
    mabd_scene* scene = contact_scene(G);
    mabd_model* model;
    contact_add_ground(scene, 0.5);
    for (int i = 0; i < count; i++) {
        contact_add(scene, &(contact_body){.shape = MABD_SHAPE_BOX,
                                           .size = {0.2, 0.2, 0.2},
                                           .mass = 8,
                                           .friction = 0.5,
                                           .position = {at[i][0], 0, at[i][1]}});
    }
    const mabd_sim_def def = variational(0.01, 0);
    mabd_sim* sim = make_sim(scene, &def, &model);
    mabd_contact_info contacts[64];
    mabd_real x[30], v[30];
    int iterations = 0, most = 0;
    for (int i = 0; i < 200; i++) {
        const mabd_step_info info = step(sim);
        cr_assert(eq(int, info.variational.restarts, 0));
        iterations += info.iterations, most = info.iterations > most ? info.iterations : most;
    }
    mabd_sim_get_state(sim, x, NULL, v, NULL);
    double speed = 0, ground = 0;
    for (int i = 1; i <= count; i++) speed = fmax(speed, rig_norm(v + 3 * i));
    const int32_t n = mabd_sim_get_contacts(sim, 64, contacts);
    for (int i = 0; i < n; i++) ground += contacts[i].a == 0 ? contacts[i].force[2] : 0;
    printf("%s: %.1f iterations, at most %d, speed %.1e m/s, ground %.9f of the weight\n", name,
           iterations / 200.0, most, speed, ground / (8 * G * count));
    cr_expect(lt(dbl, speed, 1e-8));
    cr_expect(lt(dbl, fabs(ground / (8 * G * count) - 1), 1e-9));
    cr_expect(eq(dbl, contact_depth(sim), 0));
    for (int i = 0; i < count; i++) {
        cr_expect(lt(dbl, hypot(x[3 * i + 3] - at[i][0], x[3 * i + 5] - at[i][1]), 1e-4));
    }
    rig_destroy(sim, model);
}

Test(variational_contacts, a_column_and_a_pyramid_rest) {
    const double column[4][2] = {{0, 0.1}, {0, 0.3}, {0, 0.5}, {0, 0.7}};
    const double pyramid[4][2] = {{-0.11, 0.1}, {0.11, 0.1}, {0.33, 0.1}, {0, 0.3}};
    expect_rest(column, 4, "column");
    expect_rest(pyramid, 4, "pyramid");
}

// [VI fig. 8b]: rows of spheres on ball joints fall on the ground and whirl over it. Twelve times
// the spheres take less than twice the iterations, and none is in the ground by more than the
// tolerance.
Test(variational_contacts, rows_of_spheres_whirl_over_the_ground) {
    double mean[3];
    for (int i = 0; i < 3; i++) {
        const char* links[3] = {"5", "20", "60"};
        mabd_error error = {0};
        mabd_scene* scene;
        char path[1024];
        snprintf(path, sizeof path, "%s/scenes/variational/spheres.json", MABD_SOURCE_DIR);
        const mabd_setting settings[2] = {{"links", links[i]}, {"spin", "0.2"}};
        rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
        rig_check(mabd_scene_load(scene, path, 2, settings, &error), &error, "spheres");
        const mabd_sim_def def = variational(0.01, 0);
        mabd_model* model;
        mabd_sim* sim = make_sim(scene, &def, &model);
        double gap = 0;
        int iterations = 0, contacts = 0;
        for (int k = 0; k < 60; k++) {
            const mabd_step_info info = contact_step(sim);
            iterations += info.iterations, gap = fmax(gap, info.gap);
            contacts = info.contacts > contacts ? info.contacts : contacts;
            cr_assert(lt(dbl, contact_depth(sim), 1e-6)); // the contact tolerance
        }
        mean[i] = iterations / 60.0;
        printf("%s spheres: %.2f iterations, %d contacts, gap %.1e m\n", links[i], mean[i],
               contacts, gap);
        cr_expect(eq(int, contacts, atoi(links[i])));
        cr_expect(lt(dbl, gap, 1e-12));
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, mean[2], 2 * mean[0]));
}

// ---- impacts -----------------------------------------------------------------------------------

// Balls of scenes/bounce.json from 1 m return to e^2. An impact takes place at the start of a step,
// up to a step's way above the ground, with the speed that it would have there: heights are right
// to the sampling of the top, g h^2/8, and e = 1 never rises above its start.
Test(variational_contacts, balls_return_to_the_height_of_their_restitution) {
    const double e[4] = {1, 0.8, 0.5, 0};
    for (int i = 0; i < 3; i++) {
        mabd_model* model = rig_file_model("scenes/bounce.json", NULL, NULL);
        const double h = ldexp(0.008, -i);
        const mabd_sim_def def = variational(h, 0);
        mabd_sim* sim = rig_sim(model, &def);
        double top[4] = {0};
        mabd_real x[15];
        bool hit[4] = {false};
        while (mabd_sim_time(sim) < 1.1) {
            step(sim);
            mabd_sim_get_state(sim, x, NULL, NULL, NULL);
            for (int k = 0; k < 4; k++) {
                const double height = x[3 * k + 5] - 0.1;
                cr_assert(lt(dbl, -1e-12, height));
                if (hit[k]) top[k] = fmax(top[k], height);
                hit[k] |= height < 5 * h;
            }
        }
        for (int k = 0; k < 4; k++) {
            const double error = top[k] - e[k] * e[k];
            printf("h %.3g, e %.1f: %+.1e m\n", h, e[k], error);
            cr_expect(lt(dbl, fabs(error), 2 * G * h * h), "h %g, e %g: %g", h, e[k], error);
            if (k == 0) cr_expect(lt(dbl, error, 2e-6));
        }
        rig_destroy(sim, model);
    }
}

// ---- bits --------------------------------------------------------------------------------------

// A saved state continues with the same bits, and threads do not matter. The kick slides a
// box by 5 mm and topples none: impacts of corners among ten boxes take iterations that are long,
// which this test is not about.
Test(variational_contacts, states_and_threads_keep_the_bits) {
    mabd_model* model = rig_file_model("scenes/stack.json", NULL, NULL);
    mabd_sim_def def = variational(0.01, 0);
    mabd_sim* sim = rig_sim(model, &def);
    def.threads = 3;
    mabd_sim* other = rig_sim(model, &def);
    mabd_real x[2][33], v[2][33];
    mabd_error error = {0};
    const mabd_real kick[3] = {800, 260, 0};
    const int32_t body = 5;
    rig_check(mabd_sim_apply_force(sim, 1, &body, kick, NULL, &error), &error, "force");
    rig_check(mabd_sim_apply_force(other, 1, &body, kick, NULL, &error), &error, "force");
    for (int i = 0; i < 20; i++) rig_step(sim), rig_step(other);
    const size_t size = mabd_sim_state_size(sim);
    char* state = malloc(size);
    mabd_sim_save(sim, state);
    mabd_sim_destroy(other);
    other = rig_sim(model, &def);
    rig_check(mabd_sim_restore(other, state, size, &error), &error, "restore");
    for (int i = 0; i < 30; i++) rig_step(sim), rig_step(other);
    mabd_sim_get_state(sim, x[0], NULL, v[0], NULL);
    mabd_sim_get_state(other, x[1], NULL, v[1], NULL);
    cr_expect(memcmp(x[0], x[1], sizeof x[0]) == 0);
    cr_expect(memcmp(v[0], v[1], sizeof v[0]) == 0);
    printf("kicked: %.2e m\n", x[0][15]);
    cr_expect(lt(dbl, 1e-5, fabs(x[0][15]))); // (the kick moved it)
    free(state);
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

// Rows of spheres as copies, each with its own spin, move with the bits that they have alone:
// islands depend on nothing else.
static mabd_scene* spun_row(const char* spin) {
    mabd_error error = {0};
    mabd_scene* scene;
    char path[1024];
    snprintf(path, sizeof path, "%s/scenes/variational/spheres.json", MABD_SOURCE_DIR);
    const mabd_setting settings[2] = {{"links", "4"}, {"spin", spin}};
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, path, 2, settings, &error), &error, "spheres");
    return scene;
}

Test(variational_contacts, copies_have_the_bits_that_they_have_alone) {
    const char* const spins[3] = {"0", "1", "3"};
    mabd_error error = {0};
    mabd_scene* batch;
    rig_check(mabd_scene_create(NULL, &batch), &error, "batch");
    for (int k = 0; k < 3; k++) {
        mabd_scene* copy = spun_row(spins[k]);
        rig_check(mabd_scene_add_copy(batch, copy, &error), &error, "copy");
        mabd_scene_destroy(copy);
    }
    mabd_sim_def def = variational(0.01, 0);
    def.threads = 2;
    mabd_model* model;
    mabd_sim* all = make_sim(batch, &def, &model);
    mabd_real x[45], alone[15];
    for (int i = 0; i < 40; i++) contact_step(all);
    mabd_sim_get_state(all, x, NULL, NULL, NULL);
    for (int k = 0; k < 3; k++) {
        mabd_model* one;
        mabd_sim* sim = make_sim(spun_row(spins[k]), &def, &one);
        for (int i = 0; i < 40; i++) contact_step(sim);
        mabd_sim_get_state(sim, alone, NULL, NULL, NULL);
        cr_expect(memcmp(alone, x + 15 * k, sizeof alone) == 0, "copy %d", k);
        rig_destroy(sim, one);
    }
    rig_destroy(all, model);
}

// SPDX-License-Identifier: Apache-2.0
// Contacts in the redmax formulation, with Coulomb's law (staggered) and with one convex problem
// (one-qp): blocks that stick and slide, balls that bounce, stacks, an arm that leans on ground.

#include "support/rig.h"

#include <stdlib.h>

#define G 9.81

// Both problems in coordinates of joints, then in maximal ones.
enum { STAGGERED, ONE_QP, STAGGERED_MAXIMAL, ONE_QP_MAXIMAL, VARIANTS };
static const char* const variant_names[VARIANTS] = {"staggered", "one-qp", "staggered, maximal",
                                                    "one-qp, maximal"};

static mabd_sim_def redmax(double h, int variant) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.redmax.contacts =
        variant % 2 ? MABD_CONTACT_PROBLEM_ONE_QP : MABD_CONTACT_PROBLEM_STAGGERED;
    if (variant >= STAGGERED_MAXIMAL) def.redmax.coordinates = MABD_COORDINATES_MAXIMAL;
    return def;
}

static mabd_step_info contact_run(mabd_sim* sim, double seconds) {
    mabd_step_info info = {0};
    const double end = mabd_sim_time(sim) + seconds;
    while (mabd_sim_time(sim) < end - 1e-9) {
        info = rig_step(sim);
        cr_expect(info.converged, "t = %g: residual %g", (double)mabd_sim_time(sim),
                  (double)info.contact_residual);
    }
    return info;
}

// Way down the incline after 1 s, of steps of 5 ms; *depth: deepest overlap.
static double slide(double degrees, double mu, int variant, double* depth) {
    mabd_error error = {0};
    mabd_scene* scene;
    char angle[32], friction[32], path[1024];
    snprintf(angle, sizeof angle, "%.17g", degrees);
    snprintf(friction, sizeof friction, "%.17g", mu);
    snprintf(path, sizeof path, "%s/scenes/incline.json", MABD_SOURCE_DIR);
    const mabd_setting settings[2] = {{"angle", angle}, {"friction", friction}};
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, path, 2, settings, &error), &error, "incline");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = redmax(0.005, variant);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real before[6], after[6], overlap;
    int32_t a, b;
    mabd_sim_get_state(sim, before, NULL, NULL, NULL);
    contact_run(sim, 1);
    mabd_sim_get_state(sim, after, NULL, NULL, NULL);
    rig_check(mabd_sim_overlap(sim, &overlap, &a, &b), &error, "overlap");
    *depth = overlap;
    const double down = degrees * acos(-1) / 180;
    const double way = cos(down) * (after[3] - before[3]) - sin(down) * (after[5] - before[5]);
    rig_destroy(sim, model);
    return way;
}

Test(redmax_contacts, a_block_sticks_above_the_angle_of_friction_and_slides_below) {
    for (int i = 0; i < VARIANTS; i++) {
        const double down = 20 * acos(-1) / 180;
        double depth;
        const double stuck = slide(20, 1.01 * tan(down), i, &depth);
        cr_expect(lt(dbl, fabs(stuck), 1e-6), "%s: %g", variant_names[i], stuck);
        cr_expect(lt(dbl, depth, 1e-6));
        const double slid = slide(20, 0.2, i, &depth);
        const double wanted = G * (sin(down) - 0.2 * cos(down)) / 2;
        printf("%s: stuck %.2e m, slid %.5f m of %.5f m\n", variant_names[i], stuck, slid, wanted);
        cr_expect(lt(dbl, fabs(slid / wanted - 1), 0.01));
        cr_expect(lt(dbl, depth, 1e-6));
    }
}

// A body that falls on the ground does not go through it, and gains nothing.
Test(redmax_contacts, balls_bounce_by_their_restitution) {
    mabd_model* model = rig_file_model("scenes/bounce.json", NULL, NULL);
    const mabd_sim_def def = redmax(0.001, STAGGERED);
    const double e[4] = {1, 0.8, 0.5, 0};
    mabd_sim* sim = rig_sim(model, &def);
    double top[4] = {0}, least[4] = {1, 1, 1, 1};
    bool hit[4] = {false};
    mabd_real x[15], v[15];
    for (int i = 0; i < 1200; i++) {
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        for (int k = 0; k < 4; k++) {
            const double height = x[3 * (k + 1) + 2] - 0.1;
            hit[k] |= height < 0.01;
            least[k] = fmin(least[k], height);
            if (hit[k]) top[k] = fmax(top[k], height > 0.01 ? height : 0);
        }
    }
    for (int k = 0; k < 4; k++) {
        printf("restitution %g: top %.4f m of %.4f m, lowest %.1e m\n", e[k], top[k], e[k] * e[k],
               least[k]);
        cr_expect(lt(dbl, fabs(top[k] - e[k] * e[k]), 0.02), "%g: %g", e[k], top[k]);
        cr_expect(lt(dbl, -1e-4, least[k]));
    }
    rig_destroy(sim, model);
}

// Three cubes of 8 kg on each other: every face carries what is above it.
Test(redmax_contacts, a_stack_rests_and_carries_its_weight) {
    for (int i = 0; i < VARIANTS; i++) {
        mabd_model* model = rig_text_model(
            "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
            "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true},"
            "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, "
            "0.1]},"
            "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, "
            "0.3]},"
            "{\"name\": \"c\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, "
            "0.5]}]}");
        const mabd_sim_def def = redmax(0.01, i);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_step_info info = contact_run(sim, 1);
        mabd_contact_info contacts[32];
        mabd_real x[12];
        const int32_t count = mabd_sim_get_contacts(sim, 32, contacts);
        double on[3] = {0};
        cr_assert(count <= 32 && count == info.contacts);
        for (int k = 0; k < count; k++) {
            const int lower = contacts[k].a < contacts[k].b ? contacts[k].a : contacts[k].b;
            on[lower] += fabs(contacts[k].force[2]);
        }
        for (int k = 0; k < 3; k++) {
            cr_expect(lt(dbl, fabs(on[k] / (8 * G * (3 - k)) - 1), 1e-6), "%d: %g N", k, on[k]);
        }
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        for (int k = 1; k < 4; k++) {
            cr_expect(lt(dbl, fabs(x[3 * k + 2] - (0.2 * k - 0.1)), 1e-6));
            cr_expect(lt(dbl, fabs(x[3 * k]), 1e-6));
        }
        cr_expect(lt(dbl, info.penetration, 1e-6));
        rig_destroy(sim, model);
    }
}

// A rod of 4 kg on a hinge carries a ball at its other end, which rests on smooth ground: the
// ground carries half of the rod and the ball, the hinge the other half.
Test(redmax_contacts, an_arm_that_leans_on_the_ground) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
        "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true, \"friction\": 0},"
        "{\"name\": \"rod\", \"shape\": \"box\", \"size\": [1, 0.0632455532, 0.0632455532],"
        " \"position\": [0.5, 0, 0.1]},"
        "{\"name\": \"foot\", \"shape\": \"sphere\", \"radius\": 0.1, \"friction\": 0, "
        "\"position\": [1, 0, 0.1]}],"
        "\"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"rod\", \"anchor\": [0, 0, "
        "0.1],"
        " \"axis\": [0, 1, 0]},"
        "{\"type\": \"fixed\", \"a\": \"rod\", \"b\": \"foot\", \"anchor\": [1, 0, 0.1]}]}");
    const mabd_sim_def def = redmax(0.005, STAGGERED);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real forces[12], w[9];
    mabd_contact_info contact;
    contact_run(sim, 0.5); // forces move it from where it would fall: an error of order h^4
    const double foot = 1000 * 4 * acos(-1) / 3 * 1e-3 * G, rod = 4 * G;
    cr_assert(eq(int, mabd_sim_get_contacts(sim, 1, &contact), 1));
    cr_expect(lt(dbl, fabs(contact.force[2] / (foot + rod / 2) - 1), 1e-6), "%g",
              (double)contact.force[2]);
    mabd_sim_get_joint_forces(sim, forces);
    cr_expect(lt(dbl, fabs(forces[2] / (rod / 2) - 1), 1e-6), "%g", (double)forces[2]);
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    cr_expect(lt(dbl, rig_norm(w + 3), 1e-8));
    rig_destroy(sim, model);
}

Test(redmax_contacts, a_restored_state_continues_with_the_same_bits) {
    mabd_model* model = rig_file_model("scenes/bounce.json", NULL, NULL);
    const mabd_sim_def def = redmax(0.005, STAGGERED);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    mabd_real x[2][15];
    for (int i = 0; i < 95; i++) rig_step(sim);
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    mabd_sim_save(sim, state);
    for (int k = 0; k < 2; k++) {
        rig_check(mabd_sim_restore(sim, state, size, &error), &error, "restore");
        for (int i = 0; i < 40; i++) rig_step(sim);
        mabd_sim_get_state(sim, x[k], NULL, NULL, NULL);
    }
    cr_expect(memcmp(x[0], x[1], sizeof x[0]) == 0);
    free(state);
    rig_destroy(sim, model);
}

Test(redmax_contacts, explicit_steps_of_variable_length_are_refused) {
    mabd_model* model = rig_file_model("scenes/bounce.json", NULL, NULL);
    mabd_sim_def def = redmax(0.005, STAGGERED);
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    def.integrator = MABD_INTEGRATOR_RK45;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "contacts with integrator 'rk45'") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}

// SPDX-License-Identifier: Apache-2.0
// Contacts in maximal coordinates where [RM] prints signs that cannot be right: each test shows the
// right law to hold, and what the printed one would give.

#include "support/rig.h"

#define G 9.81

static mabd_sim_def maximal(double h, int problem) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.redmax.coordinates = MABD_COORDINATES_MAXIMAL;
    def.redmax.contacts = (mabd_contact_problem)problem;
    return def;
}

// A cube of 8 kg that lies on ground (mu = 0.3) and moves with a velocity.
static mabd_model* cube(double vx, double vy, double vz) {
    char text[512];
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
        "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true, \"friction\": 0.3},"
        "{\"name\": \"cube\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"friction\": 0.3,"
        " \"position\": [0, 0, 0.1], \"velocity\": [%g, %g, %g]}]}",
        vx, vy, vz);
    return rig_text_model(text);
}

// Sum of the forces on the cube.
static void contact_force(const mabd_sim* sim, double* force) {
    mabd_contact_info contacts[8];
    const int32_t count = mabd_sim_get_contacts(sim, 8, contacts);
    memset(force, 0, 3 * sizeof *force);
    cr_assert(count > 0 && count <= 8);
    for (int i = 0; i < count; i++) {
        cr_expect(lt(dbl, 0, contacts[i].force[2] * (contacts[i].b == 1 ? 1 : -1)));
        for (int k = 0; k < 3; k++) {
            force[k] += (contacts[i].b == 1 ? 1 : -1) * contacts[i].force[k];
        }
    }
}

// F5: M V = M V~ + N' alpha. With [RM eq. 1.99], M V + N' alpha = M V~, a body that comes at -3 m/s
// would go on at -6 m/s.
Test(maximal_contacts, a_falling_body_stops_at_the_ground) {
    for (int i = 0; i < MABD_CONTACT_PROBLEM_COUNT; i++) {
        const double h = 0.001, mass = 8;
        mabd_model* model = cube(0, 0, -3);
        const mabd_sim_def def = maximal(h, i);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[6], v[6];
        double force[3];
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        contact_force(sim, force);
        const double before = -3 - h * G, change = h * force[2] / mass;
        cr_expect(lt(dbl, fabs(v[5]), 1e-4), "%g m/s", v[5]);
        cr_expect(lt(dbl, fabs(x[5] - 0.1), 1e-6), "%g m", x[5]);
        cr_expect(lt(dbl, fabs(before + change - v[5]), 1e-12));
        cr_expect(lt(dbl, fabs(before - change + 6), 0.1)); // as printed
        rig_destroy(sim, model);
    }
}

// F8: |beta| <= mu |alpha|. With the signs of [RM eq. 2.121, 2.125] the box of friction is empty
// for forces of one sign: here friction acts against the slide in all directions, with mu times the
// weight, whichever body is a.
Test(maximal_contacts, friction_acts_against_the_slide_in_all_directions) {
    for (int k = 0; k < 8; k++) {
        const double angle = k * acos(-1) / 4, d[2] = {cos(angle), sin(angle)};
        mabd_model* model = cube(2 * d[0], 2 * d[1], 0);
        const mabd_sim_def def = maximal(0.001, MABD_CONTACT_PROBLEM_STAGGERED);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real v[6];
        double force[3];
        for (int i = 0; i < 100; i++) rig_step(sim);
        mabd_sim_get_state(sim, NULL, NULL, v, NULL);
        contact_force(sim, force);
        const double along = d[0] * force[0] + d[1] * force[1];
        cr_expect(lt(dbl, fabs(along / (-0.3 * 8 * G) - 1), 1e-3), "%g N", along);
        cr_expect(lt(dbl, fabs(d[0] * v[3] + d[1] * v[4] - (2 - 0.3 * G * 0.1)), 2e-3));
        cr_expect(lt(dbl, fabs(d[0] * v[4] - d[1] * v[3]), 1e-3));
        rig_destroy(sim, model);
    }
}

// F9: joints and contacts enter alike, M V = M V~ + G'l + N'l_C with l_C >= 0. A rod on a hinge
// leans on the ground by its other end: both hold half of its weight, upwards. With the sign that
// changes between [RM eq. 2.129] and [2.131] the hinge or the ground would pull it down.
Test(maximal_contacts, a_hinge_and_the_ground_carry_half_a_rod_each) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
        "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true, \"friction\": 0},"
        "{\"name\": \"rod\", \"friction\": 0, \"shapes\": ["
        "{\"shape\": \"box\", \"size\": [1, 0.1, 0.1], \"density\": 400},"
        "{\"shape\": \"sphere\", \"radius\": 0.1, \"density\": 1e-9, \"position\": [0.5, 0, 0]}],"
        " \"position\": [0, 0, 0.1]}],"
        "\"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"rod\", \"anchor\": [-0.5, "
        "0, "
        "0.1], \"axis\": [0, 1, 0]}]}");
    for (int i = 0; i < MABD_CONTACT_PROBLEM_COUNT; i++) {
        const mabd_sim_def def = maximal(0.005, i);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real joint[6], v[6], x[6];
        double force[3];
        for (int k = 0; k < 100; k++) rig_step(sim);
        mabd_sim_get_joint_forces(sim, joint);
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        contact_force(sim, force);
        cr_expect(lt(dbl, fabs(joint[2] / (4 * G / 2) - 1), 1e-5), "hinge %g N", joint[2]);
        cr_expect(lt(dbl, fabs(force[2] / (4 * G / 2) - 1), 1e-5), "ground %g N", force[2]);
        cr_expect(lt(dbl, rig_norm(v + 3), 1e-6));
        cr_expect(lt(dbl, fabs(x[5] - 0.1), 1e-6));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Two boxes that fall on each other and on the ground and slide: at no time is there more energy
// than at the start, nor do they overlap at rest.
Test(maximal_contacts, two_boxes_gain_no_energy) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
        "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true},"
        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.4, 0.4, 0.2], \"position\": [0, 0, "
        "0.15],"
        " \"velocity\": [0.5, 0, 0]},"
        "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, "
        "0.4],"
        " \"velocity\": [-0.5, 0, 0]}]}");
    for (int i = 0; i < MABD_CONTACT_PROBLEM_COUNT; i++) {
        const mabd_sim_def def = maximal(0.002, i);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_error error = {0};
        const mabd_real start = mabd_sim_measure(sim).energy;
        mabd_real x[9], v[9], depth, last = start;
        int32_t a, b;
        for (int k = 0; k < 500; k++) {
            rig_step(sim);
            const mabd_real now = mabd_sim_measure(sim).energy;
            cr_expect(lt(dbl, now - last, 1e-5 * start), "step %d: %g J more", k, now - last);
            last = now;
        }
        mabd_sim_get_state(sim, x, NULL, v, NULL);
        rig_check(mabd_sim_overlap(sim, &depth, &a, &b), &error, "overlap");
        cr_expect(lt(dbl, depth, 1e-6), "%g m", depth);
        cr_expect(lt(dbl, fabs(x[5] - 0.1), 1e-6));
        cr_expect(lt(dbl, fabs(x[8] - 0.3), 1e-6));
        cr_expect(lt(dbl, rig_norm(v + 3) + rig_norm(v + 6), 1e-4));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

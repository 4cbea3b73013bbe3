// SPDX-License-Identifier: Apache-2.0
// Ten boxes on top of each other, touching at the start. The stack is stable: no friction is
// needed, and each contact carries the weight above it.

#include "support/contact_rig.h"

#define BOXES 10
#define EDGE  0.2
#define MASS  4.0

static mabd_sim* stack(double h, double turn, mabd_model** model) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    for (int i = 0; i < BOXES; i++) {
        contact_body box = {.shape = MABD_SHAPE_BOX,
                            .size = {EDGE, EDGE, EDGE},
                            .mass = MASS,
                            .friction = 0.5,
                            .position = {0, 0, EDGE * (i + 0.5)}};
        contact_turn(0, 0, 1, turn * i, box.rotation);
        contact_add(scene, &box);
    }
    contact_add_ground(scene, 0.5);
    *model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    return rig_sim(*model, &def);
}

// The compliance of contacts is 1e-3 of that of the boxes: the lowest contact sinks by about BOXES
// g h^2/1000, the top by half as many times that, 5e-5 m at 10 ms. Momentum at rest is that of
// round-off and of the tolerance of contacts, 1e-6 m per step.
static void check_stack(double h, double turn) {
    mabd_model* model;
    mabd_sim* sim = stack(h, turn, &model);
    mabd_real start[3 * (BOXES + 1)], p[3 * (BOXES + 1)];
    mabd_sim_get_state(sim, start, NULL, NULL, NULL);
    double moved = 0, momentum = 0;
    contact_watch watch = contact_watch_start(sim);
    while (mabd_sim_time(sim) < 10) {
        contact_watch_step(&watch, sim);
        mabd_sim_get_state(sim, p, NULL, NULL, NULL);
        moved = fmax(moved, rig_distance(p + 3 * (BOXES - 1), start + 3 * (BOXES - 1)));
        if (mabd_sim_time(sim) < 1) continue;
        momentum = fmax(momentum, rig_norm(mabd_sim_measure(sim).linear_momentum));
    }
    printf(
        "stack turned by %g, h %g ms: the top moved by %.2e m, momentum %.1e kg m/s, deepest %.1e "
        "m, %d steps not converged\n",
        turn, 1e3 * h, moved, momentum, watch.depth, watch.unconverged);
    cr_expect(lt(dbl, moved, 1e-3));
    // rotated boxes rest on octagons, of which four corners are used: where these change, boxes
    // move by the compliance of contacts, 1e-3 g h^2 for each box above, in a step
    const double speed = turn == 0 ? 1e-4 : CONTACT_SOFTNESS * CONTACT_GRAVITY * h * BOXES;
    cr_expect(lt(dbl, momentum, speed * BOXES * MASS));
    cr_expect(lt(dbl, watch.depth, 1e-4));
    cr_expect(eq(int, watch.unconverged, 0));
    rig_destroy(sim, model);
}

Test(contact_stack, ten_boxes_stand) {
    check_stack(0.01, 0);
}

Test(contact_stack, ten_boxes_turned_against_each_other_stand) {
    check_stack(0.01, 0.3);
}

// At rest the contacts between boxes i and i + 1 together carry (BOXES - 1 - i) weights.
Test(contact_stack, contacts_carry_the_weight_of_what_is_above) {
    mabd_model* model;
    mabd_sim* sim = stack(0.01, 0.3, &model);
    while (mabd_sim_time(sim) < 2) contact_step(sim);
    mabd_contact_info contacts[256];
    const int32_t count = mabd_sim_get_contacts(sim, 256, contacts);
    cr_assert(le(int, count, 256));
    double carried[BOXES] = {0};
    for (int32_t k = 0; k < count; k++) {
        // the upper of the two; the ground is the last body
        const int32_t a = contacts[k].a == BOXES ? -1 : contacts[k].a;
        const int32_t b = contacts[k].b == BOXES ? -1 : contacts[k].b;
        carried[a > b ? a : b] += fabs(contacts[k].force[2]);
    }
    for (int i = 0; i < BOXES; i++) {
        const double weight = (BOXES - i) * MASS * CONTACT_GRAVITY;
        cr_expect(lt(dbl, fabs(carried[i] / weight - 1), 1e-2), "under box %d: %g of %g N", i,
                  carried[i], weight);
    }
    rig_destroy(sim, model);
}

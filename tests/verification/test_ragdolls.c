// SPDX-License-Identifier: Apache-2.0
// Falling figures of eleven links: one on the ground until it lies there, and 27 on a net
// (scenes/ragdolls.json). Joints stay closed, stops hold, energy never exceeds that of the start.

#include "support/contact_rig.h"

/// Stops of the joints of a figure [rad]; of the left side if there are two. Those of a right ball
/// joint are (-rx, ry, -rz).
typedef struct figure_stops {
    const char *middle, *left, *right; // names; null: none
    int axes;                          // 3: a ball joint, 1: a hinge
    double lower[3], upper[3];
} figure_stops;

static const figure_stops stops[] = {
    {"waist", NULL, NULL, 3, {-0.4, -0.4, -0.6}, {0.4, 0.9, 0.6}},
    {"neck", NULL, NULL, 3, {-0.5, -0.6, -1}, {0.5, 0.7, 1}},
    {NULL, "left-shoulder", "right-shoulder", 3, {-1.4, -0.8, -1.6}, {1.2, 0.8, 0.6}},
    {NULL, "left-elbow", "right-elbow", 1, {-0.05}, {2.4}},
    {NULL, "left-hip", "right-hip", 3, {-0.2, -1.8, -0.5}, {0.8, 0.4, 0.5}},
    {NULL, "left-knee", "right-knee", 1, {-0.05}, {2.3}},
};

/// Return how far a joint of figure 0 is beyond a stop [rad], 0 = not at all.
static double beyond_joint(const mabd_sim* sim, const figure_stops* row, const char* name,
                           bool mirrored) {
    if (!name) return 0;
    char whole[64];
    snprintf(whole, sizeof whole, "ragdoll/%s/0", name);
    const int32_t joint = mabd_model_find_joint(mabd_sim_model(sim), whole);
    cr_assert(ge(i32, joint, 0), "%s", whole);
    mabd_real x[MABD_AXIS_COUNT];
    mabd_sim_get_joint_coordinates(sim, joint, x);
    double most = 0;
    for (int k = 0; k < row->axes; k++) {
        const bool turned = mirrored && row->axes == 3 && k != 1;
        const double angle = turned ? -x[MABD_AXIS_RX + k] : x[MABD_AXIS_RX + k];
        most = fmax(most, fmax(row->lower[k] - angle, angle - row->upper[k]));
    }
    return most;
}

static double beyond_stops(const mabd_sim* sim) {
    double most = 0;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        most = fmax(most, beyond_joint(sim, &stops[i], stops[i].middle, false));
        most = fmax(most, beyond_joint(sim, &stops[i], stops[i].left, false));
        most = fmax(most, beyond_joint(sim, &stops[i], stops[i].right, true));
    }
    return most;
}

/// Return the mass of all moving bodies [kg].
static double moving_mass(const mabd_model* model) {
    double mass = 0;
    for (int32_t i = 0; i < mabd_model_body_count(model); i++) {
        if (mabd_model_body_motion(model, i) == MABD_MOTION_DYNAMIC) {
            mass += mabd_model_body_mass(model, i).mass;
        }
    }
    return mass;
}

// ---- on the ground -----------------------------------------------------------------------------

#define FALL 0.226 // fall height of the feet of a figure of 1.8 m whose pelvis is at 1.2 m [m]

static mabd_model* figure_model(uint64_t seed, double young) {
    mabd_error error = {0};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add_ground(scene, 0.5);
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = 1;
    def.seed = seed;
    def.material.young = (mabd_real)young;
    def.position[2] = 1.2;
    rig_check(mabd_generate_ragdoll(scene, &def, &error), &error, "ragdoll");
    return rig_model(scene);
}

/// Return the largest expected overlap [m]. The compared shapes are not strained, so the
/// compression of a leg of 0.5 m under the impact counts: a strain of v sqrt(density / young). 1 mm
/// for all other effects.
static double most_overlap(double young) {
    return 1e-3 + 0.5 * sqrt(2 * CONTACT_GRAVITY * FALL) * sqrt(1000 / young);
}

// The figure stands for a second, falls over and lies after three: the remaining motion has less
// than 1 % of the energy of its fall, m g 1.2 m.
static void expect_figure_lies_down(uint64_t seed, double young) {
    mabd_model* model = figure_model(seed, young);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double play = moving_mass(model) * CONTACT_GRAVITY * 1.2;
    const double start = mabd_sim_measure(sim).energy;
    contact_watch watch = contact_watch_start(sim);
    double beyond = 0, highest = 0;
    for (int i = 0; i < 350; i++) {
        contact_watch_step(&watch, sim);
        highest = fmax(highest, mabd_sim_measure(sim).energy - start);
        beyond = fmax(beyond, beyond_stops(sim));
    }
    const double kinetic = mabd_sim_measure(sim).kinetic;
    printf("seed %d, %g Pa: open %.1e m, %.1e rad, beyond stops %.1e rad, overlap %.1e m, kinetic "
           "%.1e of what it fell with, %d steps not converged\n",
           (int)seed, young, watch.gap, watch.angle, beyond, watch.depth, kinetic / play,
           watch.unconverged);
    cr_expect(lt(dbl, watch.gap, 1e-9));
    cr_expect(lt(dbl, watch.angle, 1e-6));
    cr_expect(lt(dbl, beyond, 1e-3));
    cr_expect(lt(dbl, watch.depth, most_overlap(young)));
    cr_expect(le(dbl, highest, 1e-9 * play));
    cr_expect(lt(dbl, kinetic, 0.01 * play));
    rig_destroy(sim, model);
}

Test(ragdolls, a_figure_falls_over_and_lies_on_the_ground) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        expect_figure_lies_down(seed, 1e7);
        expect_figure_lies_down(seed, 1e9);
    }
}

// ---- on the net --------------------------------------------------------------------------------

// The feet of the lowest layer reach the net after 0.41 s, step 82; from there on each step costs
// hundreds of solves.
#ifdef __SANITIZE_ADDRESS__
#define NET_STEPS 94
#else
#define NET_STEPS 100
#endif

Test(ragdolls, figures_meet_a_net_and_all_joints_stay_closed) {
    mabd_model* model = rig_file_model("scenes/ragdolls.json", NULL, NULL);
    cr_assert(eq(i32, mabd_model_body_count(model), 1160 + 27 * 11));
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    const double play = moving_mass(model) * CONTACT_GRAVITY * 0.5;
    const double start = mabd_sim_measure(sim).energy;
    contact_watch watch = contact_watch_start(sim);
    double highest = 0;
    int touching = 0;
    for (int i = 0; i < NET_STEPS; i++) {
        touching += contact_watch_step(&watch, sim).contacts > 0;
        highest = fmax(highest, mabd_sim_measure(sim).energy - start);
    }
    printf("figures on a net: open %.1e m, %.1e rad, overlap %.1e m, %d of %d steps touch, %d not "
           "converged, %d retries\n",
           watch.gap, watch.angle, watch.depth, touching, watch.steps, watch.unconverged,
           watch.retries);
    cr_expect(lt(int, NET_STEPS - 86, touching));
    cr_expect(lt(dbl, watch.gap, 1e-12));
    cr_expect(lt(dbl, watch.angle, 1e-4)); // allowed for a step that used up its budget
    cr_expect(lt(dbl, watch.depth, 0.02)); // the radius of a rod
    cr_expect(le(dbl, highest, 1e-9 * play));
    rig_destroy(sim, model);
}

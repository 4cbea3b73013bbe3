// SPDX-License-Identifier: Apache-2.0
// Young's modulus from soft rubber to fifty times steel: 1e7, 1e9, 2e11 (the default) and 1e13 Pa.
//
//   elastic energy   A rod of length L and mass m hangs at rest on its end. Its uniform stress does
//                    the work of the forces: V S_zz = m g L/2, all else zero, so
//                    Psi = V S_zz^2/(2 E) = (m g L)^2 / (8 V E).
//                    A box spins about its axis z: V S_xx = w^2 s_x, V S_yy = w^2 s_y with
//                    s_x = m x^2/12, and Psi = V (S_xx^2 + S_yy^2 - 2 nu S_xx S_yy)/(2 E).
//                    Under given loads the energy is proportional to 1/E, also in a chain with a
//                    heavy end, whose steps end with rotations of up to 1e-2 rad from the
//                    reference; an energy from the strain of A has 9 J too much there at 1e13 Pa.
//   steps            Chains with a heavy end, whips, hinge chains and nets on their corners close
//                    their joints to round-off, gain no energy, and converge, at every modulus;
//                    soft ones need more iterations. The bounds are a few percent above the
//                    measured means.

#include "support/rig.h"
#include "support/sanitized.h"

#define MODULI 4

static const double moduli[MODULI] = {1e7, 1e9, 2e11, 1e13};
static const double gravity = 9.81;

// ---- elastic energy ----------------------------------------------------------------------------

static bool is_present(mabd_backend backend) {
    return mabd_backend_get_info(backend).present;
}

// A box of 1 x 0.1 x 0.08 m, which hangs on one end along -x of its own frame or is free.
static const double sides[3] = {1, 0.1, 0.08};

static mabd_model* box_model(double young, bool hangs, double spin) {
    mabd_scene* scene = rig_scene(hangs ? -gravity : 0);
    const mabd_real size[3] = {sides[0], sides[1], sides[2]};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    const mabd_real half = sqrt(0.5);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.angular_velocity[2] = spin;
    if (hangs) {
        body.position[2] = -sides[0] / 2;
        body.rotation[0] = half, body.rotation[2] = half; // x -> -z
    }
    rig_add_body(scene, &body);
    if (hangs) rig_add_joint(scene, MABD_JOINT_BALL, MABD_WORLD, 0, 0, 0);
    mabd_error error = {0};
    rig_check(mabd_scene_set_young(scene, young, &error), &error, "young");
    return rig_model(scene);
}

static void expect_hanging(mabd_backend backend) {
    const double volume = sides[0] * sides[1] * sides[2], weight = 1000 * volume * gravity;
    for (int i = 0; i < MODULI; i++) {
        mabd_model* model = box_model(moduli[i], true, 0);
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        def.backend = backend;
        mabd_sim* sim = rig_sim(model, &def);
        for (int n = 0; n < 300; n++) rig_step(sim);
        const double work = weight * sides[0], measured = mabd_sim_measure(sim).elastic;
        const double expected = work * work / (8 * volume * moduli[i]);
        printf("%s, hanging rod of %.0e Pa: elastic energy %.3e J, off by %.1e of it\n",
               mabd_backend_name(backend), moduli[i], measured, measured / expected - 1);
        cr_expect(fabs(measured - expected) < 1e-8 * expected, "%g Pa: %g, expected %g J",
                  moduli[i], measured, expected);
        cr_expect(fabs(measured - expected) < 1e-9 * work, "%g Pa: %g J", moduli[i], measured);
        rig_destroy(sim, model);
    }
}

Test(young, a_hanging_rod_holds_the_energy_of_its_stress) {
    expect_hanging(MABD_BACKEND_CPU);
}

Test(young, a_hanging_rod_holds_the_energy_of_its_stress_on_the_kernels_of_cuda) {
    if (!is_present(MABD_BACKEND_EXECUTOR)) cr_skip("built without the executor");
    expect_hanging(MABD_BACKEND_EXECUTOR);
}

// The box starts without strain and vibrates; BDF2 takes that out. At h = 1 ms its acceleration is
// 1 - 2/3 (w h)^2 of that of the circle, 7e-5 less. The box widens by S_xx/E, 8e-4 at 1e7 Pa, which
// changes s and, by its angular momentum, w: energy falls by 6 S_xx/E.
Test(young, a_spinning_box_holds_the_energy_of_its_tension) {
    const double spin = 10, nu = 0.3, volume = sides[0] * sides[1] * sides[2];
    const double x = 1000 * spin * spin * sides[0] * sides[0] / 12;
    const double y = 1000 * spin * spin * sides[1] * sides[1] / 12;
    for (int i = 0; i < MODULI; i++) {
        mabd_model* model = box_model(moduli[i], false, spin);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.001);
        mabd_sim* sim = rig_sim(model, &def);
        for (int n = 0; n < 3000; n++) rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        const double expected = volume * (x * x + y * y - 2 * nu * x * y) / (2 * moduli[i]);
        printf("spinning box of %.0e Pa: elastic energy %.3e J, off by %.1e of it\n", moduli[i],
               (double)now.elastic, now.elastic / expected - 1);
        cr_expect(fabs(now.elastic - expected) < (5e-4 + 7 * x / moduli[i]) * expected,
                  "%g Pa: %g, expected %g J", moduli[i], (double)now.elastic, expected);
        rig_destroy(sim, model);
    }
}

// Rates that are set do not change the pose, and so not its strain; a pose that is set has none.
Test(young, the_elastic_energy_stays_where_only_rates_are_set) {
    mabd_model* model = box_model(1e9, true, 0);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_real rest[3] = {0, 0, 0};
    mabd_real position[3], rotation[4];
    for (int n = 0; n < 300; n++) rig_step(sim);
    const double held = mabd_sim_measure(sim).elastic;
    rig_check(mabd_sim_set_state(sim, NULL, NULL, rest, rest, &error), &error, "rates");
    cr_expect(held > 0 && mabd_sim_measure(sim).elastic == held, "%g J", held);
    mabd_sim_get_state(sim, position, rotation, NULL, NULL);
    position[2] = -sides[0] / 2;
    rig_check(mabd_sim_set_state(sim, position, rotation, rest, rest, &error), &error, "pose");
    cr_expect(mabd_sim_measure(sim).elastic == 0);
    rig_destroy(sim, model);
}

static mabd_model* chain_model(double young, int32_t links, mabd_joint joint, double end_mass) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links, chain.joint = joint, chain.end_mass_ratio = end_mass;
    chain.material.young = young;
    return rig_chain_model(&chain, -gravity);
}

// The motion of both chains is the same to the strain of the softer one, 1e-5, so forces and
// stresses are, too, while the chain is taut.
Test(young, the_elastic_energy_of_a_heavy_chain_is_that_of_steel_over_fifty_at_fifty_times_steel) {
    mabd_model* models[2] = {chain_model(2e11, 100, MABD_JOINT_BALL, 1000),
                             chain_model(1e13, 100, MABD_JOINT_BALL, 1000)};
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sims[2] = {rig_sim(models[0], &def), rig_sim(models[1], &def)};
    double worst = 0, scale = 0, rotation = 0;
    for (int n = 0; n < 200; n++) {
        rig_step(sims[0]);
        rotation = fmax(rotation, rig_step(sims[1]).affine.rotation);
        const mabd_measure steel = mabd_sim_measure(sims[0]), stiff = mabd_sim_measure(sims[1]);
        worst = fmax(worst, fabs(stiff.elastic - steel.elastic / 50));
        scale = fmax(scale, stiff.kinetic);
    }
    printf("heavy chain: elastic energy at 1e13 Pa off by %.1e of %.0f J, rotation left %.1e rad\n",
           worst / scale, scale, rotation);
    cr_expect(rotation > 1e-3, "%g rad: the steps do not test the claim", rotation);
    cr_expect(worst < 1e-7 * scale, "%g J of %g J", worst, scale);
    for (int i = 0; i < 2; i++) rig_destroy(sims[i], models[i]);
}

// ---- steps -------------------------------------------------------------------------------------

typedef struct record {
    double iterations; // a step
    int unconverged;   // steps
    double gap, angle; // [m], [rad]
    double gain;       // of energy above the start, over the scale
} record;

static record run(const char* what, double young, mabd_model* model, int steps) {
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    record r = {0, 0, 0, 0, 0};
    double scale = 0, peak = start;
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        r.iterations += (double)info.iterations / steps;
        r.unconverged += !info.converged;
        r.gap = fmax(r.gap, now.gap), r.angle = fmax(r.angle, now.angle_error);
        peak = fmax(peak, now.energy), scale = fmax(scale, now.kinetic);
    }
    r.gain = (peak - start) / scale;
    printf("%s of %.0e Pa, %d steps: %.2f iterations a step, %d unconverged, gap %.1e m, "
           "angle %.1e rad, energy gain %.1e of %.0f J\n",
           what, young, steps, r.iterations, r.unconverged, r.gap, r.angle, r.gain, scale);
    cr_expect(r.gap < 1e-12, "%s of %g Pa: gap %g m", what, young, r.gap);
    cr_expect(r.angle < 1e-12, "%s of %g Pa: angle %g rad", what, young, r.angle);
    cr_expect(r.gain < 1e-3, "%s of %g Pa: energy gain %g", what, young, r.gain);
    rig_destroy(sim, model);
    return r;
}

static void expect_steps(const char* what, double young, record r, double iterations,
                         int unconverged) {
    cr_expect(r.iterations <= iterations, "%s of %g Pa: %g iterations a step", what, young,
              r.iterations);
    cr_expect(r.unconverged <= unconverged, "%s of %g Pa: %d steps unconverged", what, young,
              r.unconverged);
}

Test(young, chains_with_a_heavy_end_run_at_every_modulus) {
    for (int i = 0; i < MODULI; i++) {
        mabd_model* model = chain_model(moduli[i], 100, MABD_JOINT_BALL, 1000);
        expect_steps("heavy chain", moduli[i], run("heavy chain", moduli[i], model, 200), 1.08, 0);
    }
}

Test(young, stiff_whips_take_fewer_iterations_than_soft_ones) {
    // ten whips of 400 to 1100 links at 1e9 Pa: mean 1.78, with bdf2-linear 1.68
    static const double iterations[MODULI] = {2.8, 2.1, 1.2, 1.2};
    static const int unconverged[MODULI] = {80, 12, 1, 2};
    for (int i = 0; i < MODULI; i++) {
        mabd_model* model = chain_model(moduli[i], 1000, MABD_JOINT_BALL, 1);
        expect_steps("whip", moduli[i], run("whip", moduli[i], model, AMOUNT(2000, 100)),
                     iterations[i], unconverged[i]);
    }
}

Test(young, hinge_chains_run_at_every_modulus) {
    static const double iterations[MODULI] = {2, 1.35, 1.35, 1.35};
    static const int unconverged[MODULI] = {6, 1, 1, 1};
    for (int i = 0; i < MODULI; i++) {
        mabd_model* model = chain_model(moduli[i], 100, MABD_JOINT_HINGE, 1);
        expect_steps("hinge chain", moduli[i],
                     run("hinge chain", moduli[i], model, AMOUNT(1000, 200)), iterations[i],
                     unconverged[i]);
    }
}

Test(young, nets_on_their_corners_run_at_every_modulus) {
    static const int unconverged[MODULI] = {2, 0, 0, 0};
    for (int i = 0; i < MODULI; i += AMOUNT(1, MODULI)) {
        mabd_error error = {0};
        mabd_scene* scene = rig_scene(-gravity);
        mabd_net_def net = mabd_default_net_def();
        net.rows = net.columns = 30, net.pinned = MABD_NET_PIN_CORNERS;
        net.spacing = 0.1, net.hub_radius = 0.015, net.rod_radius = 0.006;
        net.material.young = moduli[i];
        rig_check(mabd_generate_net(scene, &net, &error), &error, "net");
        mabd_model* model = rig_model(scene);
        expect_steps("net", moduli[i], run("net", moduli[i], model, AMOUNT(100, 25)), 3.3,
                     unconverged[i]);
    }
}

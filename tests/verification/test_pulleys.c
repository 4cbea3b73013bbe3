// SPDX-License-Identifier: Apache-2.0
// Chains over rotating sheaves, driven by contact alone. A sheave that rotates by alpha = pi/n
// takes up one of the n links of a half turn, of length L = 2 Rc tan(alpha/2), Rc = R + r
// (generate.h). So a chain that does not slip has the speed omega R_eff with R_eff = L/alpha = Rc
// (1 + alpha^2/12 + ...), except for the ripple of a polygon within a link.

#include "support/contact_rig.h"

#define PI         3.14159265358979323846
#define MAX_BODIES 256

typedef struct pulley_run {
    mabd_model* model;
    mabd_sim* sim;
    contact_watch watch;
    double link, length, lambda; // mass [kg] and length [m] of a link, mass per length [kg/m]
    double reach;                // R_eff [m]
} pulley_run;

static pulley_run pulley_start(const mabd_pulley_def* def, double h) {
    pulley_run p;
    mabd_error error = {0};
    const double alpha = PI / def->wrapped, r = def->link_radius;
    p.length = 2 * (def->radius + r) * tan(alpha / 2);
    p.link = def->material.density * PI * r * r * (p.length + 4 * r / 3);
    p.lambda = p.link / p.length;
    p.reach = p.length / alpha;
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    rig_check(mabd_generate_pulley(scene, def, &error), &error, "pulley");
    p.model = rig_model(scene);
    cr_assert(le(int, mabd_model_body_count(p.model), MAX_BODIES));
    const mabd_sim_def sim_def = rig_def(MABD_PRESET_BALANCED, h);
    p.sim = rig_sim(p.model, &sim_def);
    p.watch = contact_watch_start(p.sim);
    return p;
}

static void pulley_end(pulley_run* p) {
    cr_expect(lt(dbl, p->watch.gap, 1e-7));
    cr_expect(lt(dbl, p->watch.depth, 1e-3));
    rig_destroy(p->sim, p->model);
}

static int32_t body_of(const pulley_run* p, const char* name) {
    const int32_t body = mabd_model_find_body(p->model, name);
    cr_assert(ge(int, body, 0), "%s", name);
    return body;
}

static double height(const pulley_run* p, int32_t body) {
    mabd_real x[3 * MAX_BODIES];
    mabd_sim_get_state(p->sim, x, NULL, NULL, NULL);
    return x[3 * body + 2];
}

static double turn_rate(const pulley_run* p, int32_t body) {
    mabd_real w[3 * MAX_BODIES];
    mabd_sim_get_state(p->sim, NULL, NULL, NULL, w);
    return w[3 * body + 1];
}

// ---- Atwood machine ----------------------------------------------------------------------------
// Load m1 with its run of chain sinks by s, counter m2 with its run rises: the runs get heavier and
// lighter by lambda s. The whole chain and the rim of the sheave, I = M R^2/2, have the speed s':
//
//   m s'' = g (d + 2 lambda s), m = m1 + m2 + m_chain + I/R_eff^2, d = m1 + m_left - m2 - m_right
//   s = d/(2 lambda) (cosh(kappa t) - 1),    kappa^2 = 2 lambda g/m
//
// Links on the sheave have the speed Rc omega in their centres: for 0.1 kg in 20 kg the difference
// is negligible.

static void check_atwood(double load, double counter, double h) {
    mabd_pulley_def def = mabd_default_pulley_def();
    def.left = 6, def.right = 30;
    def.load = load, def.counter = counter;
    def.sheave_mass = 10;
    pulley_run p = pulley_start(&def, h);
    const int32_t end = body_of(&p, "pulley/load"), sheave = body_of(&p, "pulley/sheave/0");
    const double rim = 0.5 * def.sheave_mass * def.radius * def.radius / (p.reach * p.reach);
    const double mass = load + counter + (def.left + def.right + def.wrapped) * p.link + rim;
    const double driving = load - counter + (def.left - def.right) * p.link;
    const double kappa = sqrt(2 * p.lambda * CONTACT_GRAVITY / mass), time = 1;
    const double expected = driving / (2 * p.lambda) * (cosh(kappa * time) - 1);
    const double start = height(&p, end);
    double turned = 0;
    while (mabd_sim_time(p.sim) < time - h / 2) {
        const double rate = turn_rate(&p, sheave);
        contact_watch_step(&p.watch, p.sim);
        turned += h * (rate + turn_rate(&p, sheave)) / 2;
    }
    const double sunk = start - height(&p, end), slip = sunk + turned * p.reach;
    printf(
        "Atwood %g : %g kg, h %g ms: sinks by %.6f of %.6f m (%.2e off), slips by %.2e m, energy "
        "gained %.1e J\n",
        load, counter, 1e3 * h, sunk, expected, sunk / expected - 1, slip, p.watch.gained);
    cr_expect(lt(dbl, fabs(sunk / expected - 1), 0.01));
    // ripple: a corner may be off the circle of radius R_eff by Rc alpha^2/4
    const double alpha = PI / def.wrapped;
    cr_expect(lt(dbl, fabs(slip), 0.005 * sunk + p.reach * alpha * alpha / 4));
    pulley_end(&p);
}

Test(pulleys, an_atwood_machine_with_a_sheave_that_turns) {
    check_atwood(12, 10, 0.005);
    check_atwood(12, 10, 0.0025);
}

Test(pulleys, an_atwood_machine_of_other_masses) {
    check_atwood(3, 2.4, 0.005);
}

// ---- tackle ------------------------------------------------------------------------------------
// k = 2 `pulleys` runs carry the block: if it rises by dz, all of them get shorter by dz, and the
// free end sinks by k dz. Work of the weights: block with its sheaves and the links around them,
// all of the chain in the k runs (lambda l dz for a run of length l), against counter and last run,
// k times:
//
//   m_load + m_sheaves + m_below + m_runs = k (m_counter + m_right)        at balance

static mabd_pulley_def tackle_def(int pulleys) {
    mabd_pulley_def def = mabd_default_pulley_def();
    def.arrangement = MABD_PULLEY_TACKLE;
    def.pulleys = pulleys;
    def.left = def.inner = 16;
    def.right = 16;
    def.sheave_mass = 0.5;
    def.load = 20;
    return def;
}

/// Return the mass of the counter at balance.
static double tackle_balance(const mabd_pulley_def* def) {
    const int s = def->pulleys, k = 2 * s;
    mabd_pulley_def some = *def;
    some.counter = 1;
    pulley_run p = pulley_start(&some, 0.005);
    const double hung = def->load + s * def->sheave_mass +
                        p.link * (s * def->wrapped + def->left + (k - 1) * def->inner);
    const double counter = hung / k - p.link * def->right;
    rig_destroy(p.sim, p.model);
    return counter;
}

/// Compute the displacements of block (up) and free end (down) in `time`.
static void tackle_run(const mabd_pulley_def* def, double time, double* block, double* end) {
    pulley_run p = pulley_start(def, 0.005);
    const int32_t lower = body_of(&p, "pulley/block"), free_end = body_of(&p, "pulley/counter");
    const double z = height(&p, lower), x = height(&p, free_end);
    while (mabd_sim_time(p.sim) < time) contact_watch_step(&p.watch, p.sim);
    *block = height(&p, lower) - z;
    *end = x - height(&p, free_end);
    pulley_end(&p);
}

static void check_balance(int pulleys) {
    mabd_pulley_def def = tackle_def(pulleys);
    const double balance = tackle_balance(&def);
    for (int side = -1; side <= 1; side += 2) {
        double block, end;
        def.counter = balance * (1 + 0.01 * side);
        tackle_run(&def, 0.5, &block, &end);
        printf(
            "tackle of %d runs, counter %.4f kg (%+d %%): block rises by %.3e m, end sinks by %.3e "
            "m\n",
            2 * pulleys, (double)def.counter, side, block, end);
        cr_expect(lt(dbl, 0, side * block), "%+d %%", side);
        cr_expect(lt(dbl, 0, side * end), "%+d %%", side);
    }
}

Test(pulleys, a_tackle_of_two_runs_balances_twice_its_counter) {
    check_balance(1);
}

Test(pulleys, a_tackle_of_four_runs_balances_four_times_its_counter) {
    check_balance(2);
}

Test(pulleys, the_free_end_of_a_tackle_moves_k_times_as_far_as_its_block) {
    for (int pulleys = 1; pulleys <= 2; pulleys++) {
        for (int side = -1; side <= 1; side += 2) {
            mabd_pulley_def def = tackle_def(pulleys);
            double block, end;
            def.counter = tackle_balance(&def) * (1 + 0.3 * side);
            tackle_run(&def, 0.4, &block, &end);
            printf("tackle of %d runs: block %.5f m, end %.5f m, ratio %.4f\n", 2 * pulleys, block,
                   end, end / block);
            cr_expect(lt(dbl, 0, side * block));
            cr_expect(lt(dbl, fabs(end / block / (2 * pulleys) - 1), 0.01));
        }
    }
}

// ---- winch -------------------------------------------------------------------------------------
// The drum rotates with omega and winds up a link per angle alpha if links touch it in their
// middles: R_eff = L/alpha. The chain begins with a joint on the rim, Rc from the axis. If its
// first link were held by the drum (bodies that share a joint do not touch), links would touch by
// their ends in turn, two for 2 atan(L/Rc), R_eff = L/atan(L/Rc), 0.6 % more. The result is in
// between, within 1 % of either.
Test(pulleys, a_winch_lifts_its_load_with_the_speed_of_its_rim) {
    mabd_pulley_def def = mabd_default_pulley_def();
    def.arrangement = MABD_PULLEY_WINCH;
    def.wrapped = 20;
    def.left = 60;
    def.sheave_mass = 10;
    def.load = 5;
    def.speed = (mabd_signal){.kind = MABD_SIGNAL_RAMP, .value = 0, .value_end = 2, .end = 0.5};
    pulley_run p = pulley_start(&def, 0.005);
    const int32_t load = body_of(&p, "pulley/load");
    const double from = 0.7, to = from + 5 * PI / def.wrapped; // ten links
    double first = 0, begin = 0;
    while (mabd_sim_time(p.sim) < to) {
        contact_watch_step(&p.watch, p.sim);
        if (mabd_sim_time(p.sim) > from) continue;
        begin = mabd_sim_time(p.sim);
        first = height(&p, load);
    }
    const double speed = (height(&p, load) - first) / (mabd_sim_time(p.sim) - begin);
    printf("winch: rises with %.5f of %.5f m/s, deepest %.1e m\n", speed, 2 * p.reach,
           p.watch.depth);
    cr_expect(lt(dbl, fabs(speed / (2 * p.reach) - 1), 0.01));
    pulley_end(&p);
}

// ---- scripted sheaves --------------------------------------------------------------------------
// Five sheaves, alternating over and under, follow one angle: all of them rotate, every second one
// in the opposite direction, and the chain moves by R_eff per radian.

Test(pulleys, scripted_sheaves_carry_a_chain_along) {
    mabd_pulley_def def = mabd_default_pulley_def();
    def.pulleys = 5;
    def.wrapped = 10;
    def.left = def.inner = def.right = 12;
    def.material.friction = 0.5;
    def.load = def.counter = 5;
    def.angle = (mabd_signal){.kind = MABD_SIGNAL_RAMP, .start = 0.2, .end = 1.2, .value_end = 0.5};
    pulley_run p = pulley_start(&def, 0.005);
    const int32_t load = body_of(&p, "pulley/load"), counter = body_of(&p, "pulley/counter");
    const double low = height(&p, load), high = height(&p, counter);
    char name[32];
    while (mabd_sim_time(p.sim) < 0.7) contact_watch_step(&p.watch, p.sim);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "pulley/sheave/%d", i);
        const double rate = turn_rate(&p, body_of(&p, name));
        cr_expect(epsilon_eq(dbl, rate, i % 2 ? -0.5 : 0.5, 1e-5), "%s", name); // chords
    }
    while (mabd_sim_time(p.sim) < 1.5) contact_watch_step(&p.watch, p.sim);
    const double rises = height(&p, load) - low, sinks = high - height(&p, counter);
    printf("scripted sheaves: load up by %.4f m, counter down by %.4f m, R_eff angle %.4f m\n",
           rises, sinks, 0.5 * p.reach);
    cr_expect(lt(dbl, fabs(rises / (0.5 * p.reach) - 1), 0.01));
    cr_expect(lt(dbl, fabs(sinks / (0.5 * p.reach) - 1), 0.01));
    pulley_end(&p);
}

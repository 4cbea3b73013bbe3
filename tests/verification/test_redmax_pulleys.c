// SPDX-License-Identifier: Apache-2.0
// Chains over pulleys in the redmax formulation, moved by contact alone. Without tension in the
// matrix of the forces, and with points that stay on the links, such chains fly apart in a step.

#include "support/contact_rig.h"

#define MAX_BODIES 128
#define PI         3.14159265358979323846

typedef struct machine {
    mabd_model* model;
    mabd_sim* sim;
    double start, most, gap; // energy [J], the largest one, the largest gap [m]
    int divided;             // steps that were taken in parts
} machine;

static machine start_machine(const mabd_pulley_def* def, double h, mabd_contact_problem law) {
    machine m = {0};
    mabd_error error = {0};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    rig_check(mabd_generate_pulley(scene, def, &error), &error, "pulley");
    m.model = rig_model(scene);
    cr_assert(le(int, mabd_model_body_count(m.model), MAX_BODIES));
    mabd_sim_def sim = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    sim.formulation = MABD_FORMULATION_REDMAX, sim.redmax.contacts = law;
    m.sim = rig_sim(m.model, &sim);
    m.start = m.most = (double)mabd_sim_measure(m.sim).energy;
    return m;
}

static void advance(machine* m, double time) {
    while ((double)mabd_sim_time(m->sim) < time - 1e-9) {
        const mabd_step_info info = rig_step(m->sim);
        m->divided += info.substeps > 1;
        cr_expect(info.converged, "t = %g", (double)mabd_sim_time(m->sim));
        m->most = fmax(m->most, (double)mabd_sim_measure(m->sim).energy);
        m->gap = fmax(m->gap, (double)info.gap);
    }
}

static double overlap(const machine* m) {
    mabd_error error = {0};
    mabd_real depth;
    int32_t a, b;
    rig_check(mabd_sim_overlap(m->sim, &depth, &a, &b), &error, "overlap");
    return (double)depth;
}

static double velocity(const machine* m, const char* name) {
    mabd_real v[3 * MAX_BODIES];
    mabd_sim_get_state(m->sim, NULL, NULL, v, NULL);
    return (double)v[3 * mabd_model_find_body(m->model, name) + 2];
}

// Atwood's machine: loads m1, m2 on a chain of lambda kg/m over a sheave, M R^2/2, that turns
// freely. With the runs counted on their sides
//
//   m v' = g (d + 2 lambda s),  m = m1 + m2 + m_chain + (M/2) (R/R_eff)^2
//   d = m1 + left - m2 - right
//   v = g d/(m kappa) sinh(kappa t),  kappa^2 = 2 lambda g/m
//
// if nothing slips. Implicit Euler in steps of h is behind by less than h in time.
static void check_atwood(mabd_contact_problem law) {
    mabd_pulley_def def = mabd_default_pulley_def();
    const double h = 0.005, time = 0.15;
    def.left = 6, def.right = 12, def.load = 12, def.counter = 10, def.sheave_mass = 10;
    machine m = start_machine(&def, h, law);
    const double alpha = PI / def.wrapped, r = def.link_radius;
    const double length = 2 * (def.radius + r) * tan(alpha / 2), reach = length / alpha;
    const double link = def.material.density * PI * r * r * (length + 4 * r / 3);
    const double rim = def.sheave_mass / 2 * pow(def.radius / reach, 2);
    const double mass = def.load + def.counter + (def.left + def.right + def.wrapped) * link + rim;
    const double d = def.load - def.counter + (def.left - def.right) * link;
    const double kappa = sqrt(2 * link / length * CONTACT_GRAVITY / mass);
    advance(&m, time);
    const double wanted = -CONTACT_GRAVITY * d / (mass * kappa) * sinh(kappa * time);
    const double load = velocity(&m, "pulley/load"), counter = velocity(&m, "pulley/counter");
    const double end = (double)mabd_sim_measure(m.sim).energy;
    printf("Atwood: load %.5f, counter %.5f of %.5f m/s, energy %+.1e J, at most %+.1e J, gap %.1e "
           "m, overlap %.1e m, %d steps divided\n",
           load, counter, -wanted, end - m.start, m.most - m.start, m.gap, overlap(&m), m.divided);
    cr_expect(eq(int, m.divided, 0));
    cr_expect(lt(dbl, fabs(load / wanted - 1), 0.02));
    cr_expect(lt(dbl, fabs(counter / wanted + 1), 0.02));
    cr_expect(lt(dbl, m.most - m.start, 1e-6));
    cr_expect(lt(dbl, -0.05 * mass * wanted * wanted / 2, end - m.start));
    cr_expect(lt(dbl, m.gap, 1e-12));
    cr_expect(lt(dbl, overlap(&m), 1e-5));
    rig_destroy(m.sim, m.model);
}

Test(redmax_pulleys, an_atwood_machine_with_coulombs_law) {
    check_atwood(MABD_CONTACT_PROBLEM_STAGGERED);
}

Test(redmax_pulleys, an_atwood_machine_with_one_convex_problem) {
    check_atwood(MABD_CONTACT_PROBLEM_ONE_QP);
}

// SPDX-License-Identifier: Apache-2.0
// The energy balance on a device, through the executor: as on the CPU, and the same bits in any
// order of threads and blocks.
#include "support/books_scene.h"
#include "support/rig.h"

#include <stdlib.h>

#define STEPS 60

static mabd_energy_balance run(const mabd_model* model, mabd_integrator integrator,
                               mabd_backend backend, const char* order) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    const mabd_real force[3] = {1, 0, 2}, torque[3] = {0, 0.1, 0};
    const int32_t body = 3;
    mabd_error error = {0};
    def.integrator = integrator, def.backend = backend;
    setenv("MABD_EXEC_ORDER", order, 1);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < STEPS; i++) {
        if (i % 3 == 0) {
            rig_check(mabd_sim_apply_force(sim, 1, &body, force, torque, &error), &error, "force");
        }
        rig_step(sim);
    }
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    mabd_sim_destroy(sim);
    return b;
}

// Contacts amplify round-off: they are compared to 1e-6 of the scale, joints to 1e-9.
static void expect_books(const char* text, double part) {
    static const mabd_integrator integrators[] = {MABD_INTEGRATOR_BDF2_LINEAR,
                                                  MABD_INTEGRATOR_BDF2};
    mabd_model* model = rig_text_model(text);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance cpu = run(model, integrators[k], MABD_BACKEND_CPU, "forward");
        const mabd_energy_balance there =
            run(model, integrators[k], MABD_BACKEND_EXECUTOR, "forward");
        const mabd_energy_balance turned =
            run(model, integrators[k], MABD_BACKEND_EXECUTOR, "reverse");
        const double scale = fabs(cpu.kinetic) + fabs(cpu.gravity) + fabs(cpu.drives);
        cr_assert(scale > 0.1);
#define X(name, field, kind)                                                                       \
    cr_expect(fabs(there.field - cpu.field) <= part * scale, "%s: %.12g for %.12g J",              \
              mabd_energy_name(MABD_ENERGY_##name), (double)there.field, (double)cpu.field);
        MABD_ENERGY_LIST(X)
#undef X
        cr_expect(memcmp(&there, &turned, sizeof there) == 0, "order of threads");
    }
    mabd_model_destroy(model);
}

Test(cuda_books, of_joints_and_forces_are_those_of_the_cpu) {
    expect_books(books_joints, 1e-9);
}

Test(cuda_books, of_contacts_are_those_of_the_cpu) {
    expect_books(books_contacts, 1e-6);
}

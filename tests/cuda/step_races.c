// SPDX-License-Identifier: Apache-2.0
// One step of one scene of every conformance class on a device, and one with contacts, laws and
// scripts, to be run under ThreadSanitizer: the kernels of all stages and solvers. The exit code is
// always 0; ctest reads its reports.
#include "support/conformance_class.h"
#include "support/contact_scene.h"

#include "mabd/mabd.h"

#include <stdio.h>

#define WHICH 5 // of a class: some dozen bodies

static int fail(const char* name, const mabd_error* error) {
    fprintf(stderr, "step_races: %s: %s\n", name, error->text);
    return 1;
}

static int step(const char* name, const mabd_model* model, mabd_dual dual) {
    mabd_sim_def def = mabd_default_sim_def();
    mabd_error error = {0};
    mabd_step_info info;
    mabd_sim* sim = NULL;
    def.backend = MABD_BACKEND_EXECUTOR;
    def.dual = dual;
    def.integrator = MABD_INTEGRATOR_EULER; // one solve a step
    mabd_sim_def_apply_preset(&def, MABD_PRESET_FAST);
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) return fail(name, &error);
    const mabd_status status = mabd_sim_step(sim, &info, &error);
    if (status == MABD_OK) {
        printf("%s: %d bodies, %d iterations, gap %g m\n", name, (int)mabd_model_body_count(model),
               (int)info.iterations, (double)info.gap);
    }
    mabd_sim_destroy(sim);
    return status == MABD_OK ? 0 : fail(name, &error);
}

static int step_class(conformance_id id, mabd_dual dual) {
    mabd_scene* scene = conformance_classes[id].make(WHICH);
    mabd_error error = {0};
    mabd_model* model = NULL;
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail("model", &error);
    const int code = step(conformance_classes[id].name, model, dual);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return code;
}

static int step_contact(contact_scene which) {
    mabd_model* model = contact_scene_model(which, NULL);
    const int code = step(contact_scene_name(which), model, MABD_DUAL_AUTO);
    mabd_model_destroy(model);
    return code;
}

int main(void) {
    int code = 0;
    for (int id = 0; id < CONFORMANCE_CLASSES; id++) {
        code |= step_class((conformance_id)id, MABD_DUAL_AUTO);
    }
    code |= step_class(CONFORMANCE_NETS, MABD_DUAL_PCG);
    code |= step_contact(CONTACT_SCENE_BOX) | step_contact(CONTACT_SCENE_CYLINDER);
    printf(code ? "failed\n" : "all steps done\n");
    return code;
}

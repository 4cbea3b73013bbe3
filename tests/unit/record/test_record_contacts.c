// SPDX-License-Identifier: Apache-2.0
// Contacts and controls in recordings: the forces on a box at rest carry its weight in each frame,
// coordinates are those of the simulation, and a recording that is continued equals one without a
// break, however many contacts its frames have.
#include "record/hdf5_util.h"

#include "mabd/batch.h"
#include "support/rig.h"

#include <unistd.h>

#define STEPS   40
#define COLUMNS 13

// A box of 8 kg falls 5 cm to the ground; a motor turns a wheel beside it.
static const char scene_text[] =
    "{\"contact\": {}, \"bodies\": [{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true},"
    " {\"name\": \"box\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\":"
    " [0, 0, 0.15]}, {\"name\": \"wheel\", \"shape\": \"cylinder\", \"radius\": 0.1, \"length\":"
    " 0.05, \"position\": [1, 0, 1]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"wheel\","
    " \"anchor\": [1, 0, 1], \"axis\": [0, 0, 1], \"axes\": {\"rx\": {\"motor_velocity\": 3}}}]}";

typedef struct arrays {
    hsize_t frames, contacts[2], controls[3];
    int64_t end[STEPS + 1];
    double contact[16 * STEPS * COLUMNS], control[2 * (STEPS + 1)];
} arrays;

static void read_all(const char* path, arrays* a) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    cr_assert(file >= 0);
    mabd_h5_close(mabd_h5_open_array(file, "contact_end", 1, &a->frames));
    mabd_h5_close(mabd_h5_open_array(file, "contact", 2, a->contacts));
    mabd_h5_close(mabd_h5_open_array(file, "control", 3, a->controls));
    cr_assert(a->frames <= STEPS + 1 && a->contacts[0] <= 16 * STEPS);
    cr_assert(eq(u64, a->contacts[1], COLUMNS));
    cr_assert(eq(u64, a->controls[1], 1));
    cr_assert(eq(u64, a->controls[2], 2));
    cr_assert(mabd_h5_read_array(file, "contact_end", H5T_NATIVE_INT64, 1, &a->frames, a->end));
    cr_assert(mabd_h5_read_array(file, "contact", H5T_NATIVE_DOUBLE, 2, a->contacts, a->contact));
    cr_assert(mabd_h5_read_array(file, "control", H5T_NATIVE_DOUBLE, 3, a->controls, a->control));
    H5Fclose(file);
}

static void scratch_path(char* path, size_t size, const char* name) {
    const char* base = getenv("TMPDIR");
    snprintf(path, size, "%.80s/mabd-%ld-%s", base ? base : "/tmp", (long)getpid(), name);
}

static mabd_recorder* start(const char* path, const mabd_sim* sim) {
    mabd_error error = {0};
    mabd_recorder* recorder;
    const mabd_record_def def = {.contacts = true, .controls = true};
    rig_check(mabd_recorder_create(path, sim, &def, &recorder, &error), &error, "create");
    rig_check(mabd_recorder_append(recorder, sim, &error), &error, "append");
    return recorder;
}

static void step(mabd_sim* sim, mabd_recorder* recorder, int steps) {
    mabd_error error = {0};
    for (int i = 0; i < steps; i++) {
        rig_step(sim);
        rig_check(mabd_recorder_append(recorder, sim, &error), &error, "append");
    }
}

Test(record_contacts, frames_have_the_contacts_and_controls_of_the_simulation) {
    char path[256];
    scratch_path(path, sizeof path, "contacts.h5");
    mabd_error error = {0};
    mabd_model* model = rig_text_model(scene_text);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_recorder* recorder = start(path, sim);
    step(sim, recorder, STEPS);
    rig_check(mabd_recorder_close(recorder, &error), &error, "close");
    arrays* a = calloc(1, sizeof *a);
    read_all(path, a);
    cr_assert(eq(u64, a->frames, STEPS + 1));
    cr_expect(eq(i64, a->end[0], 0), "no contact at the start");
    cr_expect(eq(i64, a->end[STEPS], (int64_t)a->contacts[0]));
    double force = 0;
    for (int64_t k = a->end[STEPS - 1]; k < a->end[STEPS]; k++) {
        const double* row = a->contact + COLUMNS * k;
        cr_expect(row[0] == 0 && row[1] == 1 && row[7] == 1);
        cr_expect(lt(dbl, fabs(fabs(row[2]) - 0.1), 1e-6), "a corner");
        force += row[10];
    }
    cr_expect(lt(dbl, fabs(force - 8 * 9.81), 1e-3), "%g N", force);
    mabd_real x, rate;
    mabd_sim_get_controls(sim, &x, &rate);
    cr_expect(eq(dbl, a->control[2 * STEPS], x));
    cr_expect(eq(dbl, a->control[2 * STEPS + 1], rate));
    cr_expect(lt(dbl, fabs(rate - 3), 1e-6));
    free(a);
    remove(path);
    rig_destroy(sim, model);
}

// The run goes back to step 20 after 30, and on to the end.
Test(record_contacts, a_recording_that_is_continued_equals_one_without_a_break) {
    char whole[256], broken[256];
    scratch_path(whole, sizeof whole, "whole.h5"), scratch_path(broken, sizeof broken, "broken.h5");
    mabd_error error = {0};
    mabd_model* model = rig_text_model(scene_text);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def);
    mabd_recorder *recorder = start(whole, sim), *first = start(broken, other);
    step(sim, recorder, STEPS);
    step(other, first, 20);
    const size_t size = mabd_sim_state_size(other);
    void* state = malloc(size);
    mabd_sim_save(other, state);
    step(other, first, 10);
    rig_check(mabd_recorder_close(first, &error), &error, "close");
    rig_check(mabd_sim_restore(other, state, size, &error), &error, "restore");
    rig_check(mabd_recorder_reopen(broken, other, &first, &error), &error, "reopen");
    step(other, first, STEPS - 20);
    rig_check(mabd_recorder_close(first, &error), &error, "close");
    rig_check(mabd_recorder_close(recorder, &error), &error, "close");
    arrays *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    read_all(whole, a), read_all(broken, b);
    cr_expect(eq(u64, a->frames, b->frames));
    cr_expect(eq(u64, a->contacts[0], b->contacts[0]));
    cr_expect(memcmp(a, b, sizeof *a) == 0);
    cr_expect(a->contacts[0] > 0);
    free(a), free(b), free(state);
    remove(whole), remove(broken);
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

// SPDX-License-Identifier: Apache-2.0
// Lines of springs, cables and splines, and the ground plane: from the model, through a recording.
#include "support/counting_allocator.h"
#include "support/rig.h"

#include "support/record_chain.h" // after rig.h: it has a type of the name of a parameter there

#include <string.h>

static const char* const scene_text =
    "{\"bodies\": [{\"name\": \"a\", \"shape\": \"box\", \"size\": [1, 1, 1]},"
    " {\"name\": \"b\", \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [3, 0, 2]}],"
    " \"springs\": [{\"points\": [{\"body\": \"a\", \"point\": [0.1, 0.2, 0.3]},"
    " {\"body\": \"world\", \"point\": [0, 0, 4]}], \"stiffness\": 1},"
    " {\"points\": [{\"body\": \"a\"}, {\"body\": \"world\", \"point\": [1, 0, 2]},"
    " {\"body\": \"b\", \"point\": [0, 0, -0.5]}], \"stiffness\": 1, \"law\": \"cable\"}],"
    " \"ground\": {\"point\": [0, 0, -3], \"normal\": [0, 3, 4]}}";

static mabd_sim* redmax_sim(const mabd_model* model, const mabd_allocator* allocator) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_REDMAX;
    if (allocator) def.allocator = allocator;
    return rig_sim(model, &def);
}

static void record_start(const char* path, const mabd_sim* sim) {
    const mabd_record_def def = {.scene_text = "", .command = ""};
    mabd_error error = {0};
    mabd_recorder* recorder = NULL;
    rig_check(mabd_recorder_create(path, sim, &def, &recorder, &error), &error, "create");
    rig_check(mabd_recorder_append(recorder, sim, &error), &error, "append");
    rig_check(mabd_recorder_close(recorder, &error), &error, "close");
}

static void expect_point(const mabd_spring_point* point, int32_t body, double x, double y,
                         double z) {
    const mabd_real wanted[3] = {(mabd_real)x, (mabd_real)y, (mabd_real)z};
    cr_expect(eq(i32, point->body, body));
    cr_expect(lt(dbl, rig_distance(point->point, wanted), 1e-14));
}

Test(record_lines, are_read_back_as_the_scene_has_them) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_model* model = rig_text_model(scene_text);
    mabd_sim* sim = redmax_sim(model, NULL);
    record_start(path, sim);
    mabd_error error = {0};
    mabd_recording* recording;
    rig_check(mabd_recording_open(path, &recording, &error), &error, "open");
    int32_t count;
    const mabd_polyline* line = mabd_recording_polylines(recording, &count);
    cr_assert(eq(i32, count, 2));
    cr_expect(eq(int, line[0].kind, MABD_POLYLINE_SPRING));
    cr_expect(eq(int, line[1].kind, MABD_POLYLINE_CABLE));
    cr_assert(line[0].count == 2 && line[1].count == 3);
    expect_point(&line[0].points[0], 0, 0.1, 0.2, 0.3);
    expect_point(&line[0].points[1], MABD_WORLD, 0, 0, 4);
    expect_point(&line[1].points[0], 0, 0, 0, 0);
    expect_point(&line[1].points[2], 1, 0, 0, -0.5);
    mabd_real point[3], normal[3];
    cr_assert(mabd_recording_ground_plane(recording, point, normal));
    cr_expect(point[2] == -3 && fabs(normal[1] - 0.6) < 1e-15 && fabs(normal[2] - 0.8) < 1e-15);
    mabd_recording_close(recording);
    rig_destroy(sim, model);
    scratch_remove(path);
}

Test(record_lines, are_none_in_other_scenes) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_model* model = rig_file_model("scenes/pendulum.json", NULL, NULL);
    mabd_sim* sim = redmax_sim(model, NULL);
    record_start(path, sim);
    mabd_error error = {0};
    mabd_recording* recording;
    mabd_real plane[6];
    int32_t count = -1;
    rig_check(mabd_recording_open(path, &recording, &error), &error, "open");
    cr_expect(mabd_recording_polylines(recording, &count) == NULL && count == 0);
    cr_expect(not(mabd_recording_ground_plane(recording, plane, plane + 3)));
    mabd_recording_close(recording);
    rig_destroy(sim, model);
    scratch_remove(path);
}

// A cart on a track: the line of the track goes through the cart, at the start and later.
Test(record_lines, of_a_curve_go_through_its_body) {
    mabd_model* model = rig_file_model("scenes/redmax/spline-curve.json", NULL, NULL);
    mabd_sim* sim = redmax_sim(model, NULL);
    mabd_polyline lines[1];
    mabd_spring_point points[512];
    int32_t count;
    cr_assert(eq(i32, mabd_model_polylines(model, NULL, NULL, &count), 1));
    cr_assert(le(i32, count, 512));
    cr_assert(eq(i32, mabd_model_polylines(model, lines, points, NULL), 1));
    cr_expect(eq(int, lines[0].kind, MABD_POLYLINE_CURVE));
    cr_expect(lt(dbl, rig_distance(points[0].point, points[count - 1].point), 1e-12), "closed");
    for (int i = 0; i < 300; i++) {
        mabd_real x[3];
        double nearest = 1;
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        for (int32_t k = 0; k < count; k++) {
            nearest = fmin(nearest, rig_distance(points[k].point, x));
        }
        // points are at most 0.14 m apart
        cr_assert(lt(dbl, nearest, i == 0 ? 1e-6 : 0.07), "step %d", i);
        rig_step(sim);
    }
    rig_destroy(sim, model);
}

Test(record_lines, every_failing_allocation_is_returned) {
    char path[256];
    scratch_path(path, sizeof path, "a.h5");
    mabd_model* model = rig_text_model(scene_text);
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_sim* sim = redmax_sim(model, &allocator);
    const int64_t blocks = counter.live_blocks;
    bool done = false;
    int failures = 0;
    for (int64_t n = 0; !done; n++) {
        const mabd_record_def def = {.scene_text = "", .command = ""};
        mabd_error error = {0};
        mabd_recorder* recorder = NULL;
        counter.fail_at = counter.calls + n;
        const mabd_status status = mabd_recorder_create(path, sim, &def, &recorder, &error);
        done = counter.calls <= counter.fail_at;
        failures += !done;
        cr_expect(eq(int, status, done ? MABD_OK : MABD_ERR_MEMORY));
        mabd_recorder_close(recorder, NULL);
        cr_expect(eq(i64, counter.live_blocks, blocks));
    }
    counter.fail_at = -1;
    cr_expect(lt(int, 5, failures));
    rig_destroy(sim, model);
    cr_expect(eq(i64, counter.wrong_frees, 0));
    scratch_remove(path);
}

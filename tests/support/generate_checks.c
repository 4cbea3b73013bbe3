// SPDX-License-Identifier: Apache-2.0
#include "support/generate_checks.h"

#include "support/counting_allocator.h"

mabd_scene* new_scene(void) {
    mabd_scene* scene = NULL;
    cr_assert(mabd_scene_create(NULL, &scene) == MABD_OK);
    return scene;
}

void check_failing_allocations(scene_builder* build) {
    int64_t failures = 0;
    for (bool done = false; !done; failures++) {
        counting_allocator counter = {.fail_at = -1};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_scene* scene = NULL;
        mabd_error error = {0};
        cr_assert(mabd_scene_create(&allocator, &scene) == MABD_OK);
        counter.fail_at = counter.calls + failures;
        mabd_status status = build(scene, &error);
        done = status == MABD_OK;
        if (!done) {
            cr_assert(status == MABD_ERR_MEMORY, "%s", error.text);
            cr_assert(error.status == MABD_ERR_MEMORY);
        }
        mabd_scene_destroy(scene);
        cr_assert(counter.live_blocks == 0);
        cr_assert(counter.wrong_frees == 0);
    }
    cr_assert(failures > 4);
}

void expect_message(const char* text, int32_t line, const char* expected) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    cr_expect(status == MABD_ERR_INPUT, "%s", text);
    cr_expect(strstr(error.text, expected) != NULL, "%s: '%s'", text, error.text);
    cr_expect(error.line == line, "%s: '%s'", text, error.text);
    mabd_scene_destroy(scene);
}

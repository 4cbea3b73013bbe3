// SPDX-License-Identifier: Apache-2.0
// Weights of joint forces: those of the joint, replaced by those of an axis, free or locked; 1
// where nothing is given. They are a part of the fingerprint and of the counts of a model.
#include "mabd/model.h"
#include "model/model_data.h"
#include "support/rig.h"

#include <math.h>

#define BODY                                                                                       \
    "{\"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1}], \"joints\": ["

static mabd_model* build(const char* joints) {
    char text[1024];
    snprintf(text, sizeof text, BODY "%s]}", joints);
    return rig_text_model(text);
}

static void expect_weights(const char* joint, const double* expected) {
    mabd_model* model = build(joint);
    const mabd_real* weight = model->row_sets[model->joints[0].row_set].weight;
    bool weighted = false;
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        weighted |= expected[k] != 1;
        cr_expect(eq(dbl, (double)weight[k], expected[k]), "%s: axis %d", joint, k);
    }
    cr_expect(eq(i32, mabd_model_get_info(model).weighted_joints, weighted), "%s", joint);
    mabd_model_destroy(model);
}

Test(model_weights, those_of_axes_replace_those_of_the_joint) {
    expect_weights("{\"type\": \"hinge\", \"b\": \"b\"}", (double[]){1, 1, 1, 1, 1, 1});
    expect_weights("{\"type\": \"ball\", \"b\": \"b\", \"weight\": {\"force\": 2}}",
                   (double[]){2, 2, 2, 1, 1, 1});
    expect_weights(
        "{\"type\": \"hinge\", \"b\": \"b\", \"weight\": {\"force\": 0.5, \"torque\": 3},"
        " \"axes\": {\"tz\": {\"weight\": 7}, \"rx\": {\"weight\": 1e5, \"servo\": 0,"
        " \"servo_rigid\": true}}}",
        (double[]){0.5, 0.5, 7, 1e5, 3, 3});
}

Test(model_weights, joints_with_other_weights_have_other_sets) {
    mabd_model* model = build("{\"type\": \"ball\", \"b\": \"b\", \"weight\": {\"force\": 2}},"
                              "{\"type\": \"ball\", \"b\": \"b\", \"weight\": {\"force\": 2}},"
                              "{\"type\": \"ball\", \"b\": \"b\", \"weight\": {\"force\": 4}},"
                              "{\"type\": \"ball\", \"b\": \"b\"}");
    const mabd_model_joint* j = model->joints;
    cr_expect(eq(i32, j[0].row_set, j[1].row_set));
    cr_expect(eq(dbl, (double)model->row_sets[j[2].row_set].weight[0], 4));
    cr_expect(eq(dbl, (double)model->row_sets[j[3].row_set].weight[0], 1));
    cr_expect(eq(i32, mabd_model_get_info(model).weighted_joints, 3));
    mabd_model_destroy(model);
}

Test(model_weights, they_are_a_part_of_the_fingerprint) {
    mabd_model* a = build("{\"type\": \"ball\", \"b\": \"b\"}");
    mabd_model* b = build("{\"type\": \"ball\", \"b\": \"b\", \"weight\": {\"torque\": 2}}");
    cr_expect(ne(u64, mabd_model_hash(a), mabd_model_hash(b)));
    mabd_model_destroy(a);
    mabd_model_destroy(b);
}

static void expect_refused(const mabd_joint_def* def, const char* word) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    rig_add_rod(scene, 0, 1, (mabd_real)0.1, 0);
    cr_expect(eq(int, mabd_scene_add_joint(scene, def, NULL, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, word) != NULL, "'%s' in: %s", word, error.text);
    cr_expect(eq(i32, mabd_scene_joint_count(scene), 0));
    mabd_scene_destroy(scene);
}

Test(model_weights, those_that_are_not_positive_are_refused) {
    const mabd_axis_def wrong = {.weight = -1}, locked = {.weight = 2, .damping = 1};
    mabd_joint_def def = mabd_default_joint_def();
    def.force_weight = 0;
    expect_refused(&def, "force weight");
    def.force_weight = 1, def.torque_weight = (mabd_real)NAN;
    expect_refused(&def, "torque weight");
    def.torque_weight = 1, def.axes[MABD_AXIS_RX] = &wrong;
    expect_refused(&def, "weight");
    def.axes[MABD_AXIS_RX] = NULL, def.axes[MABD_AXIS_TX] = &locked;
    expect_refused(&def, "locked");
}

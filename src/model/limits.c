// SPDX-License-Identifier: Apache-2.0
// Check the start pose against the stops of the joints, after all bodies are placed: coordinates
// are zero at the start only where a joint frame is given once, in the world.

#include "base/error.h"
#include "model/build.h"

// Round-off of a pose that was meant to lie at a stop [m], [rad].
#define START_TOLERANCE ((mabd_real)1e-9)

static void start_side(const mabd_model* m, int32_t body, mabd_mat3* A, mabd_vec3* t) {
    mabd_real q[12], rates[12];
    *A = mabd_m3_identity(), *t = mabd_v3(0, 0, 0);
    if (body == m->body_count) return;
    mabd_model_to_affine(&m->classes[m->body_class[body]], &m->start[body], q, rates);
    *A = mabd_m3_load(q), *t = mabd_v3_load(q + 9);
}

static mabd_status report(const mabd_model* m, int32_t joint, const mabd_row* row, mabd_real x,
                          mabd_real beyond, bool low, mabd_error* error) {
    const bool slide = row->kind == MABD_ROW_SLIDE;
    const char* unit = slide ? "m" : "rad";
    char name[128];
    return mabd_fail_at(
        error, MABD_ERR_INPUT, -1, joint, 0, "%s: %s%c starts at %g %s, %g %s %s its %s limit",
        mabd_model_joint_name(m, joint, name, sizeof name), slide ? "t" : "r", "xyz"[row->axis],
        (double)x, unit, (double)beyond, unit, low ? "below" : "above", low ? "lower" : "upper");
}

mabd_status mabd_model_check_limits(const mabd_model* m, mabd_error* error) {
    for (int32_t i = 0; m->laws && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        if (!set->laws) continue;
        const mabd_real zero[MABD_JOINT_MAX_ROWS] = {0};
        mabd_real x[MABD_JOINT_MAX_ROWS];
        mabd_joint_view view;
        mabd_model_joint_view(m, joint, &view);
        start_side(m, joint->a, &view.Aa, &view.ta);
        start_side(m, joint->b, &view.Ab, &view.tb);
        mabd_joint_coordinates(&view, set->control_count, set->control_row, zero, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const mabd_real below = c->lower - x[r], above = x[r] - c->upper;
            if (!c->limited || (below <= START_TOLERANCE && above <= START_TOLERANCE)) continue;
            const bool low = below > 0;
            return report(m, i, &set->control_row[r], x[r], low ? below : above, low, error);
        }
    }
    return MABD_OK;
}

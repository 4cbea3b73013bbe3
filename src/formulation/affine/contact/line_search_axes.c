// SPDX-License-Identifier: Apache-2.0
// Axes with laws in the search for the branches of contacts (line_search.c). A solve counts there
// only once its axes have settled (affine/active_set.c), so each point of the search is between
// stops, and so are the points between two of them. The force -lambda of an axis is known at both
// ends, and its law anywhere: it adds
//
//   -(lambda0 + t (lambda - lambda0) - law(x + t dx)) dx
//
// to the slope of the energy. Where a law is vertical any of its values will do: the slope jumps
// there and only its sign matters.

#include "formulation/affine/contact/line_search.h"

#include "formulation/affine/element/axis.h"

// Operation on one axis.
typedef void axis_task(mabd_affine_axis_state* axis, const mabd_axis_law* law,
                       mabd_affine_contact_line* line);

static void for_axes(mabd_affine_sim* sim, axis_task* task) {
    const mabd_model* m = sim->model;
    mabd_affine_contacts* c = sim->contacts;
    for (int32_t i = 0; sim->sizes.axes > 0 && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        if (!set->laws) continue;
        const int32_t b = c->by_body.component[joint->b];
        const int32_t component = b >= 0 ? b : c->by_body.component[joint->a];
        if (component < 0 || !c->by_component.met[component]) continue;
        for (int32_t r = 0; r < set->control_count; r++) {
            if (!set->control[r].law) continue;
            const mabd_axis_law law = mabd_affine_axis_law(sim, joint, r);
            task(&sim->axes[joint->coordinate + r], &law,
                 &c->by_component.line[c->by_component.group[component]]);
        }
    }
}

// lambda at x without stops and unbounded boxes: an axis held by one does not move.
static mabd_real law_at(const mabd_axis_law* law, mabd_real x) {
    mabd_real lambda = law->slope * x - law->level;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        const mabd_axis_box* box = &law->box[i];
        if (box->most > 0 && box->most < (mabd_real)INFINITY) {
            lambda += mabd_axis_box_limit(box, x, 1);
        }
    }
    return lambda;
}

static bool is_held(const mabd_axis_law* law) {
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        if (law->box[i].most == (mabd_real)INFINITY) return true;
    }
    return false;
}

static void add_slope(mabd_affine_axis_state* axis, const mabd_axis_law* law,
                      mabd_affine_contact_line* line) {
    if (!line->searched || is_held(law)) return;
    const mabd_real dx = axis->search.x - axis->x_low, t = line->t;
    const mabd_real lambda = axis->lambda_low + t * (axis->search.lambda - axis->lambda_low);
    line->slope -= (lambda - law_at(law, axis->x_low + t * dx)) * dx;
}

static void start_axis(mabd_affine_axis_state* axis, const mabd_axis_law* law,
                       mabd_affine_contact_line* line) {
    (void)law, (void)line;
    axis->x_low = axis->search.x, axis->lambda_low = axis->search.lambda;
}

static void move_axis(mabd_affine_axis_state* axis, const mabd_axis_law* law,
                      mabd_affine_contact_line* line) {
    (void)law;
    axis->x_low += line->t * (axis->search.x - axis->x_low);
    axis->lambda_low += line->t * (axis->search.lambda - axis->lambda_low);
}

void mabd_affine_axes_add_slopes(mabd_affine_sim* sim) {
    for_axes(sim, add_slope);
}

void mabd_affine_axes_move(mabd_affine_sim* sim, bool first) {
    for_axes(sim, first ? start_axis : move_axis);
}

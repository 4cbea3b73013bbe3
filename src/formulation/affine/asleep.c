// SPDX-License-Identifier: Apache-2.0
// Sleep: a scene in which everything rests is not stepped until something from outside acts on it.
//
// A scene may sleep if only inputs can move it again: bodies that are set, forces for a step. It
// has gravity and contacts, no copies, no scripted bodies, moving surfaces, forces, wind, motors or
// drives. Every
// MABD_SLEEP_LOOK_S the poses of all bodies are compared with those of the last look. A scene is
// calm if between two looks the mean velocity of no point of a body was above MABD_SLEEP_SPEED_M_S,
// none moves faster now, and every component of the plan presses on something: what hangs or flies
// does not rest. After MABD_SLEEP_CALM_LOOKS such looks in turn all velocities become zero, and
// steps do nothing but count.
//
// What sleep changes: a body that would go on with less than that speed stops. The looks are part
// of the state, so a checkpoint and any number of threads give the same bits. Cost: one comparison
// of all poses per look, O(1) in all other steps.

#include "formulation/affine/asleep.h"

#include "formulation/affine/backend.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/limits.h"

#include <math.h>
#include <string.h>

// Columns of sim->calm.
enum {
    SINCE_LOOK, // [s]
    CALM_LOOKS, // in turn, -1 = asleep, 0 = poses were stored, -2 = they were not
};

#define ASLEEP     ((mabd_real)-1)
#define NO_POSES   ((mabd_real)-2)
#define TIME_SLACK ((mabd_real)1e-9) // of a look, relative: sums of steps have round-off

static bool is_driven(const mabd_row_set* set) {
    if (set->motor_count > 0) return true;
    for (int32_t r = 0; r < set->control_count; r++) {
        if (set->control[r].servo || set->control[r].drive) return true;
    }
    return false;
}

bool mabd_affine_may_sleep(const mabd_model* m) {
    const mabd_real weight = mabd_v3_norm(mabd_v3_load(m->gravity));
    if (!m->contact.enabled || m->copy_count > 0 || m->control_count > 0 || !(weight > 0))
        return false;
    if (m->script_count > 0 || m->force_count > 0 || m->wind || m->contact.surfaces) return false;
    for (int32_t i = 0; i < m->row_set_count; i++) {
        if (is_driven(&m->row_sets[i])) return false;
    }
    return true;
}

void mabd_affine_wake(mabd_affine_sim* sim) {
    if (sim->sizes.sleeps == 0) return;
    sim->calm[SINCE_LOOK] = 0;
    sim->calm[CALM_LOOKS] = NO_POSES;
}

bool mabd_affine_sleeps(mabd_affine_sim* sim) {
    if (sim->sizes.sleeps == 0 || sim->calm[CALM_LOOKS] != ASLEEP) return false;
    if (!sim->has_applied && sim->def.affine.sleep) return true;
    mabd_affine_wake(sim);
    return false;
}

void mabd_affine_report_sleep(const mabd_affine_sim* sim, mabd_step_info* info) {
    const mabd_affine_contact_totals* t = &sim->contacts->totals;
    info->converged = info->affine.asleep = true;
    info->worst_joint = -1;
    info->contacts = t->active, info->contact_points = t->count;
    info->penetration = t->penetration;
}

// ---- rest --------------------------------------------------------------------------------------

// Largest distance by which points of a body move between two of its coordinates, or coordinates
// of its velocity: a small rotation w changes the matrix by sqrt(2) |w|.
static mabd_real change_of(const mabd_real* a, const mabd_real* b, mabd_real reach) {
    mabd_real turn = 0, shift = 0;
    for (int k = 0; k < 9; k++) turn += (a[k] - b[k]) * (a[k] - b[k]);
    for (int k = 9; k < 12; k++) shift += (a[k] - b[k]) * (a[k] - b[k]);
    return (mabd_real)sqrt(shift) + reach * (mabd_real)sqrt(turn / 2);
}

// True if a body neither moved since the last look nor will until the next one.
static bool is_calm(const mabd_affine_sim* sim, int32_t body, mabd_real reach) {
    static const mabd_real still[12] = {0};
    const mabd_real speed = MABD_SLEEP_SPEED_M_S;
    const size_t at = 12 * (size_t)body;
    mabd_real rates[12];
    mabd_vec12_store(mabd_affine_body_rates(sim, body), rates);
    return change_of(rates, still, reach) <= speed &&
           change_of(sim->q + at, sim->rest_pose + at, reach) <= MABD_SLEEP_LOOK_S * speed;
}

// Geoms are sorted by body.
static bool all_calm(const mabd_affine_sim* sim) {
    const mabd_collide* c = sim->contacts->geometry;
    int32_t geom = 0;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_real reach = 0;
        while (geom < c->geom_count && c->geoms[geom].body < i) geom++;
        for (; geom < c->geom_count && c->geoms[geom].body == i; geom++) {
            reach = (mabd_real)fmax(reach, c->reach[geom]);
        }
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        if (!is_calm(sim, i, reach > 0 ? reach : 1)) return false;
    }
    return true;
}

// True if every component has a contact that presses.
static bool all_rest(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    for (int32_t i = 0; i < c->by_component.count; i++) c->by_component.line[i].count = 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!(p->force[0] > 0)) continue;
        c->by_component.line[c->by_body.component[p->b]].count = 1;
        if (p->moving) c->by_component.line[c->by_body.component[p->a]].count = 1;
    }
    for (int32_t i = 0; i < c->by_component.count; i++) {
        if (c->by_component.line[i].count == 0) return false;
    }
    return true;
}

static void end_motion(mabd_affine_sim* sim) {
    const mabd_affine_sizes* n = &sim->sizes;
    const size_t bytes = 12 * n->bodies * sizeof *sim->v;
    memset(sim->v, 0, bytes), memset(sim->v1, 0, bytes);
    memcpy(sim->q1, sim->q, bytes);
    for (size_t i = 0; i < n->spins; i++) {
        if (sim->model->body_motion[i] == MABD_MOTION_DYNAMIC) {
            mabd_affine_stage_reset_spin(sim, (int32_t)i);
        }
    }
    memset(sim->xd, 0, n->coordinates * sizeof *sim->xd);
    memset(sim->xd1, 0, n->coordinates * sizeof *sim->xd1);
    memcpy(sim->x1, sim->x, n->coordinates * sizeof *sim->x);
    sim->has_history = false;
}

void mabd_affine_watch_sleep(mabd_affine_sim* sim) {
    if (sim->sizes.sleeps == 0 || !sim->def.affine.sleep || sim->backend->has_device) return;
    mabd_real *since = &sim->calm[SINCE_LOOK], *looks = &sim->calm[CALM_LOOKS];
    *since += sim->def.h;
    if (*looks != NO_POSES && *since < MABD_SLEEP_LOOK_S * (1 - TIME_SLACK)) return;
    const bool calm = *looks != NO_POSES && all_rest(sim) && all_calm(sim);
    memcpy(sim->rest_pose, sim->q, 12 * sim->sizes.sleeps * sizeof *sim->q);
    *since = 0;
    *looks = calm ? *looks + 1 : 0;
    if (*looks < MABD_SLEEP_CALM_LOOKS) return;
    end_motion(sim);
    *looks = ASLEEP;
}

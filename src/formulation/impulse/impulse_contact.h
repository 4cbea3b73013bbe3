// SPDX-License-Identifier: Apache-2.0
// Contacts of the impulse formulation.
//
// Points are found once a step (contact.c); in each substep distances and arms follow the bodies,
// while points and normals stay (contact_rows.c). All points of one pair of geoms are a manifold,
// the item of the sweeps (impulse_colors.h).
#pragma once

#include "base/list.h"
#include "collide/collide.h"
#include "formulation/impulse/impulse_colors.h"
#include "formulation/impulse/impulse_kernel.h"
#include "math/lanes.h"

/// What is known of a contact point after a step, for the next one.
typedef struct mabd_impulse_kept {
    mabd_collide_identity id;
    mabd_real normal;   // impulse of the last substep [N s]
    mabd_vec3 friction; // likewise, world: tangents of the next step are others
} mabd_impulse_kept;

/// A contact point: normal from a to b, two tangents.
typedef struct mabd_impulse_point {
    mabd_vec3 Xa, Xb;         // the point on each surface, in the principal frames [m]
    mabd_vec3 normal, t1, t2; // unit, world
    mabd_vec3 ra, rb;         // from the centres to the middle of both points, world [m]
    mabd_real distance;       // of the surfaces at the start of the substep, and after it [m]
    mabd_real shift;          // J g of the normal row (forces.c)
    mabd_real over_K;         // 1/(J M^-1 J') of the normal row
    mabd_real K11, K12, K22;  // J M^-1 J' of the tangents
    mabd_real bound;          // of the eigenvalues of that
    mabd_real bias;           // of the normal row: of sweeps, then of relaxations
    mabd_real l;              // impulse of the normal row [N s]
    mabd_real l1, l2;         // along the tangents
    mabd_real most;           // largest l in the step
    mabd_vec3 before;         // rate of b over a at the start of the substep [m/s]
    mabd_real approach;       // rate of the distance at the start of the step [m/s]
} mabd_impulse_point;

/// Points of one pair of geoms.
typedef struct mabd_impulse_manifold {
    int32_t a, b;         // bodies; b moves
    int32_t first, count; // in points
    mabd_collide_key key;
    mabd_real friction, restitution;
} mabd_impulse_manifold;

struct mabd_impulse_contacts {
    const mabd_model* model;
    mabd_allocator allocator;
    mabd_collide* geometry;
    mabd_list points, manifolds; // mabd_impulse_point, mabd_impulse_manifold
    mabd_list kept;              // mabd_impulse_kept of the last step, sorted by key: state
    mabd_list next_kept;
    mabd_list items;            // mabd_impulse_item, by manifold
    mabd_list color, pack_kind; // uint8_t: arrays of `order`, as are those below
    mabd_list phase_first, tile, tile_pack, pack_item, place; // int32_t
    mabd_impulse_order order; // of the manifolds; kinds are numbers of points
    mabd_real *from, *to;     // (bodies x 12) poses for the search
    uint32_t* marks;          // (bodies) scratch of the colors
    void* memory;
    size_t memory_size;
};

/// Take the memory of the contacts of a model. *out is null if it has none. MABD_ERR_MEMORY:
/// destroy *out (contact.c).
mabd_status mabd_impulse_contacts_create(const mabd_model* model, const mabd_allocator* allocator,
                                         mabd_impulse_contacts** out);
/// Free contacts; null is allowed (contact.c).
void mabd_impulse_contacts_destroy(mabd_impulse_contacts* c);
/// Bytes held now; 0 of null (contact.c).
size_t mabd_impulse_contacts_bytes(const mabd_impulse_contacts* c);
/// Find the points of the step, with the impulses of the last one, and order the manifolds
/// (contact.c). MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_impulse_find_contacts(mabd_impulse_sim* sim);
/// Keep the impulses of a step that succeeded for the next one (contact.c). MABD_ERR_MEMORY.
mabd_status mabd_impulse_keep_contacts(mabd_impulse_sim* sim);
/// Write the pose of every body to poses (bodies x 12) (contact.c).
void mabd_impulse_write_poses(const mabd_impulse_sim* sim, mabd_real* poses);

/// Compute the rows of all points at the start of a substep (contact_rows.c).
void mabd_impulse_set_contacts(mabd_impulse_sim* sim);
/// Apply the impulses of the last substep, times `scale` (contact_rows.c).
void mabd_impulse_warm_contacts(mabd_impulse_sim* sim, mabd_real scale);
/// Move the distances with the velocities of the substep (contact_rows.c).
void mabd_impulse_move_contacts(mabd_impulse_sim* sim);

/// One sweep over all points (contact_sweep.c).
void mabd_impulse_sweep_contacts(mabd_impulse_sim* sim, bool back);
/// Give points that were hit their speed of rebound (contact_sweep.c).
void mabd_impulse_rebound(mabd_impulse_sim* sim);

/// Report points, contacts and overlap of a step (contact_output.c).
void mabd_impulse_report_contacts(const mabd_impulse_sim* sim, mabd_step_info* info);
/// Entries of the table (contact_output.c).
int32_t mabd_impulse_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
mabd_status mabd_impulse_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);

/// Velocity of b over a at a point [m/s], world.
MABD_FN mabd_vec3 mabd_impulse_point_rate(const mabd_impulse_point* p, const mabd_impulse_pair* V) {
    const mabd_vec3 of_b = mabd_v3_add(V->vb, mabd_v3_cross(V->wb, p->rb));
    const mabd_vec3 of_a = mabd_v3_add(V->va, mabd_v3_cross(V->wa, p->ra));
    return mabd_v3_sub(of_b, of_a);
}
/// Places in the order of the sweeps: manifolds, and -1 for lanes without one.
MABD_FN int32_t mabd_impulse_manifold_places(const mabd_impulse_contacts* c) {
    return MABD_LANES * c->order.pack_count;
}
/// Point i of the contacts.
MABD_FN mabd_impulse_point* mabd_impulse_point_at(const mabd_impulse_contacts* c, int32_t i) {
    return (mabd_impulse_point*)c->points.data + i;
}
/// Manifold i of the contacts.
MABD_FN mabd_impulse_manifold* mabd_impulse_manifold_at(const mabd_impulse_contacts* c, int32_t i) {
    return (mabd_impulse_manifold*)c->manifolds.data + i;
}

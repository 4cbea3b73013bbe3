// SPDX-License-Identifier: Apache-2.0
// Inertia of bodies that are put together from shapes [RM sec. 1.7.1]: against a sum over points,
// two in each direction of each box (Gauss), whose second moments are those of the box.
#include "model/model_data.h"
#include "support/draw.h"
#include "support/rig.h"

#define PIECES 4
#define DENSE  700.0 // [kg/m^3]

/// Mass, first and second moments of points about the origin of the body.
typedef struct moments {
    double mass, first[3], second[3][3];
} moments;

static void add_point(double mass, mabd_vec3 x, moments* sum) {
    const double p[3] = {x.x, x.y, x.z};
    sum->mass += mass;
    for (int i = 0; i < 3; i++) {
        sum->first[i] += mass * p[i];
        for (int k = 0; k < 3; k++) sum->second[i][k] += mass * p[i] * p[k];
    }
}

static void add_box(const mabd_real* size, mabd_vec3 at, mabd_mat3 R, moments* sum) {
    const double mass = DENSE * size[0] * size[1] * size[2] / 8;
    for (int c = 0; c < 8; c++) {
        const mabd_vec3 corner = mabd_v3((c & 1 ? 0.5 : -0.5) * size[0] / sqrt(3),
                                         (c & 2 ? 0.5 : -0.5) * size[1] / sqrt(3),
                                         (c & 4 ? 0.5 : -0.5) * size[2] / sqrt(3));
        add_point(mass, mabd_v3_add(at, mabd_m3_mul(R, corner)), sum);
    }
}

// A body of random boxes at random poses; *sum gets the moments of its points.
static mabd_model* random_body(uint64_t* state, moments* sum) {
    mabd_geom geoms[PIECES];
    mabd_body_def def = mabd_default_body_def();
    memset(sum, 0, sizeof *sum);
    for (int i = 0; i < PIECES; i++) {
        const mabd_vec3 size = draw_vec3(state, 0.2), at = draw_vec3(state, 1);
        const mabd_real sizes[3] = {0.05 + fabs(size.x), 0.05 + fabs(size.y), 0.05 + fabs(size.z)};
        const mabd_mat3 R = draw_rotation(state);
        geoms[i] = mabd_geom_make(MABD_SHAPE_BOX, sizes, DENSE);
        mabd_v3_store(at, geoms[i].position);
        mabd_q_store(mabd_q_from_matrix(R), geoms[i].rotation);
        add_box(sizes, at, mabd_q_matrix(mabd_q_from_matrix(R)), sum);
    }
    def.geoms = geoms, def.geom_count = PIECES;
    mabd_scene* scene = rig_scene(0);
    rig_add_body(scene, &def);
    return rig_model(scene);
}

Test(composites, have_the_moments_of_their_points) {
    uint64_t state = 3;
    for (int trial = 0; trial < 20; trial++) {
        moments sum;
        mabd_model* model = random_body(&state, &sum);
        const mabd_model_class* c = &model->classes[model->body_class[0]];
        const mabd_mat3 V = mabd_q_matrix(mabd_q_load(c->axes));
        const mabd_vec3 axis[3] = {V.c1, V.c2, V.c3};
        cr_expect(lt(dbl, fabs(c->material.mass / sum.mass - 1), 1e-12));
        double trace = 0, central[3][3], most = 0;
        for (int i = 0; i < 3; i++) {
            const double center = sum.first[i] / sum.mass;
            cr_expect(lt(dbl, fabs(c->center[i] - center), 1e-12));
            for (int k = 0; k < 3; k++) {
                central[i][k] = sum.second[i][k] - sum.first[i] * sum.first[k] / sum.mass;
            }
            trace += central[i][i];
        }
        for (int i = 0; i < 3; i++) most = fmax(most, c->principal[i]);
        for (int i = 0; i < 3; i++) { // V diag(I) V' = trace - central
            for (int k = 0; k < 3; k++) {
                double have = 0;
                for (int r = 0; r < 3; r++) {
                    have += c->principal[r] * mabd_v3_get(axis[r], i) * mabd_v3_get(axis[r], k);
                }
                const double wanted = (i == k ? trace : 0) - central[i][k];
                cr_expect(lt(dbl, fabs(have - wanted), 1e-12 * most), "%d %d", i, k);
            }
        }
        // right-handed
        const mabd_vec3 third = mabd_v3_cross(axis[0], axis[1]);
        cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(third, axis[2])), 1e-12));
        mabd_model_destroy(model);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Tests for splines as joints: frames of src/math/frame_exp.h and src/scene/joint_piece.c, columns
// and derivatives of src/formulation/redmax/path.c, against differences of frames and closed forms.
#include "formulation/redmax/path.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static mabd_vec3 draw_vector(uint64_t* state, mabd_real size) {
    const mabd_real x = draw_real(state), y = draw_real(state), z = draw_real(state);
    return mabd_v3_scale(size, mabd_v3(x, y, z));
}

static double largest(mabd_spatial x) {
    mabd_real e[6];
    double most = 0;
    mabd_sp_store(x, e);
    for (int k = 0; k < 6; k++) most = fmax(most, fabs(e[k]));
    return most;
}

// ---- frames ------------------------------------------------------------------------------------

static double frame_distance(const mabd_frame* a, const mabd_frame* b) {
    const mabd_mat3 R = mabd_m3_axpy(-1, a->R, b->R);
    return fmax(fmax(mabd_v3_norm(R.c1), mabd_v3_norm(R.c2)),
                fmax(mabd_v3_norm(R.c3), mabd_v3_norm(mabd_v3_sub(a->p, b->p))));
}

// Angles from 1e-12 to pi - 1e-9.
Test(path, exponential_and_logarithm_of_frames_are_inverse) {
    uint64_t state = 3;
    double worst = 0;
    for (int i = 0; i < 10000; i++) {
        const double angles[] = {1e-12, 1e-6, 0.01, 1, 2.5, MABD_PI - 1e-6, MABD_PI - 1e-9};
        const mabd_vec3 v = draw_vector(&state, 1), axis = draw_vector(&state, 1);
        const mabd_real angle = (mabd_real)angles[i % 7];
        const mabd_spatial D = mabd_sp(mabd_v3_scale(angle / mabd_v3_norm(axis), axis), v);
        const mabd_frame E = mabd_frame_exp(D);
        const mabd_frame back = mabd_frame_exp(mabd_frame_log(&E));
        worst = fmax(worst, frame_distance(&E, &back));
    }
    printf("exp(log E) - E: %.1e\n", worst);
    cr_expect(lt(dbl, worst, 1e-12));
}

// The example of [RM]: |omega| = 3.086, four digits printed. A screw of known pitch is a helix.
Test(path, exponential_of_a_screw_is_a_helix) {
    for (int i = 1; i < 20; i++) {
        const double angle = 0.3 * i, radius = 0.7, pitch = 0.2;
        // axis z through (-radius, 0, 0): v = -w x axis point + pitch w
        const mabd_spatial D =
            mabd_sp(mabd_v3(0, 0, (mabd_real)angle),
                    mabd_v3(0, (mabd_real)(radius * angle), (mabd_real)(pitch * angle)));
        const mabd_frame E = mabd_frame_exp(D);
        const mabd_vec3 p = mabd_v3((mabd_real)(radius * (cos(angle) - 1)),
                                    (mabd_real)(radius * sin(angle)), (mabd_real)(pitch * angle));
        cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(E.p, p)), 1e-14));
        cr_expect(lt(dbl, fabs(E.R.c1.x - cos(angle)), 1e-14));
    }
}

// ---- splines -----------------------------------------------------------------------------------

#define FRAMES 6
#define GRID   5

typedef struct spline {
    mabd_joint_piece piece;
    mabd_real values[MABD_AXIS_COUNT * GRID * GRID];
} spline;

static spline draw_curve(uint64_t* state, bool closed) {
    spline s = {.piece = {.type = MABD_JOINT_SPLINE_CURVE,
                          .rows = FRAMES,
                          .columns = 7,
                          .closed = closed,
                          .rotation = {1}}};
    for (int i = 0; i < FRAMES; i++) {
        const mabd_vec3 turn = draw_vector(state, (mabd_real)0.8);
        const mabd_quat q = mabd_q_normalize(mabd_q(1, turn.x, turn.y, turn.z));
        mabd_v3_store(draw_vector(state, 1), s.values + 7 * i);
        mabd_q_store(q, s.values + 7 * i + 3);
    }
    return s;
}

static spline draw_surface(uint64_t* state) {
    spline s = {
        .piece = {
            .type = MABD_JOINT_SPLINE_SURFACE, .rows = GRID, .columns = GRID, .rotation = {1}}};
    for (int i = 0; i < MABD_AXIS_COUNT * GRID * GRID; i++) s.values[i] = draw_real(state);
    return s;
}

static mabd_frame frame_at(const spline* s, const mabd_real* q, bool reversed,
                           mabd_redmax_path* path) {
    return mabd_redmax_path_at(&s->piece, s->values, q, reversed, path);
}

static const double weights[5] = {1 / 12., -8 / 12., 0, 8 / 12., -1 / 12.};
#define STEP ((mabd_real)1e-3)

// Derivative of the frame by q_k, as a twist: S_k = (E^-1 dE/dq_k).
static mabd_spatial column_by_differences(const spline* s, const mabd_real* q, int k,
                                          bool reversed) {
    mabd_redmax_path path;
    const mabd_frame E = frame_at(s, q, reversed, &path), back = mabd_frame_inverse(&E);
    mabd_spatial sum = mabd_sp_zero();
    for (int i = 0; i < 5; i++) {
        mabd_real x[2] = {q[0], q[1]};
        x[k] += (mabd_real)(i - 2) * STEP;
        const mabd_frame moved = frame_at(s, x, reversed, &path);
        const mabd_frame step = mabd_frame_product(&back, &moved);
        sum = mabd_sp_axpy((mabd_real)weights[i] / STEP, mabd_frame_log(&step), sum);
    }
    return sum;
}

// Worst error of S, dS, d2S of a spline at q.
static double derivative_error(const spline* s, const mabd_real* q, int n, bool reversed) {
    mabd_redmax_path at, moved[5];
    double worst = 0;
    frame_at(s, q, reversed, &at);
    for (int k = 0; k < n; k++) {
        worst =
            fmax(worst, largest(mabd_sp_sub(column_by_differences(s, q, k, reversed), at.S[k])));
        for (int i = 0; i < 5; i++) {
            mabd_real x[2] = {q[0], q[1]};
            x[k] += (mabd_real)(i - 2) * STEP;
            frame_at(s, x, reversed, &moved[i]);
        }
        for (int a = 0; a < n; a++) {
            mabd_spatial dS = mabd_sp_zero();
            for (int i = 0; i < 5; i++) {
                dS = mabd_sp_axpy((mabd_real)weights[i] / STEP, moved[i].S[a], dS);
            }
            worst = fmax(worst, largest(mabd_sp_sub(dS, at.dS[a][k])));
            for (int b = 0; b < n; b++) {
                mabd_spatial d2S = mabd_sp_zero();
                for (int i = 0; i < 5; i++) {
                    d2S = mabd_sp_axpy((mabd_real)weights[i] / STEP, moved[i].dS[a][b], d2S);
                }
                worst = fmax(worst, largest(mabd_sp_sub(d2S, at.d2S[a][b][k])));
            }
        }
    }
    return worst;
}

// Inside of segments, where all derivatives are smooth; from both ends of the joint.
Test(path, derivatives_of_curves_and_surfaces) {
    uint64_t state = 11;
    double worst[2] = {0, 0};
    for (int i = 0; i < 200; i++) {
        const bool reversed = i % 2 == 1;
        const spline curve = draw_curve(&state, i % 3 == 0), surface = draw_surface(&state);
        mabd_real q[2];
        for (int k = 0; k < 2; k++) {
            const mabd_real segment = (mabd_real)((i + k) % 2);
            q[k] = segment + (mabd_real)0.5 + (mabd_real)0.49 * draw_real(&state);
        }
        worst[0] = fmax(worst[0], derivative_error(&curve, q, 1, reversed));
        worst[1] = fmax(worst[1], derivative_error(&surface, q, 2, reversed));
    }
    printf("S, dS, d2S: curve %.1e, surface %.1e\n", worst[0], worst[1]);
    cr_expect(lt(dbl, worst[0], 1e-7));
    cr_expect(lt(dbl, worst[1], 1e-7));
}

// Without turns a curve is the B-spline of its positions: at q = i, (c_i + 4 c_(i+1) + c_(i+2))/6.
Test(path, curve_without_turns_is_the_spline_of_its_positions) {
    uint64_t state = 5;
    spline s = draw_curve(&state, false);
    for (int i = 0; i < FRAMES; i++) {
        mabd_q_store(mabd_q(1, 0, 0, 0), s.values + 7 * i + 3);
    }
    for (int i = 0; i <= FRAMES - 3; i++) {
        const mabd_real q[2] = {(mabd_real)i, 0};
        mabd_redmax_path path;
        const mabd_frame E = frame_at(&s, q, false, &path);
        const int first = i < FRAMES - 3 ? i : i - 1; // the end of the last segment
        mabd_vec3 c[4];
        for (int k = 0; k < 4; k++) c[k] = mabd_v3_load(s.values + 7 * (first + k));
        const mabd_vec3* a = i < FRAMES - 3 ? c : c + 1;
        const mabd_vec3 sum = mabd_v3_axpy(4, a[1], mabd_v3_add(a[0], a[2]));
        cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(E.p, mabd_v3_scale((mabd_real)(1 / 6.), sum))),
                     1e-14));
    }
}

// S and dS have no jump between segments, nor where a closed curve begins again.
Test(path, segments_meet_with_two_derivatives) {
    uint64_t state = 8;
    for (int round = 0; round < 20; round++) {
        const spline s = draw_curve(&state, true);
        for (int i = -1; i <= FRAMES + 1; i++) {
            const mabd_real below[2] = {(mabd_real)(i - 1e-9), 0}, above[2] = {(mabd_real)i, 0};
            mabd_redmax_path a, b;
            const mabd_frame E = frame_at(&s, below, false, &a), F = frame_at(&s, above, false, &b);
            cr_expect(lt(dbl, frame_distance(&E, &F), 1e-7));
            cr_expect(lt(dbl, largest(mabd_sp_sub(a.S[0], b.S[0])), 1e-7));
            cr_expect(lt(dbl, largest(mabd_sp_sub(a.dS[0][0], b.dS[0][0])), 1e-7));
        }
        cr_expect(not(mabd_piece_is_beyond(&s.piece, 0, 100)));
    }
    const spline open = draw_curve(&state, false);
    cr_expect(mabd_piece_is_beyond(&open.piece, 0, (mabd_real)3.001));
    cr_expect(mabd_piece_is_beyond(&open.piece, 0, (mabd_real)-0.001));
    cr_expect(not(mabd_piece_is_beyond(&open.piece, 0, 3)));
}

// The frame that the scene gives body b is the one that the joint has at its start coordinates.
Test(path, start_frames_are_those_of_the_joint) {
    uint64_t state = 21;
    for (int i = 0; i < 20; i++) {
        spline s = i % 2 == 0 ? draw_curve(&state, false) : draw_surface(&state);
        mabd_redmax_path path;
        s.piece.start[0] = (mabd_real)0.3, s.piece.start[1] = (mabd_real)1.2;
        const mabd_frame E = mabd_piece_start_frame(&s.piece, s.values);
        const mabd_frame F = frame_at(&s, s.piece.start, false, &path);
        cr_expect(lt(dbl, frame_distance(&E, &F), 1e-14));
    }
}

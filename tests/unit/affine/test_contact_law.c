// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/element/contact_law.h: the force law of one contact against its
// definition (affine/contact/contact.h), and the rows of a branch against the law by differences.
//
//   F = max(0, -g/c_n) n - k s,   k = min(1/c_t, bound/|s|)
#include "formulation/affine/element/contact_law.h"

#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define DRAWS 2000

static const mabd_real softness = (mabd_real)1e-3;

// A contact with a penetration of about 1 mm and slips of about 1 mm; with its friction bound it
// may stick or slip.
static mabd_affine_contact draw_contact(uint64_t* state) {
    mabd_affine_contact p = {.friction_state = MABD_FRICTION_NONE};
    const mabd_mat3 R = draw_rotation(state);
    p.n = R.c1, p.t1 = R.c2, p.t2 = R.c3;
    p.gap = (mabd_real)1e-3 * draw_real(state);
    p.slip1 = (mabd_real)1e-3 * draw_real(state), p.slip2 = (mabd_real)1e-3 * draw_real(state);
    p.stick_offset1 = (mabd_real)1e-4 * draw_real(state),
    p.stick_offset2 = (mabd_real)1e-4 * draw_real(state);
    p.own_n = (mabd_real)1e-4 * (2 + draw_real(state));
    p.own_t = (mabd_real)1e-4 * (2 + draw_real(state));
    p.bound = (mabd_real)1e4 * (1 + draw_real(state));
    return p;
}

static mabd_real gap_at(const mabd_affine_contact* p, mabd_vec3 move) {
    return p->gap + mabd_v3_dot(p->n, move);
}

static mabd_vec3 draw_move(uint64_t* state) {
    return draw_vec3(state, (mabd_real)1e-3);
}

// Set the branch of a displacement, as the solver does.
static void choose_branch(mabd_affine_contact* p, mabd_vec3 move) {
    const mabd_vec3 s = mabd_affine_law_slip(p, move);
    p->slip_length = mabd_v3_norm(s);
    p->slip_direction = mabd_v3_scale(1 / p->slip_length, s);
    p->pressed = gap_at(p, move) < 0;
    p->friction_state =
        p->slip_length > softness * p->own_t * p->bound ? MABD_FRICTION_SLIP : MABD_FRICTION_STICK;
}

static mabd_real apart(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3_norm(mabd_v3_sub(a, b));
}

Test(contact_law, pushes_only_and_keeps_to_its_bound) {
    uint64_t state = 1;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_affine_contact p = draw_contact(&state);
        const mabd_vec3 move = draw_move(&state), F = mabd_affine_law_force(&p, softness, move);
        const mabd_real normal = mabd_v3_dot(p.n, F), g = gap_at(&p, move);
        const mabd_vec3 tangent = mabd_v3_axpy(-normal, p.n, F), s = mabd_affine_law_slip(&p, move);
        const mabd_real push = mabd_v3_norm(tangent), slip = mabd_v3_norm(s);
        cr_expect(epsilon_eq(dbl, normal, fmax(0, -g / (softness * p.own_n)), 1e-9));
        cr_expect(le(dbl, push, p.bound + 1e-9));
        cr_expect(epsilon_eq(dbl, push, fmin(p.bound, slip / (softness * p.own_t)), 1e-8));
        cr_expect(epsilon_eq(dbl, mabd_v3_dot(tangent, s), -push * slip, 1e-9), "against its slip");
    }
}

// (F(x) - F(y)) . (x - y) <= 0: with a constant bound the force has a convex energy.
Test(contact_law, falls_along_its_own_displacement) {
    uint64_t state = 2;
    for (int i = 0; i < DRAWS; i++) {
        const mabd_affine_contact p = draw_contact(&state);
        const mabd_vec3 x = draw_move(&state), y = draw_move(&state);
        const mabd_vec3 Fx = mabd_affine_law_force(&p, softness, x);
        const mabd_vec3 Fy = mabd_affine_law_force(&p, softness, y);
        cr_expect(le(dbl, mabd_v3_dot(mabd_v3_sub(Fx, Fy), mabd_v3_sub(x, y)), 1e-12));
    }
}

Test(contact_law, the_rows_of_a_branch_are_the_law_there) {
    uint64_t state = 4;
    int seen[2][3] = {{0}};
    for (int i = 0; i < DRAWS; i++) {
        mabd_affine_contact p = draw_contact(&state);
        const mabd_vec3 move = draw_move(&state);
        choose_branch(&p, move);
        const mabd_vec3 linear = mabd_affine_law_linear(&p, softness, move);
        cr_expect(le(dbl, apart(linear, mabd_affine_law_force(&p, softness, move)), 1e-8),
                  "draw %d", i);
        seen[p.pressed][p.friction_state]++;
    }
    for (int k = 0; k < 4; k++) cr_expect(lt(int, 100, seen[k / 2][1 + k % 2]), "branch %d", k);
}

// A branch that sticks is linear: its rows equal the law anywhere on it.
Test(contact_law, straight_branches_hold_to_their_ends) {
    uint64_t state = 5;
    int checked = 0;
    for (int i = 0; i < 10 * DRAWS; i++) {
        mabd_affine_contact p = draw_contact(&state);
        choose_branch(&p, draw_move(&state));
        const mabd_affine_contact there = p;
        const mabd_vec3 move = draw_move(&state);
        choose_branch(&p, move);
        if (p.pressed != there.pressed || p.friction_state != there.friction_state ||
            p.friction_state == MABD_FRICTION_SLIP)
            continue;
        const mabd_vec3 linear = mabd_affine_law_linear(&there, softness, move);
        cr_expect(le(dbl, apart(linear, mabd_affine_law_force(&p, softness, move)), 1e-8),
                  "draw %d", i);
        checked++;
    }
    cr_expect(lt(int, 100, checked));
}

// Central differences over e = 1e-8 m: the third derivative of bound s/|s| is bound/|s|^3, so e^2
// bound/|s|^3 of bound/|s| is (e/|s|)^2 < 1e-6 where |s| > 1e-5 m; round-off is 1e-16 of 1e5 N over
// e.
Test(contact_law, rows_are_the_derivative_of_the_law) {
    uint64_t state = 6;
    const mabd_real e = (mabd_real)1e-8;
    for (int i = 0; i < DRAWS; i++) {
        mabd_affine_contact p = draw_contact(&state);
        const mabd_vec3 move = draw_move(&state), direction = draw_direction(&state);
        const mabd_vec3 a = mabd_v3_axpy(-e, direction, move), b = mabd_v3_axpy(e, direction, move);
        choose_branch(&p, a);
        const mabd_affine_contact before = p;
        choose_branch(&p, b);
        const mabd_affine_contact after = p;
        choose_branch(&p, move);
        if (before.pressed != after.pressed || before.friction_state != after.friction_state)
            continue;
        if (p.slip_length < (mabd_real)1e-5) continue;
        const mabd_vec3 law = mabd_v3_sub(mabd_affine_law_force(&p, softness, b),
                                          mabd_affine_law_force(&p, softness, a));
        const mabd_vec3 rows = mabd_v3_sub(mabd_affine_law_linear(&p, softness, b),
                                           mabd_affine_law_linear(&p, softness, a));
        const mabd_real size = 2 * e / (softness * (mabd_real)1e-4); // the stiffest row
        cr_expect(le(dbl, apart(law, rows), 1e-5 * size), "draw %d, branch %d", i,
                  (int)p.friction_state);
    }
}

Test(contact_law, counts_its_rows) {
    uint64_t state = 7;
    mabd_affine_law_row rows[3];
    mabd_affine_contact p = draw_contact(&state);
    p.slip_direction = p.t1, p.slip_length = (mabd_real)1e-3;
    cr_expect(eq(int, mabd_affine_law_rows(&p, softness, rows), 0));
    p.pressed = true, p.friction_state = MABD_FRICTION_STICK;
    cr_expect(eq(int, mabd_affine_law_rows(&p, softness, rows), 3));
    p.friction_state = MABD_FRICTION_SLIP;
    cr_expect(eq(int, mabd_affine_law_rows(&p, softness, rows), 2));
    p.bound = 0; // no friction: nothing rotates
    cr_expect(eq(int, mabd_affine_law_rows(&p, softness, rows), 1));
    cr_expect(eq(dbl, mabd_v3_norm(mabd_affine_law_push(&p)), 0));
}

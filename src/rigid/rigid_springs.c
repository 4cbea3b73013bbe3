// SPDX-License-Identifier: Apache-2.0
// Springs at poses of bodies, from the laws of spring_law.h.
//
// Stability of a step that takes the forces of a spring at its start. Let g be the gradient of the
// length by the motion of all bodies, C = g M^-1 g'. Three things resist:
//
//   stretch   T_l g g'                       rate^2 = T_l C
//   damping   T_v g g' on velocities         rate = T_v C: an explicit damper overshoots from
//             h rate = 2 on, as a spring does
//   tension   T P_s, P_s = (1 - e e')/l_s:   rate^2 <= T/l_s (c_a + c_b), c the largest compliance
//             of a point, 1/m + |X|^2/least moment; and T e_s is constant in the world while its
//             body turns (mabd_rigid_stability_add_force)
//
// All bodies of a spring get the whole rate, as for springs of axes.

#include "rigid/rigid_springs.h"

static const mabd_model_point* points_of(const mabd_model* m, const mabd_model_spring* own) {
    return m->spring_points + own->first;
}

static mabd_rigid_spring_end end_of(const mabd_model_point* point, const mabd_rigid_pose* poses,
                                    const mabd_rigid_twist* u) {
    const mabd_rigid_pose* pose = &poses[point->body];
    mabd_rigid_spring_end out = {mabd_v3_add(pose->c, mabd_m3_mul(pose->R, point->X)),
                                 mabd_v3(0, 0, 0)};
    if (!u) return out;
    const mabd_vec3 turn = mabd_v3_cross(u[point->body].w, point->X);
    out.u = mabd_v3_add(u[point->body].v, mabd_m3_mul(pose->R, turn));
    return out;
}

// u null: at rest.
static mabd_rigid_spring_segment segment_of(const mabd_model* m, const mabd_model_spring* own,
                                            int32_t i, const mabd_rigid_pose* poses,
                                            const mabd_rigid_twist* u) {
    const mabd_model_point* points = points_of(m, own);
    return mabd_rigid_spring_segment_of(own, end_of(&points[i], poses, u),
                                        end_of(&points[i + 1], poses, u));
}

mabd_rigid_spring mabd_rigid_spring_at(const mabd_model* m, const mabd_model_spring* own,
                                       const mabd_rigid_pose* poses, const mabd_rigid_twist* u) {
    mabd_rigid_spring out = {0};
    for (int32_t i = 0; i + 1 < own->count; i++) {
        const mabd_rigid_spring_segment d = segment_of(m, own, i, poses, u);
        out.length += d.length, out.rate += mabd_v3_dot(d.e, d.rate);
    }
    out.t = mabd_rigid_spring_tension_of(own, out.length, out.rate);
    out.elastic = mabd_rigid_spring_elastic(own, out.length);
    return out;
}

// Wrench of a force f of the world at a point, on its body.
static mabd_rigid_wrench wrench_at(const mabd_model_point* point, const mabd_rigid_pose* poses,
                                   mabd_vec3 f) {
    const mabd_vec3 seen = mabd_m3_tmul(poses[point->body].R, f);
    const mabd_rigid_wrench w = {f, mabd_v3_cross(point->X, seen)};
    return w;
}

static void add_wrench(mabd_rigid_wrench* to, mabd_rigid_wrench w) {
    to->f = mabd_v3_add(to->f, w.f), to->t = mabd_v3_add(to->t, w.t);
}

void mabd_rigid_spring_pull(const mabd_model* m, const mabd_model_spring* own,
                            const mabd_rigid_pose* poses, mabd_real T, mabd_rigid_wrench* loads) {
    const mabd_model_point* points = points_of(m, own);
    for (int32_t i = 0; i + 1 < own->count; i++) {
        const mabd_vec3 F = mabd_v3_scale(T, segment_of(m, own, i, poses, NULL).e);
        add_wrench(&loads[points[i].body], wrench_at(&points[i], poses, F));
        add_wrench(&loads[points[i + 1].body],
                   wrench_at(&points[i + 1], poses, mabd_v3_scale(-1, F)));
    }
}

mabd_real mabd_rigid_spring_energy(const mabd_model* m, const mabd_model_spring* own,
                                   const mabd_rigid_pose* poses) {
    return mabd_rigid_spring_energy_of(own, mabd_rigid_spring_at(m, own, poses, NULL).length);
}

// ---- stability ---------------------------------------------------------------------------------

static bool moves(const mabd_model* m, int32_t body) {
    return body < m->body_count && m->body_motion[body] == MABD_MOTION_DYNAMIC;
}

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

// Wrench of a unit of tension on a body, at all its points.
static mabd_rigid_wrench gradient_of(const mabd_model* m, const mabd_model_spring* own,
                                     const mabd_rigid_pose* poses, int32_t body) {
    const mabd_model_point* points = points_of(m, own);
    mabd_rigid_wrench sum = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t i = 0; i + 1 < own->count; i++) {
        const mabd_vec3 e = segment_of(m, own, i, poses, NULL).e;
        if (points[i].body == body) add_wrench(&sum, wrench_at(&points[i], poses, e));
        if (points[i + 1].body != body) continue;
        add_wrench(&sum, wrench_at(&points[i + 1], poses, mabd_v3_scale(-1, e)));
    }
    return sum;
}

// True if no earlier point of a spring is on the body of point k, which moves.
static bool is_first(const mabd_model* m, const mabd_model_spring* own, int32_t k) {
    const mabd_model_point* points = points_of(m, own);
    if (!moves(m, points[k].body)) return false;
    for (int32_t i = 0; i < k; i++) {
        if (points[i].body == points[k].body) return false;
    }
    return true;
}

static mabd_real least_of(const mabd_real* I) {
    const mabd_real least = I[0] < I[1] ? I[0] : I[1];
    return I[2] < least ? I[2] : least;
}

// Largest compliance of a point in any direction [1/kg].
static mabd_real point_compliance(const mabd_model* m, const mabd_model_point* point) {
    if (!moves(m, point->body)) return 0;
    const mabd_model_class* c = class_of(m, point->body);
    const mabd_real arm2 = mabd_v3_dot(point->X, point->X);
    return 1 / c->material.mass + (arm2 > 0 ? arm2 / least_of(c->principal) : 0);
}

// Add what tension resists to the bodies of a spring; return the sum of T/l_s (c_a + c_b).
static mabd_real add_tension(const mabd_model* m, const mabd_model_spring* own,
                             const mabd_rigid_pose* poses, mabd_real T, mabd_rigid_stability* s) {
    const mabd_model_point* points = points_of(m, own);
    mabd_real sum = 0;
    for (int32_t i = 0; i + 1 < own->count; i++) {
        const mabd_rigid_spring_segment d = segment_of(m, own, i, poses, NULL);
        for (int32_t side = 0; side < 2; side++) {
            const mabd_model_point* point = &points[i + side];
            const mabd_vec3 F = mabd_v3_scale(side ? -T : T, d.e);
            if (!moves(m, point->body)) continue;
            mabd_rigid_stability_add_force(&s[point->body], point->X,
                                           mabd_m3_tmul(poses[point->body].R, F));
        }
        if (!(T > 0 && d.length > MABD_RIGID_SPRING_SHORTEST * own->length)) continue;
        sum +=
            T / d.length * (point_compliance(m, &points[i]) + point_compliance(m, &points[i + 1]));
    }
    return sum;
}

void mabd_rigid_spring_stability(const mabd_model* m, const mabd_model_spring* own,
                                 const mabd_rigid_pose* poses, const mabd_rigid_twist* u,
                                 mabd_rigid_stability* s) {
    const mabd_model_point* points = points_of(m, own);
    const mabd_rigid_spring now = mabd_rigid_spring_at(m, own, poses, u);
    mabd_real C = 0;
    for (int32_t k = 0; k < own->count; k++) {
        if (!is_first(m, own, k)) continue;
        C += mabd_rigid_stability_compliance(class_of(m, points[k].body),
                                             gradient_of(m, own, poses, points[k].body));
    }
    const mabd_real damper = now.t.by_rate * C;
    const mabd_real across = add_tension(m, own, poses, now.t.T, s);
    for (int32_t k = 0; k < own->count; k++) {
        if (!is_first(m, own, k)) continue;
        mabd_rigid_stability_add_spring(&s[points[k].body], now.t.by_length, C);
        s[points[k].body].spring += damper * damper + across;
    }
}

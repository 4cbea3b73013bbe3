// SPDX-License-Identifier: Apache-2.0
// Bodies in a substep (forces.c), 8 in lanes: velocities without impulses at its start, the motion
// by the velocities with impulses, velocities at its end.
//
// A pack whose bodies all have three equal moments and no torque needs no equation of Euler: they
// keep their angular velocities, and turn by them about axes of the world. Their poses are not read
// between motion and end, so they have them at once.

#include "formulation/impulse/impulse_bodies.h"

#include "formulation/impulse/impulse_spin.h"
#include "formulation/impulse/impulse_sweep.h"
#include "math/frame_exp.h"
#include "math/lanes.h"

#define LOAD(columns, field, to)                                                                   \
    mabd_lanes_load_at_once(columns, (const mabd_real*)job->field, row, to)
#define STORE(columns, field, from)                                                                \
    mabd_lanes_store(columns, from, row, MABD_LANES, (mabd_real*)job->field)

// Numbers of 8 bodies.
typedef struct body_lanes {
    mabd_lanes line[8], pose[12], made[8], load[6], spin[9], q[4], inertia[6];
    mabd_lanes shift[3], c[3];
} body_lanes;

static bool turns_freely(const mabd_impulse_bodies* job, int32_t pack, const body_lanes* u) {
    bool free = job->round[pack];
    for (int k = 3; k < 6 && free; k++) {
        for (int l = 0; l < MABD_LANES; l++) free &= u->load[k].at[l] == 0;
    }
    return free;
}

// Numbers of a row with three columns.
static void store3_rows(const mabd_lanes* from, const int32_t* row, mabd_vec3* to) {
    for (int l = 0; l < MABD_LANES; l++) to[row[l]] = mabd_lane_v3(from, l);
}
static void load3_rows(const mabd_vec3* from, const int32_t* row, mabd_lanes* to) {
    for (int l = 0; l < MABD_LANES; l++) mabd_lane_put_v3(from[row[l]], to, l);
}

// ---- start -------------------------------------------------------------------------------------

// made: m, drag, I1 I2 I3
static void push_centres(mabd_real h, mabd_vec3 wind, body_lanes* MABD_RESTRICT u) {
    MABD_EACH_LANE(l) {
        const mabd_real mass = u->made[0].at[l], drag = u->made[1].at[l] / mass * h;
        const mabd_vec3 v =
            mabd_v3_axpy(h / mass, mabd_lane_v3(u->load, l), mabd_lane_v3(u->line, l));
        mabd_lane_put_v3(mabd_v3_scale(1 / (1 + drag), mabd_v3_axpy(drag, wind, v)), u->line, l);
    }
}

static void start_turns(mabd_real h, body_lanes* MABD_RESTRICT u) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 R = mabd_lane_m3(u->pose, l);
        const mabd_vec3 I = mabd_lane_v3(u->made + 2, l);
        const mabd_vec3 w0 = mabd_m3_tmul(R, mabd_lane_v3(u->line + 3, l));
        const mabd_impulse_spin s = mabd_impulse_free_spin(I, w0, mabd_lane_v3(u->load + 3, l), h);
        mabd_sym3 over;
        over.xx = 1 / I.x, over.yy = 1 / I.y, over.zz = 1 / I.z;
        over.xy = over.xz = over.yz = 0;
        mabd_lane_put_s3(mabd_sym3_rotate(R, over), u->inertia, l);
        mabd_lane_put_v3(mabd_m3_mul(R, s.end), u->line + 3, l);
        mabd_lane_put_v3(mabd_m3_mul(R, mabd_v3_sub(s.mean, s.end)), u->shift, l);
        mabd_lane_put_v3(s.start, u->spin, l);
        mabd_lane_put_v3(s.end, u->spin + 3, l), mabd_lane_put_v3(s.mean, u->spin + 6, l);
    }
}

static void start_round(body_lanes* MABD_RESTRICT u) {
    MABD_EACH_LANE(l) {
        const mabd_real over = 1 / u->made[2].at[l];
        u->inertia[0].at[l] = u->inertia[1].at[l] = u->inertia[2].at[l] = over;
        u->inertia[3].at[l] = u->inertia[4].at[l] = u->inertia[5].at[l] = 0;
        u->shift[0].at[l] = u->shift[1].at[l] = u->shift[2].at[l] = 0;
    }
}

static void start(const mabd_impulse_bodies* job, int32_t pack) {
    const int32_t* row = job->moving + MABD_LANES * pack;
    body_lanes u;
    LOAD(8, lines, u.line), LOAD(8, made, u.made), LOAD(6, load, u.load);
    push_centres(job->h, job->wind, &u);
    if (job->steady && job->round[pack]) {
        STORE(8, lines, u.line);
        return;
    }
    if (turns_freely(job, pack, &u)) {
        start_round(&u);
    } else {
        LOAD(12, poses, u.pose);
        start_turns(job->h, &u);
        STORE(9, spin, u.spin);
    }
    STORE(8, lines, u.line), STORE(6, inertia, u.inertia);
    store3_rows(u.shift, row, job->shift);
}

// ---- motion ------------------------------------------------------------------------------------

// theta: h R'(w + g), in `load`
static void move_bodies(mabd_real h, body_lanes* MABD_RESTRICT u, mabd_lanes* MABD_RESTRICT far) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 w = mabd_v3_add(mabd_lane_v3(u->line + 3, l), mabd_lane_v3(u->shift, l));
        const mabd_vec3 theta = mabd_v3_scale(h, mabd_m3_tmul(mabd_lane_m3(u->pose, l), w));
        const mabd_quat last = mabd_q(u->q[0].at[l], u->q[1].at[l], u->q[2].at[l], u->q[3].at[l]);
        const mabd_quat q = mabd_q_normalize(mabd_q_product(last, mabd_q_exp_small(theta)));
        const mabd_vec3 c = mabd_v3_axpy(h, mabd_lane_v3(u->line, l), mabd_lane_v3(u->pose + 9, l));
        far->at[l] = mabd_v3_dot(theta, theta);
        mabd_lane_put_v3(theta, u->load, l);
        u->spin[0].at[l] = q.w, u->spin[1].at[l] = q.x;
        u->spin[2].at[l] = q.y, u->spin[3].at[l] = q.z;
        mabd_lane_put_v3(c, u->c, l);
    }
}

static void set_rotations(body_lanes* MABD_RESTRICT u) {
    MABD_EACH_LANE(l) {
        const mabd_quat q = mabd_q(u->q[0].at[l], u->q[1].at[l], u->q[2].at[l], u->q[3].at[l]);
        mabd_lane_put_m3(mabd_q_matrix(q), u->pose, l);
    }
}

// q <- exp(h w) q, c <- c + h v
static void move_round_bodies(mabd_real h, body_lanes* MABD_RESTRICT u,
                              mabd_lanes* MABD_RESTRICT far) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 theta = mabd_v3_scale(h, mabd_lane_v3(u->line + 3, l));
        const mabd_quat last = mabd_q(u->q[0].at[l], u->q[1].at[l], u->q[2].at[l], u->q[3].at[l]);
        const mabd_quat q = mabd_q_normalize(mabd_q_product(mabd_q_exp_small(theta), last));
        const mabd_vec3 c = mabd_v3_axpy(h, mabd_lane_v3(u->line, l), mabd_lane_v3(u->pose + 9, l));
        far->at[l] = mabd_v3_dot(theta, theta);
        mabd_lane_put_v3(theta, u->load, l);
        u->q[0].at[l] = q.w, u->q[1].at[l] = q.x, u->q[2].at[l] = q.y, u->q[3].at[l] = q.z;
        mabd_lane_put_v3(c, u->pose + 9, l);
    }
}

static void move_round(const mabd_impulse_bodies* job, int32_t pack) {
    const int32_t* row = job->moving + MABD_LANES * pack;
    body_lanes u;
    mabd_lanes far;
    LOAD(8, lines, u.line), LOAD(4, q, u.q);
    load3_rows(job->c, row, u.pose + 9);
    move_round_bodies(job->h, &u, &far);
    for (int l = 0; l < MABD_LANES; l++) {
        if (far.at[l] <= 1) continue; // not a number counts as far
        const mabd_quat q =
            mabd_q_normalize(mabd_q_product(mabd_q_exp(mabd_lane_v3(u.load, l)), job->q[row[l]]));
        u.q[0].at[l] = q.w, u.q[1].at[l] = q.x, u.q[2].at[l] = q.y, u.q[3].at[l] = q.z;
    }
    set_rotations(&u);
    STORE(4, q, u.q);
    store3_rows(u.pose + 9, row, job->c);
    STORE(12, poses, u.pose);
}

static void move(const mabd_impulse_bodies* job, int32_t pack) {
    const int32_t* row = job->moving + MABD_LANES * pack;
    body_lanes u;
    mabd_lanes far;
    if (job->steady && job->round[pack]) {
        move_round(job, pack);
        return;
    }
    LOAD(8, lines, u.line), LOAD(12, poses, u.pose), LOAD(4, q, u.q);
    load3_rows(job->shift, row, u.shift);
    move_bodies(job->h, &u, &far);
    for (int l = 0; l < MABD_LANES; l++) {
        if (far.at[l] <= 1) continue; // not a number counts as far
        const mabd_quat q =
            mabd_q_normalize(mabd_q_product(job->q[row[l]], mabd_q_exp(mabd_lane_v3(u.load, l))));
        u.spin[0].at[l] = q.w, u.spin[1].at[l] = q.x, u.spin[2].at[l] = q.y, u.spin[3].at[l] = q.z;
    }
    STORE(4, q, u.spin);
    store3_rows(u.c, row, job->c);
}

// ---- end ---------------------------------------------------------------------------------------

static void turn_velocities(mabd_real h, body_lanes* MABD_RESTRICT u) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 now = mabd_m3_tmul(mabd_lane_m3(u->pose, l), mabd_lane_v3(u->line + 3, l));
        const mabd_vec3 start = mabd_lane_v3(u->spin, l), end = mabd_lane_v3(u->spin + 3, l);
        const mabd_vec3 w0 = mabd_v3_add(start, mabd_v3_sub(now, end));
        const mabd_impulse_spin s = mabd_impulse_free_spin(mabd_lane_v3(u->made + 2, l), w0,
                                                           mabd_lane_v3(u->load + 3, l), h);
        const mabd_quat q = mabd_q(u->q[0].at[l], u->q[1].at[l], u->q[2].at[l], u->q[3].at[l]);
        mabd_lane_put_v3(mabd_q_rotate(q, s.end), u->line + 3, l);
    }
}

static void turn(const mabd_impulse_bodies* job, int32_t pack) {
    const int32_t* row = job->moving + MABD_LANES * pack;
    body_lanes u;
    if (job->steady && job->round[pack]) return;
    LOAD(6, load, u.load);
    if (turns_freely(job, pack, &u)) return;
    LOAD(8, lines, u.line), LOAD(8, made, u.made), LOAD(12, poses, u.pose), LOAD(9, spin, u.spin);
    LOAD(4, q, u.q);
    turn_velocities(job->h, &u);
    STORE(8, lines, u.line);
}

// ---- poses -------------------------------------------------------------------------------------

static void pose(const mabd_impulse_bodies* job, int32_t pack) {
    const int32_t* row = job->moving + MABD_LANES * pack;
    body_lanes u;
    if (job->steady && job->round[pack]) return;
    LOAD(4, q, u.q);
    load3_rows(job->c, row, u.pose + 9);
    set_rotations(&u);
    STORE(12, poses, u.pose);
}

void MABD_IMPULSE_ISA(bodies)(const mabd_impulse_bodies* job, mabd_impulse_body_task task,
                              int32_t pack) {
    switch (task) {
    case MABD_IMPULSE_BODY_START:
        start(job, pack);
        break;
    case MABD_IMPULSE_BODY_MOVE:
        move(job, pack);
        break;
    case MABD_IMPULSE_BODY_TURN:
        turn(job, pack);
        break;
    default:
        pose(job, pack);
        break;
    }
}

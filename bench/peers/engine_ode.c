// SPDX-License-Identifier: Apache-2.0
// ODE as a peer: ball joints between rigid bodies, velocities by Lagrange multipliers,
// semi-implicit Euler. As its manual recommends: dWorldQuickStep for large systems (successive
// over-relaxation, here 100 sweeps instead of 20), dWorldStep where accuracy matters (one dense
// factorization: m^3 time, m^2 memory). The manual calls an ERP of 0.1 to 0.8 typical: its default
// 0.2 and 0.8 are tried; CFM has its default.
#include "bench/peers/peer_harness.h"

#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#define STEP_JOINTS_MAX 1000 // for dWorldStep: beyond, one step takes many seconds

enum { VARIANT_QUICK, VARIANT_QUICK_STIFF, VARIANT_STEP };

static const peer_variant VARIANTS[] = {
    [VARIANT_QUICK] = {"quickstep", "dWorldQuickStep, 100 iterations, ERP 0.2, CFM 1e-10, double"},
    [VARIANT_QUICK_STIFF] = {"quickstep-erp",
                             "dWorldQuickStep, 100 iterations, ERP 0.8, CFM 1e-10, double"},
    [VARIANT_STEP] = {"step", "dWorldStep (direct), ERP 0.8, CFM 1e-10, double"},
};

typedef struct world {
    dWorldID id;
    bool direct;
    double h;
    int32_t count;
    dBodyID* bodies; // (count)
} world;

static void destroy(void* memory) {
    world* w = memory;
    if (w->id != NULL) dWorldDestroy(w->id); // with its bodies and joints
    free(w->bodies);
    free(w);
    dCloseODE();
}

static void add_body(world* w, int32_t i, const peer_body* body) {
    const peer_state* s = &body->start;
    dMass mass;
    dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia[0], body->inertia[1],
                       body->inertia[2], 0, 0, 0);
    dBodyID id = dBodyCreate(w->id);
    dBodySetMass(id, &mass);
    dBodySetPosition(id, s->position[0], s->position[1], s->position[2]);
    dBodySetQuaternion(id, s->quaternion);
    dBodySetLinearVel(id, s->velocity[0], s->velocity[1], s->velocity[2]);
    dBodySetAngularVel(id, s->angular[0], s->angular[1], s->angular[2]);
    w->bodies[i] = id;
}

static void add_joint(world* w, const peer_joint* joint) {
    dJointID id = dJointCreateBall(w->id, NULL);
    dVector3 x = {joint->anchor_a[0], joint->anchor_a[1], joint->anchor_a[2]};
    if (joint->a != PEER_WORLD) {
        dBodyGetRelPointPos(w->bodies[joint->a], x[0], x[1], x[2], x);
    }
    dJointAttach(id, joint->b != PEER_WORLD ? w->bodies[joint->b] : NULL,
                 joint->a != PEER_WORLD ? w->bodies[joint->a] : NULL);
    dJointSetBallAnchor(id, x[0], x[1], x[2]);
}

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)context;
    if (peer_scene_has_hinges(scene)) {
        snprintf(message, size, PEER_SKIP "ball joints only");
        return NULL;
    }
    if (variant == VARIANT_STEP && scene->joint_count > STEP_JOINTS_MAX) {
        snprintf(message, size, PEER_SKIP "more than %d joints", STEP_JOINTS_MAX);
        return NULL;
    }
    world* w = calloc(1, sizeof(*w));
    dBodyID* bodies = calloc((size_t)scene->body_count, sizeof(*bodies));
    if (w == NULL || bodies == NULL) {
        snprintf(message, size, "out of memory");
        free(w);
        free(bodies);
        return NULL;
    }
    dInitODE2(0);
    dRandSetSeed(0);
    *w = (world){.id = dWorldCreate(),
                 .direct = variant == VARIANT_STEP,
                 .h = scene->h,
                 .count = scene->body_count,
                 .bodies = bodies};
    dWorldSetGravity(w->id, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetERP(w->id, variant == VARIANT_QUICK ? 0.2 : 0.8);
    dWorldSetCFM(w->id, 1e-10);
    dWorldSetQuickStepNumIterations(w->id, 100);
    for (int32_t i = 0; i < scene->body_count; i++) add_body(w, i, &scene->bodies[i]);
    for (int32_t i = 0; i < scene->joint_count; i++) add_joint(w, &scene->joints[i]);
    return w;
}

static const char* step(void* memory) {
    const world* w = memory;
    const int done = w->direct ? dWorldStep(w->id, w->h) : dWorldQuickStep(w->id, w->h);
    return done ? NULL : "out of memory";
}

static void get(const void* memory, peer_state* states) {
    const world* w = memory;
    for (int32_t i = 0; i < w->count; i++) {
        memcpy(states[i].position, dBodyGetPosition(w->bodies[i]), sizeof(states[i].position));
        memcpy(states[i].quaternion, dBodyGetQuaternion(w->bodies[i]),
               sizeof(states[i].quaternion));
        memcpy(states[i].velocity, dBodyGetLinearVel(w->bodies[i]), sizeof(states[i].velocity));
        memcpy(states[i].angular, dBodyGetAngularVel(w->bodies[i]), sizeof(states[i].angular));
    }
}

int main(int argc, char** argv) {
    const peer_engine engine = {.name = "ode",
                                .version = PEER_VERSION,
                                .variant_count = sizeof(VARIANTS) / sizeof(VARIANTS[0]),
                                .variants = VARIANTS,
                                .create = create,
                                .step = step,
                                .get = get,
                                .destroy = destroy};
    return peer_program(&engine, argc, argv);
}

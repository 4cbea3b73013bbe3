// SPDX-License-Identifier: Apache-2.0
// ODE as a peer: ball joints and hinges between rigid bodies, velocities by Lagrange multipliers,
// semi-implicit Euler. As its manual recommends: dWorldQuickStep for large systems (successive
// over-relaxation, here 100 sweeps instead of 20), dWorldStep where accuracy matters (one dense
// factorization: m^3 time, m^2 memory). The manual calls an ERP of 0.1 to 0.8 typical: its default
// 0.2 and 0.8 are tried, and QuickStep's default of 20 sweeps; CFM has its default. Friction is
// that of dContactApprox1, a pyramid in directions that ODE chooses.
#include "bench/peers/peer_harness.h"

#include "math/quat.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#define STEP_JOINTS_MAX 1000 // for dWorldStep: beyond, one step takes many seconds
#define POINTS_MAX      16   // contact points of two shapes

enum { VARIANT_QUICK_20, VARIANT_QUICK, VARIANT_QUICK_STIFF, VARIANT_STEP };

static const peer_variant VARIANTS[] = {
    [VARIANT_QUICK_20] = {"quickstep-20",
                          "dWorldQuickStep, 20 iterations, ERP 0.2, CFM 1e-10, double"},
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
    const peer_scene* scene;
    dSpaceID space;       // null = nothing touches
    dJointGroupID points; // joints of the contacts of a step
} world;

static void destroy(void* memory) {
    world* w = memory;
    if (w->points != NULL) dJointGroupDestroy(w->points);
    if (w->space != NULL) dSpaceDestroy(w->space); // with its geoms
    if (w->id != NULL) dWorldDestroy(w->id);       // with its bodies and joints
    free(w->bodies);
    free(w);
    dCloseODE();
}

static void add_body(world* w, int32_t i, const peer_body* body) {
    const peer_state* s = &body->start;
    dMass mass;
    dBodyID id = dBodyCreate(w->id);
    if (peer_body_is_fixed(body)) {
        dBodySetKinematic(id);
    } else {
        dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia[0], body->inertia[1],
                           body->inertia[2], 0, 0, 0);
        dBodySetMass(id, &mass);
    }
    dBodySetPosition(id, s->position[0], s->position[1], s->position[2]);
    dBodySetQuaternion(id, s->quaternion);
    dBodySetLinearVel(id, s->velocity[0], s->velocity[1], s->velocity[2]);
    dBodySetAngularVel(id, s->angular[0], s->angular[1], s->angular[2]);
    w->bodies[i] = id;
}

static void add_joint(world* w, const peer_joint* joint) {
    const bool hinge = peer_joint_is_hinge(joint);
    dJointID id = hinge ? dJointCreateHinge(w->id, NULL) : dJointCreateBall(w->id, NULL);
    dVector3 x = {joint->anchor_a[0], joint->anchor_a[1], joint->anchor_a[2]};
    if (joint->a != PEER_WORLD) {
        dBodyGetRelPointPos(w->bodies[joint->a], x[0], x[1], x[2], x);
    }
    dJointAttach(id, joint->b != PEER_WORLD ? w->bodies[joint->b] : NULL,
                 joint->a != PEER_WORLD ? w->bodies[joint->a] : NULL);
    if (!hinge) {
        dJointSetBallAnchor(id, x[0], x[1], x[2]);
        return;
    }
    dVector3 u = {joint->axis_a[0], joint->axis_a[1], joint->axis_a[2]};
    if (joint->a != PEER_WORLD) dBodyVectorToWorld(w->bodies[joint->a], u[0], u[1], u[2], u);
    dJointSetHingeAnchor(id, x[0], x[1], x[2]);
    dJointSetHingeAxis(id, u[0], u[1], u[2]);
}

// ---- contacts ----------------------------------------------------------------------------------

static dGeomID make_geom(dSpaceID space, const peer_shape* shape) {
    const double* s = shape->size;
    switch (shape->kind) {
    case PEER_SHAPE_BOX:
        return dCreateBox(space, s[0], s[1], s[2]);
    case PEER_SHAPE_SPHERE:
        return dCreateSphere(space, s[0]);
    case PEER_SHAPE_CAPSULE:
        return dCreateCapsule(space, s[0], s[1]);
    case PEER_SHAPE_CYLINDER:
        return dCreateCylinder(space, s[0], s[1]);
    default:
        return NULL;
    }
}

// A plane of ODE has no frame: it is given in the world, n.x = d.
static dGeomID make_plane(const world* w, const peer_shape* shape) {
    const peer_state* s = &w->scene->bodies[shape->body].start;
    const mabd_quat q = mabd_q_load(s->quaternion);
    const mabd_quat turn = mabd_q_product(q, mabd_q_load(shape->quaternion));
    const mabd_vec3 normal = mabd_q_rotate(turn, mabd_v3(0, 0, 1));
    const mabd_vec3 point =
        mabd_v3_add(mabd_v3_load(s->position), mabd_q_rotate(q, mabd_v3_load(shape->position)));
    return dCreatePlane(w->space, normal.x, normal.y, normal.z, mabd_v3_dot(normal, point));
}

static void add_shape(const world* w, const peer_shape* shape) {
    const bool plane = shape->kind == PEER_SHAPE_PLANE;
    dGeomID geom = plane ? make_plane(w, shape) : make_geom(w->space, shape);
    dGeomSetData(geom, (void*)shape);
    if (plane) return;
    dGeomSetBody(geom, w->bodies[shape->body]);
    dGeomSetOffsetPosition(geom, shape->position[0], shape->position[1], shape->position[2]);
    dGeomSetOffsetQuaternion(geom, shape->quaternion);
}

static void on_near(void* context, dGeomID a, dGeomID b) {
    const world* w = context;
    const peer_shape *first = dGeomGetData(a), *second = dGeomGetData(b);
    dBodyID body_a = w->bodies[first->body], body_b = w->bodies[second->body];
    const bool fixed_a = dBodyIsKinematic(body_a) != 0, fixed_b = dBodyIsKinematic(body_b) != 0;
    dContact contacts[POINTS_MAX];
    if (first->body == second->body || (fixed_a && fixed_b)) return;
    if (dAreConnectedExcluding(body_a, body_b, dJointTypeContact)) return;
    const int count = dCollide(a, b, POINTS_MAX, &contacts[0].geom, sizeof(contacts[0]));
    for (int i = 0; i < count; i++) {
        contacts[i].surface = (dSurfaceParameters){.mode = dContactApprox1,
                                                   .mu = sqrt(first->friction * second->friction)};
        dJointID joint = dJointCreateContact(w->id, w->points, &contacts[i]);
        dJointAttach(joint, fixed_a ? NULL : body_a, fixed_b ? NULL : body_b);
    }
}

// ---- the engine --------------------------------------------------------------------------------

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)context;
    if (peer_scene_has_bowl(scene)) {
        snprintf(message, size, PEER_SKIP "bowls");
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
                 .bodies = bodies,
                 .scene = scene};
    dWorldSetGravity(w->id, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetERP(w->id, variant == VARIANT_QUICK_20 || variant == VARIANT_QUICK ? 0.2 : 0.8);
    dWorldSetCFM(w->id, 1e-10);
    dWorldSetQuickStepNumIterations(w->id, variant == VARIANT_QUICK_20 ? 20 : 100);
    for (int32_t i = 0; i < scene->body_count; i++) add_body(w, i, &scene->bodies[i]);
    for (int32_t i = 0; i < scene->joint_count; i++) add_joint(w, &scene->joints[i]);
    if (scene->shape_count > 0) w->space = dHashSpaceCreate(NULL);
    w->points = dJointGroupCreate(0);
    for (int32_t i = 0; i < scene->shape_count; i++) add_shape(w, &scene->shapes[i]);
    return w;
}

static const char* step(void* memory) {
    world* w = memory;
    if (w->space != NULL) dSpaceCollide(w->space, w, on_near);
    const int done = w->direct ? dWorldStep(w->id, w->h) : dWorldQuickStep(w->id, w->h);
    dJointGroupEmpty(w->points);
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

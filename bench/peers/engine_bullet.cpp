// SPDX-License-Identifier: Apache-2.0
// Bullet as a peer, with its three kinds of joint.
//
//   impulse     btPoint2PointConstraint, btHingeConstraint, sequential impulses: its main solver,
//               with its default of 10 sweeps and with 100
//   dantzig     the same joints by its direct solver (btMLCPSolver, Dantzig): for small systems
//   multibody   btMultiBody: Featherstone's articulated body algorithm, reduced coordinates, chains
//               only here
//
// Damping and sleeping are off; other settings are defaults. Shapes have their default margins;
// Bullet multiplies the friction of two bodies, so each has the root of its own. An ERP of 0.2 is
// the default of Bullet; 0.8 is tried because the manual of ODE, the origin of the name, has it as
// the upper end.
#include "bench/peers/peer_harness.h"

#include "math/quat.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

namespace {

constexpr int32_t DANTZIG_JOINTS_MAX = 300; // above this a step takes seconds

enum {
    VARIANT_IMPULSE_10,
    VARIANT_IMPULSE,
    VARIANT_IMPULSE_ERP,
    VARIANT_DANTZIG,
    VARIANT_MULTIBODY,
    VARIANT_MULTIBODY_RK4
};

const peer_variant VARIANTS[] = {
    {"impulse-10", "sequential impulses, 10 iterations, ERP 0.2" PEER_PRECISION},
    {"impulse", "sequential impulses, 100 iterations, ERP 0.2" PEER_PRECISION},
    {"impulse-erp", "sequential impulses, 100 iterations, ERP 0.8" PEER_PRECISION},
    {"dantzig", "btMLCPSolver with btDantzigSolver (direct), ERP 0.8" PEER_PRECISION},
    {"multibody", "btMultiBody (Featherstone), semi-implicit Euler" PEER_PRECISION},
    {"multibody-rk4", "btMultiBody (Featherstone), useRK4Integration" PEER_PRECISION},
};

btVector3 vector(const double* x) {
    return {x[0], x[1], x[2]};
}

btQuaternion quaternion(const double* q) {
    return {q[1], q[2], q[3], q[0]};
}

void store(const btVector3& x, double* to) {
    for (int k = 0; k < 3; k++) to[k] = x[k];
}

void store(const btQuaternion& q, double* to) {
    to[0] = q.w(), to[1] = q.x(), to[2] = q.y(), to[3] = q.z();
}

// ---- shapes ------------------------------------------------------------------------------------

std::unique_ptr<btCollisionShape> make_shape(const peer_shape& def) {
    const double* s = def.size;
    switch (def.kind) {
    case PEER_SHAPE_BOX:
        return std::make_unique<btBoxShape>(vector(s) / 2);
    case PEER_SHAPE_SPHERE:
        return std::make_unique<btSphereShape>(s[0]);
    case PEER_SHAPE_CAPSULE:
        return std::make_unique<btCapsuleShapeZ>(s[0], s[1]);
    case PEER_SHAPE_CYLINDER:
        return std::make_unique<btCylinderShapeZ>(btVector3(s[0], s[0], s[1] / 2));
    default: {
        const btVector3 normal = quatRotate(quaternion(def.quaternion), btVector3(0, 0, 1));
        return std::make_unique<btStaticPlaneShape>(normal, normal.dot(vector(def.position)));
    }
    }
}

// The shapes of one body: one shape that lies in its frame as it is, or a compound.
class BodyShape {
  public:
    BodyShape(const peer_scene& scene, int32_t body) {
        std::vector<const peer_shape*> defs;
        for (int32_t i = 0; i < scene.shape_count; i++) {
            if (scene.shapes[i].body == body) defs.push_back(&scene.shapes[i]);
        }
        for (const peer_shape* def : defs) {
            friction_ = def->friction;
            parts_.push_back(make_shape(*def));
            const btTransform pose(quaternion(def->quaternion), vector(def->position));
            const bool plain = def->kind == PEER_SHAPE_PLANE || pose == btTransform::getIdentity();
            if (defs.size() == 1 && plain) return;
            if (!compound_) compound_ = std::make_unique<btCompoundShape>();
            compound_->addChildShape(pose, parts_.back().get());
        }
    }
    btCollisionShape* get() {
        if (compound_) return compound_.get();
        return parts_.empty() ? &empty_ : parts_.front().get();
    }
    bool empty() const {
        return parts_.empty();
    }
    double friction() const {
        return friction_;
    }

  private:
    double friction_ = 0;
    btEmptyShape empty_;
    std::vector<std::unique_ptr<btCollisionShape>> parts_;
    std::unique_ptr<btCompoundShape> compound_;
};

// ---- what both kinds of world share ------------------------------------------------------------

class World {
  public:
    virtual ~World() = default;
    virtual void get(peer_state* states) const = 0;
    void step() {
        dynamics().stepSimulation(h_, 0); // 0: one step of exactly h
    }

  protected:
    explicit World(const peer_scene& scene) : h_(scene.h), broad_(new btDbvtBroadphase) {}
    virtual btDynamicsWorld& dynamics() const = 0;

    double h_;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    std::unique_ptr<btBroadphaseInterface> broad_;
};

// ---- bodies and constraints --------------------------------------------------------------------

class ImpulseWorld final : public World {
  public:
    ImpulseWorld(const peer_scene& scene, bool dantzig, int sweeps, double erp) : World(scene) {
        if (dantzig) {
            solver_ = std::make_unique<btMLCPSolver>(&dantzig_);
        } else {
            solver_ = std::make_unique<btSequentialImpulseConstraintSolver>();
        }
        world_ = std::make_unique<btDiscreteDynamicsWorld>(&dispatcher_, broad_.get(),
                                                           solver_.get(), &configuration_);
        world_->setGravity(vector(scene.gravity));
        world_->getSolverInfo().m_numIterations = sweeps;
        world_->getSolverInfo().m_erp = erp;
        if (dantzig) world_->getSolverInfo().m_minimumSolverBatchSize = 1; // as its demo does
        for (int32_t i = 0; i < scene.body_count; i++) add(scene, i);
        for (int32_t i = 0; i < scene.joint_count; i++) add(scene.joints[i]);
    }

    ~ImpulseWorld() override {
        for (auto& joint : joints_) world_->removeConstraint(joint.get());
        for (auto& body : bodies_) world_->removeRigidBody(body.get());
    }

    void get(peer_state* states) const override {
        for (size_t i = 0; i < bodies_.size(); i++) {
            const btRigidBody& body = *bodies_[i];
            store(body.getWorldTransform().getOrigin(), states[i].position);
            store(body.getOrientation(), states[i].quaternion);
            store(body.getLinearVelocity(), states[i].velocity);
            store(body.getAngularVelocity(), states[i].angular);
        }
    }

  protected:
    btDynamicsWorld& dynamics() const override {
        return *world_;
    }

  private:
    void add(const peer_scene& scene, int32_t i) {
        const peer_body& def = scene.bodies[i];
        shapes_.push_back(std::make_unique<BodyShape>(scene, i));
        BodyShape& shape = *shapes_.back();
        btRigidBody::btRigidBodyConstructionInfo info(def.mass, nullptr, shape.get(),
                                                      vector(def.inertia));
        info.m_startWorldTransform =
            btTransform(quaternion(def.start.quaternion), vector(def.start.position));
        bodies_.push_back(std::make_unique<btRigidBody>(info));
        btRigidBody& body = *bodies_.back();
        body.setLinearVelocity(vector(def.start.velocity));
        body.setAngularVelocity(vector(def.start.angular));
        body.setActivationState(DISABLE_DEACTIVATION);
        body.setFriction(std::sqrt(shape.friction()));
        if (shape.empty()) {
            world_->addRigidBody(&body, 0, 0); // touches nothing
        } else {
            world_->addRigidBody(&body);
        }
    }

    // A constraint to the world has one body; Bullet takes the point of the world from its start
    // pose.
    void add(const peer_joint& def) {
        const bool grounded = def.a == PEER_WORLD || def.b == PEER_WORLD;
        const int32_t first = def.a != PEER_WORLD ? def.a : def.b;
        const btVector3 anchor = vector(def.a != PEER_WORLD ? def.anchor_a : def.anchor_b);
        const btVector3 axis = vector(def.a != PEER_WORLD ? def.axis_a : def.axis_b);
        if (peer_joint_is_hinge(&def) && grounded) {
            joints_.push_back(std::make_unique<btHingeConstraint>(*bodies_[first], anchor, axis));
        } else if (peer_joint_is_hinge(&def)) {
            joints_.push_back(std::make_unique<btHingeConstraint>(*bodies_[first], *bodies_[def.b],
                                                                  anchor, vector(def.anchor_b),
                                                                  axis, vector(def.axis_b)));
        } else if (grounded) {
            joints_.push_back(std::make_unique<btPoint2PointConstraint>(*bodies_[first], anchor));
        } else {
            joints_.push_back(std::make_unique<btPoint2PointConstraint>(
                *bodies_[first], *bodies_[def.b], anchor, vector(def.anchor_b)));
        }
        world_->addConstraint(joints_.back().get(), true);
    }

    std::vector<std::unique_ptr<BodyShape>> shapes_; // longer alive than the bodies
    btDantzigSolver dantzig_;
    std::unique_ptr<btConstraintSolver> solver_;
    std::unique_ptr<btDiscreteDynamicsWorld> world_;
    std::vector<std::unique_ptr<btRigidBody>> bodies_;
    std::vector<std::unique_ptr<btTypedConstraint>> joints_;
};

// ---- reduced coordinates -----------------------------------------------------------------------

class MultiBodyWorld final : public World {
  public:
    MultiBodyWorld(const peer_scene& scene, bool rk4) : World(scene) {
        world_ = std::make_unique<btMultiBodyDynamicsWorld>(&dispatcher_, broad_.get(), &solver_,
                                                            &configuration_);
        world_->setGravity(vector(scene.gravity));
        world_->getSolverInfo().m_numIterations = 100;
        // fixed base of no mass, never asleep
        body_ = std::make_unique<btMultiBody>(scene.body_count, 0, btVector3(0, 0, 0), true, false);
        for (int32_t i = 0; i < scene.body_count; i++) add(scene, i);
        body_->finalizeMultiDof();
        body_->setLinearDamping(0);
        body_->setAngularDamping(0);
        body_->setMaxCoordinateVelocity(1e9);
        body_->useRK4Integration(rk4);
        for (int32_t i = 0; i < scene.body_count; i++) set_velocity(scene, i);
        world_->addMultiBody(body_.get());
    }

    ~MultiBodyWorld() override {
        world_->removeMultiBody(body_.get());
    }

    void get(peer_state* states) const override {
        const int count = body_->getNumLinks();
        std::vector<btVector3> turn(count + 1), speed(count + 1); // in the frames of the links
        btAlignedObjectArray<btQuaternion> to_local;
        btAlignedObjectArray<btVector3> origin;
        body_->forwardKinematics(to_local, origin);
        body_->compTreeLinkVelocities(turn.data(), speed.data());
        for (int i = 0; i < count; i++) {
            const btQuaternion q = to_local[i + 1].inverse();
            store(origin[i + 1], states[i].position);
            store(q, states[i].quaternion);
            store(quatRotate(q, speed[i + 1]), states[i].velocity);
            store(quatRotate(q, turn[i + 1]), states[i].angular);
        }
    }

  protected:
    btDynamicsWorld& dynamics() const override {
        return *world_;
    }

  private:
    // Bullet expects the rotation from the frame of the parent to that of the link, and both
    // offsets to the joint.
    void add(const peer_scene& scene, int32_t i) {
        const int32_t parent = i - 1;
        const peer_joint& joint = scene.joints[i];
        const mabd_quat q = mabd_q_load(scene.bodies[i].start.quaternion);
        const mabd_quat p = parent == PEER_WORLD
                                ? mabd_q(1, 0, 0, 0)
                                : mabd_q_load(scene.bodies[parent].start.quaternion);
        double from_parent[4];
        mabd_q_store(mabd_q_product(mabd_q_conjugate(q), p), from_parent);
        body_->setupSpherical(i, scene.bodies[i].mass, vector(scene.bodies[i].inertia), parent,
                              quaternion(from_parent), vector(joint.anchor_a),
                              -vector(joint.anchor_b), true);
    }

    void set_velocity(const peer_scene& scene, int32_t i) {
        const int32_t parent = i - 1;
        const peer_state& s = scene.bodies[i].start;
        mabd_vec3 turn = mabd_v3_load(s.angular);
        if (parent != PEER_WORLD) {
            turn = mabd_v3_sub(turn, mabd_v3_load(scene.bodies[parent].start.angular));
        }
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(s.quaternion));
        btScalar rate[3];
        mabd_v3_store(mabd_q_rotate(back, turn), rate);
        body_->setJointVelMultiDof(i, rate);
    }

    btMultiBodyConstraintSolver solver_;
    std::unique_ptr<btMultiBodyDynamicsWorld> world_;
    std::unique_ptr<btMultiBody> body_;
};

// ---- the engine --------------------------------------------------------------------------------

void* create(const void* /*context*/, const peer_scene* scene, int32_t variant, char* message,
             size_t size) {
    if (peer_scene_has_bowl(scene)) {
        snprintf(message, size, PEER_SKIP "bowls");
        return nullptr;
    }
    if (variant == VARIANT_MULTIBODY || variant == VARIANT_MULTIBODY_RK4) {
        if (peer_scene_is_chain(scene) && !peer_scene_has_hinges(scene) &&
            scene->shape_count == 0) {
            return new MultiBodyWorld(*scene, variant == VARIANT_MULTIBODY_RK4);
        }
        snprintf(message, size, PEER_SKIP "not a chain of ball joints");
        return nullptr;
    }
    if (variant == VARIANT_DANTZIG && scene->joint_count > DANTZIG_JOINTS_MAX) {
        snprintf(message, size, PEER_SKIP "more than %d joints", DANTZIG_JOINTS_MAX);
        return nullptr;
    }
    const bool standard = variant == VARIANT_IMPULSE_10 || variant == VARIANT_IMPULSE;
    return new ImpulseWorld(*scene, variant == VARIANT_DANTZIG,
                            variant == VARIANT_IMPULSE_10 ? 10 : 100, standard ? 0.2 : 0.8);
}

const char* step(void* world) {
    static_cast<World*>(world)->step();
    return nullptr;
}

void get(const void* world, peer_state* states) {
    static_cast<const World*>(world)->get(states);
}

void destroy(void* world) {
    delete static_cast<World*>(world);
}

} // namespace

int main(int argc, char** argv) {
    peer_engine engine{};
    engine.name = "bullet";
    engine.version = PEER_VERSION;
    engine.variant_count = sizeof(VARIANTS) / sizeof(VARIANTS[0]);
    engine.variants = VARIANTS;
    engine.create = create;
    engine.step = step;
    engine.get = get;
    engine.destroy = destroy;
    return peer_program(&engine, argc, argv);
}

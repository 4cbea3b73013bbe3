#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of the redmax formulation against Pinocchio, by joint type.

An arm on a hinge carries a body on the joint under test, from body a to b or from b to a, with an
oblique frame. Both swing from the start pose under gravity, with a turn about the hinge. Pinocchio
has each joint as a composite of its primitives, and accelerations by articulated bodies, which are
integrated here by the classical Runge-Kutta method in steps of 0.5 ms. Compared are positions and
rotations of both bodies after 1 s: with rk45 within 1e-8, and with bdf2 at 1 and 0.5 ms, whose
errors must fall by four.

Exit code 77 (skipped) without the modules pinocchio (package `pin`) and h5py.

usage: check_pinocchio.py COMMAND, COMMAND is mabd
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import pinocchio as pin
except ImportError as missing:
    print(f"skipped: {missing}: python3 -m venv build/pinocchio && build/pinocchio/bin/pip install pin h5py")
    sys.exit(77)

TIME, STEP, RATE = 1.0, 5e-4, 1.5
RK45_BOUND = 1e-8  # [m], [rad]
BDF2_STEPS = (0.001, 0.0005)
BDF2_RATIO = (3.5, 4.5)  # of the errors with these: second order
GRAVITY = np.array([1.0, -2.0, -9.81])
PITCH = 0.15

# Primitives of each joint in the order from a to b: translations t, rotations r, a ball b.
JOINTS = {
    "prismatic": ["tx"], "hinge": ["rx"], "rectangular": ["tx", "ty"], "cylindrical": ["tx", "rx"],
    "pin-in-slot": ["tx", "ry"], "universal": ["rx", "ry"], "cartesian": ["tx", "ty", "tz"],
    "planar": ["tx", "ty", "rz"], "ball": ["b"], "slot": ["tx", "b"],
    "free": ["tx", "ty", "tz", "b"], "axis": ["tx", "ty", "tz", "rx"],
    "point-on-plane": ["tx", "ty", "b"], "screw": ["h"],
}
MODELS = {"tx": pin.JointModelPX, "ty": pin.JointModelPY, "tz": pin.JointModelPZ,
          "rx": pin.JointModelRX, "ry": pin.JointModelRY, "rz": pin.JointModelRZ,
          "b": pin.JointModelSpherical, "h": lambda: pin.JointModelHX(PITCH)}

# Start pose: the joints and the centres and rotations of both bodies, in the world.
HINGE = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 0.9), np.array([0.1, -0.2, 0.3]))
JOINT = pin.SE3(pin.rpy.rpyToMatrix(-0.7, 0.5, 0.2), np.array([0.5, 0.1, -0.1]))
BODIES = [
    {"mass": 1.3, "inertia": [0.02, 0.03, 0.045],
     "pose": pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.8, -0.3), np.array([0.35, -0.05, 0.1]))},
    {"mass": 0.8, "inertia": [0.012, 0.02, 0.015],
     "pose": pin.SE3(pin.rpy.rpyToMatrix(-0.4, 0.2, 1.1), np.array([0.7, 0.3, -0.3]))},
]
COMPOSITE = [
    ("hinge", pin.SE3.Identity()),
    ("cylindrical", pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.6, -0.5), np.array([0.2, 0.1, 0.05]))),
    ("universal", pin.SE3(pin.rpy.rpyToMatrix(-0.3, 0.1, 0.7), np.array([0.1, -0.2, 0.1])))]


def quaternion(R):
    """w x y z of a rotation."""
    q = pin.Quaternion(R)
    return [q.w, q.x, q.y, q.z]


def inertia(body, frame):
    """Inertia of a body in a frame."""
    own = frame.inverse() * body["pose"]
    R = own.rotation
    return pin.Inertia(body["mass"], own.translation, R @ np.diag(body["inertia"]) @ R.T)


def joint_model(kind):
    """The composite of a joint type."""
    parts = COMPOSITE if kind == "composite" else [(kind, pin.SE3.Identity())]
    out = pin.JointModelComposite()
    for name, place in parts:
        for number, primitive in enumerate(JOINTS[name]):
            out.addJoint(MODELS[primitive](), place if number == 0 else pin.SE3.Identity())
    return out


def coordinate_rates(primitives, q, v):
    """q' of primitives in a row: of a ball that of its quaternion x y z w."""
    out, at = [], 0
    for number, primitive in enumerate(primitives):
        first = number + 2 * primitives[:number].count("b")
        if primitive != "b":
            out.append(v[first])
            at += 1
            continue
        turn, w, axis = v[first:first + 3], q[at + 3], q[at:at + 3]
        out.extend((w * turn + np.cross(axis, turn)) / 2)
        out.append(-axis @ turn / 2)
        at += 4
    return np.array(out)


def pinocchio_run(kind):
    """Poses of both bodies after TIME."""
    parts = [name for name, _ in COMPOSITE] if kind == "composite" else [kind]
    primitives = ["rx"] + [own for name in parts for own in JOINTS[name]]
    model = pin.Model()
    model.gravity.linear = GRAVITY
    arm = model.addJoint(0, pin.JointModelRX(), HINGE, "hinge")
    model.appendBodyToJoint(arm, inertia(BODIES[0], HINGE), pin.SE3.Identity())
    tip = model.addJoint(arm, joint_model(kind), HINGE.inverse() * JOINT, "joint")
    # the body is attached as it stands, to the frame behind all parts of the joint
    data, q = model.createData(), pin.neutral(model)
    pin.forwardKinematics(model, data, q)
    frames = [data.oMi[arm].copy(), data.oMi[tip].copy()]
    model.appendBodyToJoint(tip, inertia(BODIES[1], frames[1]), pin.SE3.Identity())
    data, v = model.createData(), np.zeros(model.nv)
    v[0] = RATE
    offsets = [frames[i].inverse() * BODIES[i]["pose"] for i in range(2)]

    def slope(q, v):
        return (coordinate_rates(primitives, q, v),
                pin.aba(model, data, q, v, np.zeros(model.nv)).copy())

    h = STEP
    for _ in range(round(TIME / h)):
        q1, v1 = slope(q, v)
        q2, v2 = slope(q + h / 2 * q1, v + h / 2 * v1)
        q3, v3 = slope(q + h / 2 * q2, v + h / 2 * v2)
        q4, v4 = slope(q + h * q3, v + h * v3)
        q = pin.normalize(model, q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4))
        v = v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    pin.forwardKinematics(model, data, q)
    return [data.oMi[arm] * offsets[0], data.oMi[tip] * offsets[1]]


def scene(kind, reversed_joint):
    """The scene for mabd; reversed: the joint goes from the tip to the arm."""
    turn = HINGE.rotation[:, 0] * RATE
    bodies = []
    for name, body in zip(("arm", "tip"), BODIES):
        c = body["pose"].translation
        bodies.append({"name": name, "mass": body["mass"], "inertia": body["inertia"],
                       "position": c.tolist(), "rotation": quaternion(body["pose"].rotation),
                       "velocity": np.cross(turn, c - HINGE.translation).tolist(),
                       "angular_velocity": turn.tolist()})
    joint = {"name": "joint", "type": kind, "a": "arm", "b": "tip",
             "anchor": JOINT.translation.tolist(), "frame": quaternion(JOINT.rotation)}
    if kind == "screw":
        joint["pitch"] = PITCH
    if kind == "composite":
        joint["joints"] = [{"type": name, "anchor": place.translation.tolist(),
                            "frame": quaternion(place.rotation)} for name, place in COMPOSITE]
    hinge = {"name": "hinge", "type": "hinge", "b": "arm", "anchor": HINGE.translation.tolist(),
             "frame": quaternion(HINGE.rotation)}
    if reversed_joint:
        joint["a"], joint["b"] = "tip", "arm"
    return {"gravity": GRAVITY.tolist(), "bodies": bodies, "joints": [hinge, joint]}


def mabd_run(command, text, options, folder):
    """Poses of both bodies after TIME."""
    path, out = os.path.join(folder, "scene.json"), os.path.join(folder, "out.h5")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(text, file)
    subprocess.run([command, "run", path, "--formulation", "redmax", *options, "--time", str(TIME),
                    "--threads", "1", "--quiet", "--every", "10", "--out", out], check=True)
    with h5py.File(out) as file:
        c, q = file["position"][-1], file["quaternion"][-1]
    return [pin.SE3(pin.Quaternion(*q[i]).toRotationMatrix(), c[i]) for i in range(2)]


def distance(a, b):
    """Largest difference of positions [m] and rotations [rad]."""
    most = 0.0
    for x, y in zip(a, b):
        most = max(most, float(np.linalg.norm(x.translation - y.translation)),
                   float(np.linalg.norm(pin.log3(x.rotation.T @ y.rotation))))
    return most


def main():
    command, bad = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in [*JOINTS, "composite"]:
            expected = pinocchio_run(kind)
            for back in (False, True):
                if back and kind in ("universal", "composite", "slot", "pin-in-slot", "planar",
                                     "axis", "point-on-plane", "free"):
                    continue  # from b to a its primitives are those of another joint
                text = scene(kind, back)
                options = ["--integrator", "rk45", "--h", "0.01", "--newton-tolerance", "1e-11"]
                exact = distance(mabd_run(command, text, options, folder), expected)
                errors = [distance(mabd_run(command, text, ["--integrator", "bdf2", "--h", str(h)],
                                            folder), expected) for h in BDF2_STEPS]
                ratio = errors[0] / errors[1]
                good = exact <= RK45_BOUND and BDF2_RATIO[0] <= ratio <= BDF2_RATIO[1]
                bad += not good
                print(f"{kind:15} {'b to a' if back else 'a to b'}  rk45 {exact:.1e}  bdf2 "
                      f"{errors[0]:.1e} {errors[1]:.1e}{'' if good else '  failed'}")
    print("failed" if bad else "passed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

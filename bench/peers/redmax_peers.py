#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Newton iterations and backward steps of the redmax formulation beside Pinocchio and MuJoCo.

Chains of hinges, links of 0.1 m, in one process each, the fastest of the repeats in turn:

  mabd       (residual + factor + solve) / Newton iterations of a run; backward / steps of a gradient
  pinocchio  derivatives of inverse dynamics, and the dense LU of numpy (LAPACK) on their matrix: what
             a Newton iteration in joint coordinates needs; derivatives of forward dynamics: what a
             backward step needs
  mujoco     mjd_transitionFD, the differences by which it linearises a step

The cost of a call from Python is taken out: that of the same call on a model without joints, and
matrices are solved many in a call. `pip install pin mujoco numpy` provides the peers.

usage: redmax_peers.py COMMAND SCENES [REPEATS], COMMAND is mabd; writes a table of microseconds
"""
import json
import math
import re
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np
import pinocchio as pin

LINKS = (7, 30, 100, 300)
FD_MOST = 100  # links up to which mjd_transitionFD is run
LENGTH, RADIUS, DENSITY = 0.1, 0.01, 1000.0


def fastest(call, seconds=0.2):
    """Seconds of a call, the fastest of groups of calls."""
    call()
    start = time.perf_counter()
    call()
    count = max(1, int(0.001 / max(time.perf_counter() - start, 1e-7)))
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def run_mabd(command, scenes, links):
    """Microseconds of a Newton iteration and of a backward step."""
    chain = [f"{scenes}/chain.json", "--formulation", "redmax", "--set", f"links={links}",
             "--set", "joint=hinge", "--threads", "1"]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        iteration = math.inf
        for _ in range(10): # short runs: a longer one is interrupted on a shared machine
            subprocess.run([command, "run", *chain, "--steps", "60", "--quiet", "--json", out.name],
                           check=True)
            run = json.load(open(out.name))
            stages = run["stage_ms_per_step"]
            spent = sum(stages[k] for k in ("residual", "factor", "solve"))
            iteration = min(iteration, 1e3 * spent / run["iterations_mean"])
    steps, backward = max(40, 4000 // links), math.inf # a few milliseconds, as above
    for _ in range(40):
        text = subprocess.run([command, "gradient", *chain, "--steps", str(steps), "--h", "0.0001",
                               "--loss", f"{scenes}/losses/chain-energy.json"],
                              check=True, capture_output=True, text=True).stdout
        own = float(re.search(r"backward ([0-9.]+) s", text).group(1))
        backward = min(backward, 1e6 * own / steps)
    return iteration, backward


def pinocchio_chain(links):
    model = pin.Model()
    mass = DENSITY * math.pi * RADIUS**2 * LENGTH
    across = mass * (3 * RADIUS**2 + LENGTH**2) / 12
    inertia = pin.Inertia(mass, np.array([LENGTH / 2, 0, 0]),
                          np.diag([mass * RADIUS**2 / 2, across, across]))
    parent = 0
    for i in range(links):
        place = pin.SE3(np.eye(3), np.array([LENGTH if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, pin.JointModelRY(), place, f"joint{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def run_pinocchio(links):
    """Microseconds of inverse dynamics' derivatives, dense LU, forward dynamics' derivatives."""

    def calls(n):
        model, random = pinocchio_chain(n), np.random.default_rng(1)
        data, q, v, a = model.createData(), *(random.uniform(-1, 1, n) for _ in range(3))
        return (lambda: pin.computeRNEADerivatives(model, data, q, v, a),
                lambda: pin.computeABADerivatives(model, data, q, v, a))

    count, random = max(1, 2000 // links), np.random.default_rng(2)
    H = random.uniform(-1, 1, (count, links, links)) + links * np.eye(links)
    b = random.uniform(-1, 1, (count, links, 1))
    lu = 1e6 * fastest(lambda: np.linalg.solve(H, b)) / count
    times = [fastest(call) for call in calls(links)]
    empty = [fastest(call) for call in calls(0)]
    rnea, aba = (1e6 * (t - e) for t, e in zip(times, empty))
    return rnea, lu, aba


def run_mujoco(links):
    """Microseconds of mjd_transitionFD."""
    body, end = "", ""
    for i in range(links):
        body += (f'<body pos="{LENGTH if i else 0} 0 0"><joint type="hinge" axis="0 1 0"/>'
                 f'<geom type="capsule" fromto="0 0 0 {LENGTH} 0 0" size="{RADIUS}"'
                 ' contype="0" conaffinity="0"/>')
        end += "</body>"
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><option timestep='0.01'/><worldbody>{body}{end}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    n = 2 * model.nv + model.na
    A, B = np.zeros((n, n)), np.zeros((n, model.nu))
    return 1e6 * fastest(
        lambda: mujoco.mjd_transitionFD(model, data, 1e-6, False, A, B, None, None), 0.4)


def main():
    command, scenes = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    print(f"# version: {version.split(chr(10))[0]}, pinocchio {pin.__version__}, "
          f"mujoco {mujoco.__version__}")
    print("# unit: microseconds; one thread, the fastest of", repeats, "rounds")
    print("links,iteration,pin_rnea_derivatives,pin_lu,iteration_ratio,"
          "backward,pin_aba_derivatives,backward_ratio,mujoco_transition_fd")
    for links in LINKS:
        best = [math.inf] * 6
        for _ in range(repeats):
            fd = run_mujoco(links) if links <= FD_MOST else math.inf
            row = (*run_mabd(command, scenes, links), *run_pinocchio(links), fd)
            best = [min(b, x) for b, x in zip(best, row)]
        own, back, rnea, lu, aba, fd = best
        other = f"{fd:.1f}" if math.isfinite(fd) else ""
        print(f"{links},{own:.2f},{rnea:.2f},{lu:.2f},{(rnea + lu) / own:.2f},"
              f"{back:.2f},{aba:.2f},{aba / back:.2f},{other}", flush=True)


if __name__ == "__main__":
    main()

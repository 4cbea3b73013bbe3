#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trajectories of redmax against Pinocchio (check_pinocchio.py), by the Python of build/pinocchio if
# there is one. Skipped without its modules.
# usage: check_pinocchio.sh SOURCE_DIR COMMAND
set -eu
python=$1/build/pinocchio/bin/python
[ -x "$python" ] || python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
exec "$python" "$1/tests/check_pinocchio.py" "$2"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library calls nothing of SuiteSparse that is under the GPL: UMFPACK, and the modules
# MatrixOps, Modify and Supernodal of CHOLMOD. (That the LGPL part does not choose Supernodal by
# itself is a setting of the sparse solver: CHOLMOD_SIMPLICIAL.)
# usage: check_licences.sh SOURCE_DIR LIBRARY...
set -eu
source_dir=$1
shift

symbols=$(nm -u "$@" | awk '$1 == "U" { print $2 }' | sort -u)
gpl=$(printf '%s\n' "$symbols" | grep -E '^(umfpack_|cholmod_(l_)?(super_|updown|row(add|del)|sdmult|ssmult|drop|norm_|horzcat|vertcat|scale|submatrix|symmetry))' || true)
if [ -n "$gpl" ]; then
    printf 'calls to GPL code:\n%s\n' "$gpl"
    exit 1
fi
if printf '%s\n' "$symbols" | grep -q '^cholmod_.*analyze'; then
    grep -rq 'supernodal *= *CHOLMOD_SIMPLICIAL' "$source_dir/src/dual" || {
        echo "CHOLMOD is free to choose its supernodal module"
        exit 1
    }
fi
echo "$(printf '%s\n' "$symbols" | grep -c '^cholmod_') functions of CHOLMOD are called, none under the GPL"

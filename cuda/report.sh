#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the CUDA compiler and keep the output of ptxas (-Xptxas -v) beside the object, as
# OBJECT.report; other output goes to standard error. `./dev bench cuda-model` reads the reports of
# this build.
# usage: report.sh COMPILER ARGUMENT...
object=
last=
for argument in "$@"; do
    [ "$last" = -o ] && object=$argument
    last=$argument
done
case $object in
    *.o) ;;
    *) exec "$@" ;;
esac
"$@" 2>"$object.report"
status=$?
# The lines that ptxas prints for each function, and "Function properties", are left out.
grep -v -e '^ptxas info' -e '^    [0-9]* bytes stack frame' "$object.report" >&2
exit "$status"

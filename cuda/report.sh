#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the compiler of kernels and keeps what ptxas tells (-Xptxas -v) beside the object, as OBJECT.report; the rest goes where it
# would have gone. `./dev bench cuda-model` reads the reports: they are of the very build.
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
# Two lines more belong to "Function properties".
grep -v -e '^ptxas info' -e '^    [0-9]* bytes stack frame' "$object.report" >&2
exit "$status"

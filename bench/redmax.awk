# SPDX-License-Identifier: Apache-2.0
# Print the table of docs/develop/performance.md on the redmax formulation in Markdown.
# usage: awk -f bench/redmax.awk bench/results/MACHINE/redmax-peers.csv

BEGIN {
    FS = ","
    print "| links | Newton iteration | Pinocchio: derivatives of inverse dynamics + dense LU | ratio | backward step | Pinocchio: derivatives of forward dynamics | ratio | MuJoCo: `mjd_transitionFD` |"
    print "|---:|---:|---:|---:|---:|---:|---:|---:|"
}
/^#/ || /^links,/ { next }
{
    printf "| %d | %.1f | %.1f + %.1f | %.1f | %.1f | %.1f | %.1f | %s |\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 == "" ? "–" : sprintf("%.0f", $9)
}

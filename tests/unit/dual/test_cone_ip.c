// SPDX-License-Identifier: Apache-2.0
// Forces over cones by the interior-point method: the conditions of the minimum, on random problems
// whose matrix has fewer freedoms than rows.

#include "dual/cone_ip.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <math.h>
#include <stdlib.h>

#define COUNT    12
#define ROWS     (3 * COUNT)
#define FREEDOMS 20
#define SOFTNESS 1e-4

// A = G G' + c with G (ROWS x FREEDOMS), columns over two decades.
static void fill(uint64_t* state, mabd_real* A, mabd_real* b) {
    static mabd_real G[ROWS][FREEDOMS];
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FREEDOMS; k++) {
            G[i][k] = random_real(state) * (mabd_real)pow(10, -2.0 * k / FREEDOMS);
        }
        b[i] = (mabd_real)1e-3 * random_real(state);
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ROWS; k++) {
            A[ROWS * i + k] = i == k ? SOFTNESS : 0;
            for (int j = 0; j < FREEDOMS; j++) A[ROWS * i + k] += G[i][j] * G[k][j];
        }
    }
}

// y = A l + b:  |l_t| <= mu l_n,  mu |y_t| <= y_n,  l'y = 0. Returns the largest error.
static double off_minimum(const mabd_real* A, const mabd_real* b, const mabd_real* mu,
                          const mabd_real* l) {
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        double y[3], power = 0;
        for (int r = 0; r < 3; r++) {
            y[r] = (double)b[3 * i + r];
            for (int k = 0; k < ROWS; k++) y[r] += (double)(A[ROWS * (3 * i + r) + k] * l[k]);
            power += y[r] * (double)l[3 * i + r];
        }
        const double t = hypot((double)l[3 * i + 1], (double)l[3 * i + 2]);
        worst = fmax(worst, t - (double)(mu[i] * l[3 * i]));
        worst = fmax(worst, (double)mu[i] * hypot(y[1], y[2]) - y[0]);
        worst = fmax(worst, fabs(power));
    }
    return worst;
}

Test(cone_ip, forces_are_those_of_the_minimum) {
    static mabd_real A[ROWS * ROWS], b[ROWS], l[ROWS];
    mabd_real* work = malloc(mabd_cone_ip_work(COUNT) * sizeof *work);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t state = seed;
        mabd_real mu[COUNT];
        int32_t steps = 0;
        fill(&state, A, b);
        for (int i = 0; i < COUNT; i++) mu[i] = i % 4 == 0 ? 0 : 1 + random_real(&state);
        mabd_cone_ip(COUNT, A, b, mu, (mabd_real)1e-10, l, work, &steps); // down to round-off
        const double off = off_minimum(A, b, mu, l);
        cr_expect(lt(dbl, off, 1e-8), "seed %d: %g after %d steps", (int)seed, off, (int)steps);
        cr_expect(lt(int, steps, 60));
    }
    free(work);
}

// SPDX-License-Identifier: Apache-2.0
// Energy books of rigid bodies: what the energies of a simulation changed by since its start.
#pragma once

#include "rigid/measure.h"

typedef struct mabd_rigid_books {
    mabd_real start[3]; // kinetic, gravity and spring energy at the start [J]
} mabd_rigid_books;

/// Open the books at a start state.
MABD_FN void mabd_rigid_books_open(mabd_rigid_books* books, const mabd_measure* start) {
    books->start[0] = start->kinetic, books->start[1] = start->gravity;
    books->start[2] = start->spring;
}

/// A state was set from outside: its energies are no change.
MABD_FN void mabd_rigid_books_carry(mabd_rigid_books* books, const mabd_measure* before,
                                    const mabd_measure* after) {
    books->start[0] += after->kinetic - before->kinetic;
    books->start[1] += after->gravity - before->gravity;
    books->start[2] += after->spring - before->spring;
}

/// Return the energy balance. Works are not told apart: what the energies changed by is all of the
/// integrator.
MABD_FN mabd_energy_balance mabd_rigid_books_balance(const mabd_rigid_books* books,
                                                     const mabd_measure* now) {
    const mabd_real unknown = (mabd_real)NAN;
    mabd_energy_balance b;
    b.kinetic = now->kinetic - books->start[0];
    b.gravity = now->gravity - books->start[1];
    b.spring = now->spring - books->start[2];
    b.elastic = 0;
    b.drives = b.scripts = b.forces = b.dampers = b.friction = b.drag = b.impacts = unknown;
    b.integrator = -(b.kinetic + b.gravity + b.spring);
    return b;
}

// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM: the first one lets a command finish its step and write what it has, a second
// one ends the process.
#pragma once

/// Catch the signals from now on.
void interrupt_catch(void);
/// Number of the signal that was caught; 0 = none.
int interrupt_signal(void);

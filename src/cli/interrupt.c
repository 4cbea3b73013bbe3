// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void remember(int number) {
    caught = number;
}

void interrupt_catch(void) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = remember;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupt_signal(void) {
    return (int)caught;
}

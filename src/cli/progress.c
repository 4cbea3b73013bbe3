// SPDX-License-Identifier: Apache-2.0
// Progress line of a run; see progress.h.
#include "cli/progress.h"

#include "cli/system.h"

#include <unistd.h>

#define REDRAW_SECONDS 0.2

progress progress_start(bool quiet, int64_t first_step, int64_t total_steps, double h) {
    double now = system_seconds();
    return (progress){.out = !quiet && isatty(STDERR_FILENO) ? stderr : NULL,
                      .start = now,
                      .last_drawn = now,
                      .first_step = first_step,
                      .total_steps = total_steps,
                      .h = h};
}

const char* progress_format_time(double seconds, char* text, size_t size) {
    long whole = (long)(seconds + 0.5);
    if (seconds < 9.95) {
        snprintf(text, size, "%.2g s", seconds);
    } else if (whole < 60) {
        snprintf(text, size, "%ld s", whole);
    } else if (whole < 3600) {
        snprintf(text, size, "%ld min %02ld s", whole / 60, whole % 60);
    } else {
        snprintf(text, size, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
    }
    return text;
}

void progress_update(progress* p, int64_t step, double step_seconds) {
    if (p->out == NULL || step <= p->first_step) return;
    double now = system_seconds();
    if (now - p->last_drawn < REDRAW_SECONDS) return;
    p->last_drawn = now;
    double done = (double)(step - p->first_step);
    double left = (now - p->start) / done * (double)(p->total_steps - step);
    char time_left[48];
    int width =
        fprintf(p->out, "\rstep %lld/%lld  t = %.3f s  %.3g ms/step  %s left", (long long)step,
                (long long)p->total_steps, (double)step * p->h, 1e3 * step_seconds / done,
                progress_format_time(left, time_left, sizeof(time_left)));
    if (width < p->width) fprintf(p->out, "%*s", p->width - width, "");
    if (width > p->width) p->width = width;
    fflush(p->out);
}

void progress_end(progress* p) {
    if (p->out == NULL || p->width == 0) return;
    fprintf(p->out, "\r%*s\r", p->width, "");
    fflush(p->out);
    p->width = 0;
}

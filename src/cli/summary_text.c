// SPDX-License-Identifier: Apache-2.0
// The summary of a run as text: label, value, unit; see summary.h.
#include "cli/progress.h"
#include "cli/summary.h"

#include <math.h>

// Energies below this share of the energy exchanged are round-off and printed as 0.
#define ENERGY_ROUND_OFF 1e-12

double summary_mean(double total, double count) {
    return count > 0 ? total / count : 0;
}

double summary_links(const summary_source* s) {
    return (double)s->loaded->info.dynamic_bodies;
}

void summary_print_memory(const size_t* bytes, int32_t bodies, FILE* out) {
    double total = 0;
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) total += (double)bytes[k];
    fprintf(out, "%.0f bytes per body", summary_mean(total, bodies));
    const char* before = ":";
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) {
        if (bytes[k] == 0) continue;
        fprintf(out, "%s %s %.0f", before, mabd_memory_name((mabd_memory)k),
                summary_mean((double)bytes[k], bodies));
        before = ",";
    }
    fputc('\n', out);
}

static void print_joint_errors(const summary_source* s, FILE* out) {
    char name[256];
    if (s->stats->worst_joint < 0) return;
    mabd_model_joint_name(s->loaded->model, (int32_t)s->stats->worst_joint, name, sizeof(name));
    fprintf(out, "joints    largest gap %.2g m, largest angle error %.2g rad, at '%s'\n",
            s->stats->max_gap, s->stats->max_angle_error, name);
}

static void print_contacts(const summary_source* s, FILE* out) {
    const run_stats* stats = s->stats;
    const double steps = (double)stats->steps;
    if (!s->loaded->info.contacts) return;
    fprintf(out,
            "contacts  %.1f per step, at most %lld, deepest overlap %.2g m; "
            "%.1f iterations per step, at most %lld, largest residual %.2g m",
            summary_mean((double)stats->contacts, steps), (long long)stats->contacts_max,
            stats->penetration_max, summary_mean((double)stats->contact_iterations, steps),
            (long long)stats->contact_iterations_max, stats->contact_residual_max);
    if (stats->tolerance_used_max > 0) {
        fprintf(out, ", tolerance %.2g m", stats->tolerance_used_max);
    }
    fprintf(out, "; mean friction lag %.2g\n", summary_mean(stats->friction_lag, steps));
}

static double without_round_off(double energy, double scale) {
    return fabs(energy) < ENERGY_ROUND_OFF * scale ? 0 : energy;
}

static void print_energy(const summary_source* s, FILE* out) {
    const run_stats* stats = s->stats;
    const double scale = stats->energy_scale, start = without_round_off(stats->energy_start, scale);
    const double end = without_round_off(stats->energy_end, scale);
    const double peak = without_round_off(stats->energy_max - stats->energy_start, scale);
    if (scale > 0) {
        fprintf(out,
                "energy    drift %+.2g %% of the %.3g J exchanged (start %.6g J, end %.6g J, peak "
                "%+.2g J)\n",
                100 * (stats->energy_end - stats->energy_start) / scale, scale, start, end, peak);
    } else {
        fprintf(out, "energy    start %.6g J, end %.6g J\n", stats->energy_start,
                stats->energy_end);
    }
}

// Print the accounts of one kind that are not 0, in a line.
static void print_accounts(const double* accounts, mabd_energy_kind kind, const char* label,
                           double scale, FILE* out) {
    const char* before = label;
    for (int k = 0; k < MABD_ENERGY_COUNT; k++) {
        const double value = without_round_off(accounts[k], scale);
        if (mabd_energy_get_kind((mabd_energy)k) != kind || value == 0 || isnan(value)) continue;
        fprintf(out, "%s %s %+.4g J", before, mabd_energy_name((mabd_energy)k), value);
        if (scale > 0) fprintf(out, " (%+.2g %%)", 100 * value / scale);
        before = ",";
    }
    if (before != label) fputc('\n', out);
}

// The energy balance of the run: accounts that are 0 are left out.
static void print_balance(const summary_source* s, FILE* out) {
    const mabd_energy_balance balance = mabd_sim_get_energy_balance(s->sim);
    const double scale = s->stats->energy_scale;
#define X(name, field, kind) (double)balance.field,
    const double accounts[MABD_ENERGY_COUNT] = {MABD_ENERGY_LIST(X)};
#undef X
    print_accounts(accounts, MABD_ENERGY_IS_CHANGE, "  change   ", scale, out);
    print_accounts(accounts, MABD_ENERGY_IS_WORK, "  work     ", scale, out);
    print_accounts(accounts, MABD_ENERGY_IS_TAKEN, "  taken    ", scale, out);
    print_accounts(accounts, MABD_ENERGY_IS_REST, "  numerics ", scale, out);
}

static void print_vectors(const char* label, const double* start, const double* end,
                          const char* unit, FILE* out) {
    fprintf(out, "%-9s start (%.4g, %.4g, %.4g) %s, end (%.4g, %.4g, %.4g) %s\n", label, start[0],
            start[1], start[2], unit, end[0], end[1], end[2], unit);
}

void summary_print(const summary_source* s, FILE* out) {
    const run_stats* stats = s->stats;
    double steps = (double)stats->steps, step_seconds = summary_mean(stats->step_seconds, steps);
    char time[48];
    fprintf(out,
            "steps     %lld in %s: %.4g ms/step, %.0f ns per link and step, %.3g x real time\n",
            (long long)stats->steps, progress_format_time(stats->step_seconds, time, sizeof(time)),
            1e3 * step_seconds, 1e9 * summary_mean(step_seconds, summary_links(s)),
            summary_mean(steps * mabd_sim_get_def(s->sim).h, stats->step_seconds));
    fprintf(out, "solver    %.2f iterations per step, at most %lld",
            summary_mean((double)stats->iterations, steps), (long long)stats->iterations_max);
    if (stats->retries > 0) fprintf(out, ", %lld steps halved", (long long)stats->retries);
    if (stats->substeps_max > 1) {
        fprintf(out, ", at most %lld substeps", (long long)stats->substeps_max);
    }
    if (stats->carriers_max > 0) {
        fprintf(out, ", at most %lld bodies with up to %.3g times their inertia",
                (long long)stats->carriers_max, stats->carried_max);
    }
    if (stats->asleep > 0) fprintf(out, ", %lld steps asleep", (long long)stats->asleep);
    if (stats->guarded > 0) {
        fprintf(out, ", %lld times by the energy guard", (long long)stats->guarded);
    }
    if (stats->unconverged_steps > 0) {
        fprintf(out, ", %lld steps not converged", (long long)stats->unconverged_steps);
    }
    if (stats->round_off_max > 0) {
        fprintf(out, ", residuals up to %.1e m or rad are round-off", stats->round_off_max);
    }
    if (stats->dual_iterations > 0) {
        fprintf(
            out,
            "\ndual      %.1f iterations per step, at most %lld, largest residual %.2g m or rad",
            summary_mean((double)stats->dual_iterations, steps),
            (long long)stats->dual_iterations_max, stats->dual_residual_max);
    }
    fputc('\n', out);
    print_joint_errors(s, out);
    print_contacts(s, out);
    print_energy(s, out);
    print_balance(s, out);
    print_vectors("momentum", stats->linear_momentum_start, stats->linear_momentum, "kg m/s", out);
    print_vectors("angular", stats->angular_momentum_start, stats->angular_momentum, "kg m^2/s",
                  out);
}

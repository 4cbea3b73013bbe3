// SPDX-License-Identifier: Apache-2.0
// Reports of `mabd bench peers`; see peers_report.h.
#include "cli/bench/peers_report.h"

#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/summary.h"
#include "mabd/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char METHOD[] = "processor time of the step alone, of each step the fastest of the "
                             "repeats, mean after 5 steps; "
                             "gap by poses after every step; overlap by the shapes "
                             "at up to 200 instants; rest: way of the fastest body over the last "
                             "0.5 s; energy in units of the sum of m g d, "
                             "d from each centre of mass "
                             "to the nearest anchor, of mabd with the elastic energy of its bodies";

peers_row* peers_report_add(peers_report* r) {
    if (r->count == r->capacity) {
        const int32_t capacity = r->capacity > 0 ? 2 * r->capacity : 64;
        peers_row* rows = realloc(r->rows, (size_t)capacity * sizeof(*rows));
        if (rows == NULL) return NULL;
        r->rows = rows, r->capacity = capacity;
    }
    r->rows[r->count] = (peers_row){0};
    return &r->rows[r->count++];
}

void peers_report_free(peers_report* r) {
    free(r->rows);
    r->rows = NULL;
}

// ---- for people --------------------------------------------------------------------------------

const char* peers_report_outcome(const peers_row* row, char* text, size_t size) {
    const peer_result* r = &row->result;
    if (strncmp(r->failure, PEER_SKIP, strlen(PEER_SKIP)) == 0) {
        snprintf(text, size, "%s", r->failure);
    } else if (r->failed_step > 0) {
        snprintf(text, size, "failed at step %lld: %s", (long long)r->failed_step, r->failure);
    } else if (r->failed_step == 0) {
        snprintf(text, size, "failed: %s", r->failure);
    } else if (r->stopped) {
        snprintf(text, size, "stopped after %lld of %lld steps: out of time%s", (long long)r->steps,
                 (long long)row->steps, r->apart_step >= 0 ? ", joints apart" : "");
    } else if (r->apart_step >= 0) {
        snprintf(text, size, "joints apart from step %lld on", (long long)r->apart_step);
    } else {
        snprintf(text, size, "ok");
    }
    return text;
}

void peers_report_head(const peers_report* r) {
    fprintf(r->text, "machine   %s\nbuild     mabd %s, compiler %s\n", r->machine, mabd_version(),
            __VERSION__);
    fflush(r->text);
}

// Rows without a step show no numbers.
static const char* number(const peer_result* r, const char* format, double value, char* text,
                          size_t size) {
    if (r->steps == 0 || value < 0) {
        snprintf(text, size, "-");
    } else {
        snprintf(text, size, format, value);
    }
    return text;
}

static bool begins_scene(const peers_report* r) {
    return r->count == 1 || strcmp(r->rows[r->count - 1].scene, r->rows[r->count - 2].scene) != 0;
}

void peers_report_row(const peers_report* r) {
    const peers_row* row = &r->rows[r->count - 1];
    const peer_result* result = &row->result;
    char ms[32], gap[32], own[32], energy[32], overlap[32] = "-", rest[32], end[32] = "-",
                                               outcome[512];
    if (begins_scene(r)) {
        fprintf(r->text, "\n%s: %d bodies, %d joints, h = %.4g s, %lld steps\n", row->scene,
                (int)row->bodies, (int)row->joints, row->h, (long long)row->steps);
        fprintf(r->text, "  %-8s %-17s %10s %9s %9s %9s %9s %9s %9s  %s\n", "peer", "variant",
                "ms/step", "gap [m]", "own gap", "overlap", "rest[m/s]", "energy", "at end",
                "result");
    }
    if (result->steps > 0) snprintf(end, sizeof(end), "%+.2g", result->energy_end);
    if (isfinite(row->overlap)) snprintf(overlap, sizeof(overlap), "%.1e", row->overlap);
    fprintf(r->text, "  %-8s %-17s %10s %9s %9s %9s %9s %9s %9s  %s\n", row->peer, row->variant,
            number(result, "%.4g", 1e3 * result->seconds_per_step, ms, sizeof(ms)),
            number(result, "%.1e", result->max_gap, gap, sizeof(gap)),
            number(result, "%.1e", result->own_gap, own, sizeof(own)), overlap,
            number(result, "%.1e", result->rest_speed, rest, sizeof(rest)),
            number(result, "%.2g", result->energy_error, energy, sizeof(energy)), end,
            peers_report_outcome(row, outcome, sizeof(outcome)));
    fflush(r->text);
}

// The first row of mabd in the scene of a row; null if there is none that ran.
static const peers_row* first_own(const peers_report* r, int32_t i) {
    while (i > 0 && strcmp(r->rows[i - 1].scene, r->rows[i].scene) == 0) i--;
    const peers_row* row = &r->rows[i];
    const bool ran = row->result.failed_step < 0 && row->result.steps > 0;
    return strcmp(row->peer, "mabd") == 0 && ran ? row : NULL;
}

void peers_report_ratios(const peers_report* r) {
    bool headed = false;
    for (int32_t i = 0; i < r->count; i++) {
        const peers_row *row = &r->rows[i], *first = first_own(r, i);
        const peer_result* a = &row->result;
        if (first == NULL || first == row || strcmp(row->peer, "mabd") != 0) continue;
        if (a->failed_step >= 0 || a->steps == 0) continue;
        const peer_result* b = &first->result;
        if (!headed) fputs("\nformulations of mabd, in this run\n", r->text);
        headed = true;
        fprintf(r->text, "  %-16s %s takes %.3g of the time of %s; largest gap %.1e m, %.1e m",
                row->scene, row->variant, a->seconds_per_step / b->seconds_per_step, first->variant,
                a->max_gap, b->max_gap);
        if (isfinite(row->overlap) && isfinite(first->overlap)) {
            fprintf(r->text, "; deepest overlap %.1e m, %.1e m", row->overlap, first->overlap);
        }
        if (isfinite(row->overlap) && a->rest_speed >= 0) {
            fprintf(r->text, "; rest %.1e m/s", a->rest_speed);
            if (b->rest_speed >= 0) fprintf(r->text, ", %.1e m/s", b->rest_speed);
        }
        fputc('\n', r->text);
    }
}

static bool is_first_of_its_kind(const peers_report* r, int32_t i) {
    for (int32_t k = 0; k < i; k++) {
        if (strcmp(r->rows[k].peer, r->rows[i].peer) == 0 &&
            strcmp(r->rows[k].variant, r->rows[i].variant) == 0) {
            return false;
        }
    }
    return true;
}

void peers_report_settings(const peers_report* r) {
    fprintf(r->text, "\nsettings (one thread each)\n");
    for (int32_t i = 0; i < r->count; i++) {
        const peers_row* row = &r->rows[i];
        if (!is_first_of_its_kind(r, i)) continue;
        fprintf(r->text, "  %-8s %-17s %s: %s\n", row->peer, row->variant, row->version,
                row->settings);
    }
    fprintf(r->text, "measured: %s\n", METHOD);
}

// ---- files -------------------------------------------------------------------------------------

static json_t* row_json(const peers_row* row) {
    const peer_result* r = &row->result;
    const bool ran = r->steps > 0;
    char outcome[512];
    json_t* entry =
        json_pack("{si si sI sI}", "bodies", (int)row->bodies, "joints", (int)row->joints,
                  "steps_asked", (json_int_t)row->steps, "steps", (json_int_t)r->steps);
    summary_set_text(entry, "scene", row->scene);
    summary_set_text(entry, "peer", row->peer);
    summary_set_text(entry, "version", row->version);
    summary_set_text(entry, "variant", row->variant);
    summary_set_text(entry, "settings", row->settings);
    summary_set_text(entry, "result", peers_report_outcome(row, outcome, sizeof(outcome)));
    summary_set_real(entry, "h", row->h);
    summary_set_real(entry, "ms_per_step", ran ? 1e3 * r->seconds_per_step : NAN);
    summary_set_real(entry, "build_ms", ran ? 1e3 * r->build_seconds : NAN);
    summary_set_real(entry, "max_gap", ran ? r->max_gap : NAN);
    summary_set_real(entry, "own_gap", ran && r->own_gap >= 0 ? r->own_gap : NAN);
    summary_set_real(entry, "overlap", row->overlap);
    summary_set_real(entry, "rest_speed", ran && r->rest_speed >= 0 ? r->rest_speed : NAN);
    summary_set_real(entry, "energy_error", ran ? r->energy_error : NAN);
    summary_set_real(entry, "energy_end", ran ? r->energy_end : NAN);
    summary_set_real(entry, "energy_scale", ran ? r->energy_scale : NAN);
    return entry;
}

static int write_json(const peers_report* b) {
    if (b->json == NULL) return CLI_OK;
    json_t *root = json_object(), *results = json_array();
    summary_set_text(root, "topic", "peers");
    summary_set_origin(root, b->machine, b->command);
    summary_set_text(root, "measured", METHOD);
    for (int32_t i = 0; i < b->count; i++) json_array_append_new(results, row_json(&b->rows[i]));
    json_object_set_new(root, "results", results);
    const int code = summary_write("bench peers", b->json, root);
    json_decref(root);
    return code;
}

static void put_versions(const peers_report* r, FILE* out) {
    const char* last = "";
    fprintf(out, "# version: mabd %s", mabd_version());
    for (int32_t i = 0; i < r->count; i++) {
        const peers_row* row = &r->rows[i];
        if (strcmp(row->peer, "mabd") == 0 || strcmp(row->peer, last) == 0) continue;
        if (strcmp(row->scene, r->rows[0].scene) != 0) break;
        fprintf(out, ", %s %s", row->peer, row->version);
        last = row->peer;
    }
    fputc('\n', out);
}

// Write empty fields where there is no number.
static void put_numbers(const peers_row* row, FILE* out) {
    const peer_result* r = &row->result;
    if (r->steps == 0) {
        fputs(",0,,,,,,,,,,", out); // steps, then nine fields
        return;
    }
    fprintf(out, ",%lld,%.6g,%.5g,%.3e,", (long long)r->steps, 1e3 * r->seconds_per_step,
            1e3 * r->build_seconds, r->max_gap);
    if (r->own_gap >= 0) fprintf(out, "%.3e", r->own_gap);
    fputc(',', out);
    if (isfinite(row->overlap)) fprintf(out, "%.3e", row->overlap);
    fputc(',', out);
    if (r->rest_speed >= 0) fprintf(out, "%.3e", r->rest_speed);
    fprintf(out, ",%.4g,%.4g,%.6g,", r->energy_error, r->energy_end, r->energy_scale);
}

static void fill_csv(const void* report, FILE* out) {
    const peers_report* b = report;
    char outcome[512];
    fprintf(out, "# machine: %s\n", b->machine);
    put_versions(b, out);
    fprintf(out, "# compiler: %s\n# command: %s\n", __VERSION__, b->command);
    fprintf(out, "# measured: %s; one thread, %lld repeats, %g s a row\n", METHOD,
            (long long)b->repeats, b->limit);
    fprintf(out, "scene,links,joints,h,steps_asked,peer,variant,steps,ms_per_step,build_ms,max_gap,"
                 "own_gap,overlap,rest_speed,energy_error,energy_end,energy_scale,result,settings");
    for (int32_t i = 0; i < b->count; i++) {
        const peers_row* row = &b->rows[i];
        fprintf(out, "\n%s,%d,%d,%g,%lld,%s,%s", row->scene, (int)row->bodies, (int)row->joints,
                row->h, (long long)row->steps, row->peer, row->variant);
        put_numbers(row, out);
        csv_put_text(peers_report_outcome(row, outcome, sizeof(outcome)), out);
        fputc(',', out);
        csv_put_text(row->settings, out);
    }
    fputc('\n', out);
}

int peers_report_write(const peers_report* b) {
    const int json = write_json(b);
    const int csv = b->csv == NULL ? CLI_OK : csv_write("bench peers", b->csv, fill_csv, b);
    return json != CLI_OK ? json : csv;
}

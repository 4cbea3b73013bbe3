// SPDX-License-Identifier: Apache-2.0
// A comparison as a page; see compare_page.h.
#include "cli/compare/compare_page.h"

#include "cli/bench/plot_axes.h"
#include "cli/compare/compare_plot.h"

#include <math.h>

static const char STYLE[] =
    "body{font:15px/1.45 system-ui,Helvetica,Arial,sans-serif;color:#222;background:#fff;"
    "margin:24px auto;max-width:1500px;padding:0 16px}\n"
    "h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:28px 0 8px}\n"
    "p.origin{color:#555;margin:2px 0;overflow-wrap:anywhere}code{font-size:13px}\n"
    "div.wide{overflow-x:auto}svg{max-width:100%;height:auto}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:3px 6px;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}\n"
    "th{vertical-align:bottom;border-bottom:2px solid #888}th span{color:#555;font-weight:400}\n"
    "td.text,th.text{text-align:left}tr.first td{border-top:2px solid #aaa}\n"
    "td.reason{text-align:left;white-space:normal;color:#a33}tr.reference{background:#f1f5fa}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{font-weight:600}"
    "dd{margin:0}\n";

// Columns: head, unit, member, format.
#define COLUMN_LIST(X)                                                                             \
    X("cost", "ms/s", cost, "%.4g")                                                                \
    X("position", "m", position, "%.2e")                                                           \
    X("at end", "m", position_end, "%.2e")                                                         \
    X("rotation", "rad", angle, "%.2e")                                                            \
    X("order", "", order, "%.2f")                                                                  \
    X("of rotation", "", order_angle, "%.2f")                                                      \
    X("energy", "", energy, "%.2e")                                                                \
    X("at end", "", energy_end, "%+.2e")                                                           \
    X("numerics", "", energy_integrator, "%+.2e")                                                  \
    X("momentum", "kg m/s", momentum, "%.2e")                                                      \
    X("angular", "kg m&#178;/s", angular_momentum, "%.2e")                                         \
    X("gap", "m", gap, "%.1e")                                                                     \
    X("of angles", "rad", angle_error, "%.1e")                                                     \
    X("overlap", "m", penetration, "%.1e")                                                         \
    X("iterations", "a step", iterations, "%.2f")                                                  \
    X("parts", "a step", substeps, "%.0f")                                                         \
    X("halved", "steps", retries, "%.0f")

#define X(head, unit, member, format) +1
enum { COLUMNS = 0 COLUMN_LIST(X) };
#undef X

static const char MEANINGS[] =
    "<dl>\n"
    "<dt>cost</dt><dd>processor time of a second of motion with one thread, wall time with more; "
    "of short runs the fastest of several "
    "repeats</dd>\n"
    "<dt>position, rotation</dt><dd>largest distance and rotation of a body frame from the "
    "reference, over all bodies and times; the reference is the run of the first row</dd>\n"
    "<dt>order</dt><dd>observed in the positions (rotations) of the method itself over this step "
    "and the two above; empty where they differ by round-off only</dd>\n"
    "<dt>energy</dt><dd>largest change of energy, and that at the end, over the energy exchanged; "
    "not zero where drives, dampers, friction or impacts act</dd>\n"
    "<dt>numerics</dt><dd>energy that the time steps took, by the energy balance, over the "
    "same</dd>\n"
    "<dt>momentum, angular</dt><dd>change of the momenta from start to end, by forces of the scene "
    "too; about the origin</dd>\n"
    "<dt>gap, of angles</dt><dd>largest error of a rigid row of a joint after any step</dd>\n"
    "<dt>overlap</dt><dd>deepest overlap of two bodies after any step</dd>\n"
    "<dt>iterations</dt><dd>linear solves of a step, or sweeps; they cost differently in each "
    "formulation</dd>\n"
    "<dt>parts</dt><dd>most substeps of one step: with more of them at larger h, errors fall more "
    "slowly with h than the order of the method</dd>\n"
    "</dl>\n";

static void put_element(const char* open, const char* text, const char* close, FILE* out) {
    fputs(open, out);
    plot_put_escaped(text, out);
    fputs(close, out);
}

static void put_number(const char* format, double value, FILE* out) {
    fputs("<td>", out);
    if (value == 0) {
        fputc('0', out);
    } else if (isfinite(value)) {
        fprintf(out, format, value);
    }
    fputs("</td>", out);
}

static void put_head(FILE* out) {
    fputs("<thead><tr><th class=\"text\">formulation</th><th class=\"text\">integrator</th>"
          "<th>h<br/><span>ms</span></th>",
          out);
#define X(head, unit, member, format) fputs("<th>" head "<br/><span>" unit "</span></th>", out);
    COLUMN_LIST(X)
#undef X
    fputs("<th class=\"text\">result</th></tr></thead>\n", out);
}

static void put_row(const compare_row* row, bool first, FILE* out) {
    fprintf(out, "<tr class=\"%s%s\">", first ? "first" : "", row->reference ? " reference" : "");
    put_element("<td class=\"text\">", mabd_formulation_name(row->formulation), "</td>", out);
    put_element("<td class=\"text\">", mabd_integrator_name(row->integrator), "</td>", out);
    put_number("%g", 1e3 * row->h, out);
    if (!row->complete) {
        fprintf(out, "<td class=\"reason\" colspan=\"%d\">", COLUMNS + 1);
        put_element(row->reference ? "reference: " : "", row->outcome, "</td></tr>\n", out);
        return;
    }
#define X(head, unit, member, format) put_number(format, row->member, out);
    COLUMN_LIST(X)
#undef X
    put_element(row->reference ? "<td class=\"text\">reference: " : "<td class=\"text\">",
                row->outcome, "</td></tr>\n", out);
}

static void put_table(const compare_report* r, FILE* out) {
    fputs("<div class=\"wide\"><table>\n", out);
    put_head(out);
    fputs("<tbody>\n", out);
    for (int32_t i = 0; i < r->count; i++) {
        const compare_row *row = &r->rows[i], *last = i > 0 ? &r->rows[i - 1] : row;
        const bool first = row->formulation != last->formulation || last->reference ||
                           (row->complete && row->integrator != last->integrator);
        put_row(row, first, out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_origin(const compare_report* r, FILE* out) {
    put_element("<h1>", r->scene, "</h1>\n", out);
    fprintf(out,
            "<p class=\"origin\">%d bodies, %d joints, %d rows of joints; %g s of motion, preset "
            "%s</p>\n",
            (int)r->bodies, (int)r->joints, (int)r->rows_of_joints, r->time, r->preset);
    put_element("<p class=\"origin\">", r->machine, "", out);
    fprintf(out, "; mabd %s</p>\n", mabd_version());
    put_element("<p class=\"origin\"><code>", r->command, "</code></p>\n", out);
}

void compare_page_write(const compare_report* r, FILE* out) {
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>\n"
          "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\"/>\n",
          out);
    put_element("<title>", r->scene, ": formulations compared</title>\n<style>", out);
    fputs(STYLE, out);
    fputs("</style></head><body>\n", out);
    put_origin(r, out);
    fputs("<h2>Differences and cost</h2>\n<div class=\"wide\">", out);
    compare_plot_write(r, out);
    fputs("</div>\n<h2>All runs</h2>\n", out);
    put_table(r, out);
    fputs("<h2>Columns</h2>\n", out);
    fputs(MEANINGS, out);
    fputs("</body></html>\n", out);
}

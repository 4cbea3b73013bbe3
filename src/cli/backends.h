// SPDX-License-Identifier: Apache-2.0
// The report of `mabd info --backends`.
#pragma once

/// Print the backends as a table on standard output and, if `json` is not null, as JSON to that
/// path ("-" = standard output, then without the table). Returns an exit code.
int backends_report(const char* json);

// SPDX-License-Identifier: Apache-2.0
// `mabd info --formulations`: the matrix of formulations and features.
#pragma once

/// Print one row per formulation with its features, integrators and backends. json: file for the
/// same as JSON, "-" = standard output instead of the text, null = none. Returns the exit code.
int formulations_report(const char* json);

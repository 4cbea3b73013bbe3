// SPDX-License-Identifier: Apache-2.0
// The backends of this library, as `mabd info --backends` tells them.
#pragma once

/// A table on standard output or, with a path, JSON there ("-" = standard output). Returns an exit code.
int backends_report(const char* json);

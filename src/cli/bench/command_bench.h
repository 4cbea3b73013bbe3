// SPDX-License-Identifier: Apache-2.0
// `mabd bench` and its topics. Each gets its own name as argv[0] and returns an exit code.
#pragma once

/// `mabd bench`: chooses the topic.
int command_bench(int argc, char** argv);
/// `mabd bench chain|tree|net|robots|scene`: times steps. argv[0] is "bench".
int command_bench_steps(int argc, char** argv);
/// `mabd bench plot`: draws tables of results.
int command_bench_plot(int argc, char** argv);
/// `mabd bench broad`: times the broad phase of contacts.
int command_bench_broad(int argc, char** argv);
/// `mabd bench dual`: times the block LU beside LAPACK.
int command_bench_dual(int argc, char** argv);
/// `mabd bench peers`: runs other engines on the same scenes.
int command_bench_peers(int argc, char** argv);
/// `mabd bench work-precision`: measures error against processor time.
int command_bench_work(int argc, char** argv);

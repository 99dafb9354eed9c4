/* made_trace.h - a large trace of made-up states for the benches of the analyses. */
#ifndef GS_TESTS_BENCH_MADE_TRACE_H
#define GS_TESTS_BENCH_MADE_TRACE_H

#include "probes/trace/reader.h"
#include "tests/bench/bench.h"

#include <stddef.h>

enum { BENCH_SEQUENCE = 2048, BENCH_HEADS = 15 };

/* Open the trace at `path`; where there is none, write one of `rows` rows of `width` (sequences of
 * BENCH_SEQUENCE rows, one stream, the gates of BENCH_HEADS heads). */
struct gs_trace *bench_trace(const char *path, size_t width, size_t rows);

/* Bytes a second of read() of the whole file by one thread in pieces of 1 MiB, from the page cache:
 * the better of two rounds. */
double bench_read(const char *path);

/* Print the most memory that this process has held. */
void bench_peak(void);

#endif

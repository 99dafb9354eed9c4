#include "tests/analyses/layered_trace.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers of one and two digits: their order as names is another. */
const char *const layered_names[LAYERED_STREAMS] = {"layer02", "layer9", "layer10", "final"};

static void fill(const struct layered *how, struct layered_values *v) {
    struct gs_random random;
    gs_random_seed(&random, 5, "layered");
    for (size_t s = 0; s < LAYERED_STREAMS; s++)
        for (size_t i = 0; i < LAYERED_ROWS * LAYERED_WIDTH; i++)
            v->state[s][i] = (float)(0.5 * (double)s + (1 + 0.3 * (double)(i % LAYERED_WIDTH)) *
                                                           gs_random_normal(&random));
    for (size_t l = 0; l < LAYERED_LAYERS; l++)
        for (size_t i = 0; i < LAYERED_ROWS * LAYERED_HEADS; i++) {
            double life = how->scale * pow(4, (double)(i % LAYERED_HEADS)) * (1 + (double)l);
            v->log_decay[l][i] = (float)(log(1 - gs_random_uniform(&random)) / life);
            v->write_strength[l][i] = (float)(0.6 * gs_random_uniform(&random));
        }
    for (size_t r = 0; r < LAYERED_ROWS; r++) {
        v->token[r] = (uint32_t)gs_random_below(&random, how->vocab);
        v->nll[r] = r % LAYERED_LENGTH == 0 ? NAN : (float)(4 * gs_random_uniform(&random));
    }
    for (size_t s = 0; s <= LAYERED_SEQUENCES; s++) v->start[s] = s * LAYERED_LENGTH;
    for (size_t s = 0; s < LAYERED_SEQUENCES; s++) v->length[s] = LAYERED_LENGTH;
}

static void write_sequence(struct gs_trace_writer *writer, const struct layered_values *v,
                           size_t s) {
    struct gs_error error;
    size_t row = s * LAYERED_LENGTH;
    for (size_t k = 0; k < LAYERED_STREAMS; k++)
        gs_assert_ok(gs_trace_append_state(writer, k, s, LAYERED_LENGTH,
                                           v->state[k] + row * LAYERED_WIDTH, LAYERED_WIDTH,
                                           &error),
                     &error);
    for (size_t l = 0; l < LAYERED_LAYERS; l++) {
        gs_assert_ok(gs_trace_append_memory(writer, l, GS_MEMORY_LOG_DECAY, s, LAYERED_LENGTH,
                                            v->log_decay[l] + row * LAYERED_HEADS, LAYERED_HEADS,
                                            &error),
                     &error);
        gs_assert_ok(gs_trace_append_memory(writer, l, GS_MEMORY_WRITE_STRENGTH, s, LAYERED_LENGTH,
                                            v->write_strength[l] + row * LAYERED_HEADS,
                                            LAYERED_HEADS, &error),
                     &error);
    }
    gs_assert_ok(gs_trace_append_token(writer, s, LAYERED_LENGTH, v->token + row, &error), &error);
    gs_assert_ok(gs_trace_append_nll(writer, s, LAYERED_LENGTH, v->nll + row, &error), &error);
}

const char *layered_write(const char *name, const struct layered *how,
                          struct layered_values *values) {
    struct layered_values *own = values ? values : gs_calloc(1, sizeof *own);
    struct gs_trace_stream streams[LAYERED_STREAMS] = {0};
    struct gs_trace_memory memories[LAYERED_LAYERS] = {0};
    struct gs_trace_writer *writer;
    struct gs_error error;
    if (!own) abort();
    fill(how, own);
    for (size_t s = 0; s < LAYERED_STREAMS; s++) {
        streams[s].width = LAYERED_WIDTH;
        snprintf(streams[s].name, sizeof streams[s].name, "%s", layered_names[s]);
        snprintf(streams[s].dtype, sizeof streams[s].dtype, "float32");
    }
    for (size_t l = 0; l < LAYERED_LAYERS; l++) {
        memories[l] = (struct gs_trace_memory){
            .rule = "gated_delta", .heads = LAYERED_HEADS, .has = {true, true, false}};
        snprintf(memories[l].name, sizeof memories[l].name, "%s", layered_names[l]);
    }
    struct gs_trace_plan plan = {.labels = {.model = "gdn",
                                            .config = how->config,
                                            .checkpoint_sha256 = how->checkpoint_sha256,
                                            .source_sha256 = "text",
                                            .step = -1,
                                            .seed = -1,
                                            .threads = -1},
                                 .sequences = LAYERED_SEQUENCES,
                                 .start = own->start,
                                 .token = true,
                                 .nll = true,
                                 .nll_first = 1,
                                 .stream_count = LAYERED_STREAMS,
                                 .streams = streams,
                                 .memory_count = LAYERED_LAYERS,
                                 .memories = memories};
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_trace_writer_create(path, true, &plan, &writer, &error), &error);
    for (size_t s = 0; s < LAYERED_SEQUENCES; s++) write_sequence(writer, own, s);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    if (own != values) gs_free(own);
    return path;
}

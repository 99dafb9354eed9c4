#include "tests/analyses/verify/traces.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SEQUENCES = 12,
    LENGTH = 260,
    ROWS = SEQUENCES * LENGTH,
    D = GS_PLANTED_DIMS,
    H = GS_PLANTED_HEADS
};

struct numbers {
    float state[ROWS * D], gamma[ROWS * H];
    uint32_t token[ROWS];
};

static void seed_random(struct gs_random *random, const struct gs_planted *plan, const char *what) {
    char stream[64];
    snprintf(stream, sizeof stream, "%s/%lld/%lld", what, (long long)plan->seed,
             (long long)(plan->step > 0));
    gs_random_seed(random, 20261130, stream);
}

/* Normal states, the same for all models or the model's own, in a basis of its own (a reflection),
 * about a mean. */
static void fill_states(const struct gs_planted *plan, float *state) {
    struct gs_random states, basis;
    double v[D], square = 0;
    gs_random_seed(&states, 7, "states of all");
    if (plan->own_states) seed_random(&states, plan, "states");
    seed_random(&basis, plan, "basis");
    for (size_t j = 0; j < D; j++) {
        v[j] = gs_random_normal(&basis);
        square += v[j] * v[j];
    }
    for (size_t i = 0; i < ROWS; i++) {
        double x[D], dot = 0;
        for (size_t j = 0; j < D; j++) {
            x[j] = gs_random_normal(&states);
            dot += x[j] * v[j];
        }
        for (size_t j = 0; j < D; j++)
            state[i * D + j] = (float)(x[j] - 2 * v[j] * dot / square + plan->mean);
    }
}

static double efold_of(const struct gs_planted *plan, struct gs_random *random, size_t head) {
    if (!plan->pools) return exp(log(300) * ((double)head + gs_random_uniform(random)) / H);
    return head < 6 ? 2 * exp(0.35 * gs_random_normal(random))
                    : 60 * exp(0.8 * gs_random_normal(random));
}

static void fill_gates(const struct gs_planted *plan, float *gamma) {
    struct gs_random random;
    seed_random(&random, plan, "gates");
    for (size_t h = 0; h < H; h++) {
        double efold = fmax(efold_of(plan, &random, h), 1);
        for (size_t i = 0; i < ROWS; i++) gamma[i * H + h] = (float)(-1 / efold);
    }
}

static void append(struct gs_trace_writer *writer, const struct gs_planted *plan,
                   const struct numbers *n) {
    struct gs_error error;
    for (size_t s = 0; s < SEQUENCES; s++) {
        size_t row = s * LENGTH;
        gs_assert_ok(gs_trace_append_state(writer, 0, s, LENGTH, n->state + row * D, D, &error),
                     &error);
        gs_assert_ok(gs_trace_append_token(writer, s, LENGTH, n->token + row, &error), &error);
        if (!plan->no_memory)
            gs_assert_ok(gs_trace_append_memory(writer, 0, GS_MEMORY_LOG_DECAY, s, LENGTH,
                                                n->gamma + row * H, H, &error),
                         &error);
    }
}

static struct gs_trace_labels labels_of(const struct gs_planted *plan, char checkpoint[65]) {
    snprintf(checkpoint, 65, "%032llx%032llx", (unsigned long long)(plan->seed + 1),
             (unsigned long long)(plan->step + 1));
    return (struct gs_trace_labels){
        .model = "gpn_m",
        .config = plan->config
                      ? plan->config
                      : "{\"kind\": \"gpn_m\", \"model\": {\"d_state\": 8, \"n_heads\": 15}}",
        .checkpoint_sha256 = plan->checkpoint ? plan->checkpoint : checkpoint,
        .tokenizer_sha256 = plan->tokenizer ? plan->tokenizer : "aa",
        .step = plan->step,
        .seed = plan->seed,
        .threads = -1};
}

const char *gs_planted_trace(const char *name, const struct gs_planted *plan) {
    struct gs_error error;
    const char *path = gs_scratch_path("%s", name);
    char *folder = gs_path_folder(path), checkpoint[65];
    struct numbers *n = gs_calloc(1, sizeof *n);
    uint64_t start[SEQUENCES + 1];
    assert_non_null(n);
    gs_assert_ok(gs_folder_create(folder, &error), &error);
    gs_free(folder);
    for (size_t s = 0; s <= SEQUENCES; s++) start[s] = s * LENGTH;
    for (uint32_t i = 0; i < ROWS; i++) n->token[i] = plan->first_token + i % 50;
    fill_states(plan, n->state);
    fill_gates(plan, n->gamma);
    const struct gs_trace_stream stream = {"predicted", D, "float32"};
    struct gs_trace_memory memory = {.name = "memory", .heads = H};
    memory.has[GS_MEMORY_LOG_DECAY] = true;
    const struct gs_trace_plan trace = {.labels = labels_of(plan, checkpoint),
                                        .sequences = SEQUENCES,
                                        .start = start,
                                        .token = true,
                                        .stream_count = 1,
                                        .streams = &stream,
                                        .memory_count = !plan->no_memory,
                                        .memories = &memory};
    struct gs_trace_writer *writer;
    gs_assert_ok(gs_trace_writer_create(path, false, &trace, &writer, &error), &error);
    append(writer, plan, n);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_free(n);
    return path;
}

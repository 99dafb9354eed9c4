/* What recording costs over the forward pass alone: the same model on the same windows, forward
 * alone and forward with every stream and gate into a trace in turns, batch after batch, so that
 * what else the machine does meets both alike.
 *
 *     bench_recording [FOLDER [d e f H dk dv V B T WINDOWS]]      a GPN+M
 *     bench_recording FOLDER KIND [KEY=VALUE …]        any kind: keys of its config's model object,
 *                                                      and batch, length, windows
 *
 * Without sizes: the three models of ../shared/spec/performance.md, the paper's last. "cost" is the
 * time with recording (the file made, flushed and closed, too) over the time without, of a round
 * over all windows. */
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/models/model.h"
#include "probes/trace/recorder.h"
#include "tests/bench/bench.h"
#include "tests/bench/profile.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 7, PIECE = 1024 * 1024 };

/* What is run: a model by its config, and windows of it. */
struct asked {
    const char *kind;
    struct gs_json *model;
    size_t batch, length, windows;
};

struct bench {
    struct asked sizes;
    struct gs_model *model;
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_recorder *recorder;
    uint32_t *tokens; /* (windows, length) */
    float *nll;       /* (batch, length) */
    char path[4096];
};

/* ---- making ---- */

static void make_bench(struct bench *bench) {
    const struct asked *s = &bench->sizes;
    struct gs_error error;
    struct gs_random random;
    size_t count;
    bench_must(gs_model_create(s->kind, s->model, &bench->model, &error), &error);
    gs_parameters_initialise(gs_model_parameters(bench->model), 1);
    struct gs_runner_options options = {.batch = s->batch, .steps = s->length};
    bench_must(gs_runner_create(bench->model, &options, &bench->runner, &error), &error);
    bench_must(gs_state_create(bench->model, s->batch, &bench->state, &error), &error);
    const struct gs_channel *channels = gs_model_channels(bench->model, &count);
    struct gs_recorder_choice choice = {NULL, NULL};
    bench_must(gs_recorder_create(channels, count, &choice, &bench->recorder, &error), &error);
    bench->tokens = gs_calloc(s->windows * s->length, sizeof *bench->tokens);
    bench->nll = gs_calloc(s->batch * s->length, sizeof *bench->nll);
    if (!bench->tokens || !bench->nll) exit(3);
    gs_random_seed(&random, 1, "bench");
    for (size_t i = 0; i < s->windows * s->length; i++)
        bench->tokens[i] = (uint32_t)gs_random_below(&random, gs_model_vocab(bench->model));
}

static void free_bench(struct bench *bench) {
    gs_recorder_destroy(bench->recorder);
    gs_state_destroy(bench->state);
    gs_runner_destroy(bench->runner);
    gs_model_destroy(bench->model);
    gs_free(bench->tokens);
    gs_free(bench->nll);
}

/* ---- taps ---- */

/* A tap that passes blocks on, or does not, and counts the time it is called for. */
struct watch {
    const struct gs_tap *next;
    double seconds;
};

static enum gs_status watch_take(void *context, const struct gs_tap_block *block,
                                 struct gs_error *error) {
    struct watch *watch = context;
    if (!watch->next) return GS_OK;
    double began = bench_now();
    enum gs_status status = watch->next->take(watch->next->context, block, error);
    watch->seconds += bench_now() - began;
    return status;
}

/* A batch of windows from `first` on through the model; the writer's part only when there is one.
 * Seconds. */
static double run_batch(struct bench *bench, size_t first, const struct gs_tap *tap,
                        struct gs_trace_writer *writer, double *rest) {
    const struct asked *s = &bench->sizes;
    const uint32_t *ids = bench->tokens + first * s->length;
    struct gs_error error;
    double began = bench_now();
    gs_state_reset(bench->state);
    if (writer) gs_recorder_window(bench->recorder, first, NULL);
    bench_must(gs_runner_forward(bench->runner, bench->state, ids, NULL, s->length, tap, bench->nll,
                                 &error),
               &error);
    if (!writer) return bench_now() - began;
    double forward = bench_now();
    for (size_t b = 0; b < s->batch; b++) {
        bench_must(gs_trace_append_token(writer, first + b, s->length, ids + b * s->length, &error),
                   &error);
        bench_must(
            gs_trace_append_nll(writer, first + b, s->length, bench->nll + b * s->length, &error),
            &error);
    }
    bench_must(gs_trace_writer_flush_if_due(writer, &error), &error);
    double end = bench_now();
    *rest += end - forward;
    return end - began;
}

/* Seconds of one round over all windows. `alone`: forward; `unheard`: gates and norms are computed
 * and handed over, and nobody takes them; `whole`: recording, of which the rest are parts. */
struct times {
    double alone, unheard, whole, open, taking, rest, close;
};

static struct gs_trace_writer *open_trace(struct bench *bench) {
    const struct asked *s = &bench->sizes;
    struct gs_error error;
    struct gs_trace_writer *writer;
    uint64_t *start = gs_calloc(s->windows + 1, sizeof *start);
    for (size_t i = 0; i <= s->windows; i++) start[i] = i * s->length;
    struct gs_trace_plan plan = {.sequences = s->windows,
                                 .start = start,
                                 .token = true,
                                 .nll = true,
                                 .nll_first = gs_model_first(bench->model)};
    gs_recorder_plan(bench->recorder, &plan);
    bench_must(gs_trace_writer_create(bench->path, false, &plan, &writer, &error), &error);
    gs_recorder_attach(bench->recorder, writer);
    gs_free(start);
    return writer;
}

static double run_alone(struct bench *bench) {
    double seconds = 0;
    for (size_t first = 0; first < bench->sizes.windows; first += bench->sizes.batch)
        seconds += run_batch(bench, first, NULL, NULL, NULL);
    return seconds;
}

/* `alone`: the other two ways as well, batch by batch. */
static struct times run_recording(struct bench *bench, bool alone) {
    const struct gs_tap *tap = gs_recorder_tap(bench->recorder);
    struct watch watch = {tap, 0}, nobody = {NULL, 0};
    struct gs_tap watched = {&watch, tap->wanted, watch_take};
    struct gs_tap deaf = {&nobody, tap->wanted, watch_take};
    struct times times = {0};
    struct gs_error error;
    unlink(bench->path);
    double began = bench_now();
    struct gs_trace_writer *writer = open_trace(bench);
    times.open = bench_now() - began;
    for (size_t first = 0; first < bench->sizes.windows; first += bench->sizes.batch) {
        if (alone) {
            times.alone += run_batch(bench, first, NULL, NULL, NULL);
            times.unheard += run_batch(bench, first, &deaf, NULL, NULL);
        }
        times.whole += run_batch(bench, first, &watched, writer, &times.rest);
    }
    began = bench_now();
    bench_must(gs_trace_writer_close(writer, &error), &error);
    times.close = bench_now() - began;
    times.whole += times.open + times.close;
    times.taking = watch.seconds;
    return times;
}

/* ---- the limit of the disk ---- */

/* write() of as many bytes as the trace has, in pieces of 1 MiB, and fsync. */
static double plain_write(struct bench *bench, size_t size) {
    unsigned char *piece = gs_calloc(PIECE, 1);
    unlink(bench->path);
    double began = bench_now();
    int file = open(bench->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t left = size; left > 0;) {
        ssize_t done = write(file, piece, left < PIECE ? left : PIECE);
        if (done <= 0) exit(3);
        left -= (size_t)done;
    }
    fsync(file);
    close(file);
    double seconds = bench_now() - began;
    gs_free(piece);
    return seconds;
}

static size_t file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

/* ---- one model ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of one field of all rounds, or of its share of the forward alone. */
static double median(const struct times *rounds, size_t field, bool share) {
    double values[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(&values[i], (const char *)&rounds[i] + field, sizeof *values);
        if (share) values[i] /= rounds[i].alone;
    }
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void part(const char *name, const struct times *rounds, size_t field, double less) {
    printf("  %-44s %7.3f s %6.1f %%\n", name,
           median(rounds, field, false) -
               less * median(rounds, offsetof(struct times, alone), false),
           100 * (median(rounds, field, true) - less));
}

static void report(const struct bench *bench, const struct times *rounds, size_t size,
                   double plain) {
    const struct asked *s = &bench->sizes;
    const size_t whole = offsetof(struct times, whole);
    double rows = (double)(s->windows * s->length), megabytes = (double)size / 1e6;
    double forward = median(rounds, offsetof(struct times, alone), false);
    double seconds = median(rounds, whole, false);
    double least = 1e30, most = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double cost = rounds[i].whole / rounds[i].alone - 1;
        if (cost < least) least = cost;
        if (cost > most) most = cost;
    }
    char *config = gs_json_text(s->model, 0);
    printf("%s %s: %zu windows of %zu, %zu side by side, %d threads\n", s->kind, config, s->windows,
           s->length, s->batch, gs_threads_get());
    gs_free(config);
    printf("  forward alone %.0f rows/s, with recording %.0f rows/s, %.0f MB, %.0f MB/s; write() "
           "%.0f MB/s\n",
           rows / forward, rows / seconds, megabytes, megabytes / seconds, megabytes / plain);
    printf("  cost of recording: median of %d rounds %.1f %% (%.1f … %.1f)\n", ROUNDS,
           100 * (median(rounds, whole, true) - 1), 100 * least, 100 * most);
    part("norms and shares (forward with a deaf tap)", rounds, offsetof(struct times, unheard), 1);
    part("rows taken: checked, copied, written", rounds, offsetof(struct times, taking), 0);
    part("tokens, losses, flushes", rounds, offsetof(struct times, rest), 0);
    part("file made", rounds, offsetof(struct times, open), 0);
    part("file closed", rounds, offsetof(struct times, close), 0);
    printf("  %-44s %7.3f s %6.1f %%\n", "write() and fsync of the same bytes", plain,
           100 * plain / forward);
}

static void measure(const char *folder, const struct asked *sizes) {
    struct bench bench = {.sizes = *sizes};
    snprintf(bench.path, sizeof bench.path, "%s/bench-recording.tmp", folder);
    make_bench(&bench);
    struct times rounds[ROUNDS];
    double plain = 1e30;
    size_t size = 0;
    run_alone(&bench); /* memory is there */
    for (int round = 0; round < ROUNDS; round++) {
        rounds[round] = run_recording(&bench, true);
        size = file_size(bench.path);
        double seconds = plain_write(&bench, size);
        if (seconds < plain) plain = seconds;
    }
    report(&bench, rounds, size, plain);
    bench_profile_begin();
    bench_profile_end("  forward", run_alone(&bench));
    bench_profile_begin();
    bench_profile_end("  recording", run_recording(&bench, false).whole);
    unlink(bench.path);
    free_bench(&bench);
}

/* ---- arguments ---- */

static void set(struct gs_json *config, const char *key, const char *value) {
    if (strchr(value, '.'))
        gs_json_set(config, key, gs_json_new_number(strtod(value, NULL)));
    else
        gs_json_set(config, key, gs_json_new_integer(strtoll(value, NULL, 10)));
}

/* Ten numbers of a GPN+M, as many as there are in `numbers`. */
static struct asked of_numbers(const char *const *numbers, size_t count) {
    static const char *const keys[] = {"d_state", "d_emb", "d_ffn",     "n_heads",
                                       "d_key",   "d_val", "vocab_size"};
    static const char *const usual[] = {"256", "128", "688", "8", "32", "64", "1024"};
    struct asked asked = {"gpn_m", gs_json_new_object(), 16, 512, 32};
    size_t *const rest[] = {&asked.batch, &asked.length, &asked.windows};
    for (size_t i = 0; i < 7; i++) set(asked.model, keys[i], i < count ? numbers[i] : usual[i]);
    for (size_t i = 7; i < count && i < 10; i++) *rest[i - 7] = strtoul(numbers[i], NULL, 10);
    return asked;
}

static struct asked of_words(const char *kind, char **words, int count) {
    static const char *const names[] = {"batch", "length", "windows"};
    struct asked asked = {kind, gs_json_new_object(), 16, 256, 32};
    size_t *const fields[] = {&asked.batch, &asked.length, &asked.windows};
    for (int i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (!value) continue;
        *value++ = '\0';
        size_t own = 0;
        while (own < 3 && strcmp(words[i], names[own]) != 0) own++;
        if (own < 3)
            *fields[own] = strtoul(value, NULL, 10);
        else
            set(asked.model, words[i], value);
    }
    return asked;
}

static void run(const char *folder, struct asked asked) {
    asked.windows = (asked.windows + asked.batch - 1) / asked.batch * asked.batch;
    measure(folder, &asked);
    gs_json_destroy(asked.model);
}

int main(int argc, char **argv) {
    static const char *const models[][10] = {
        {"256", "128", "688", "8", "32", "64", "1024", "32", "256", "384"},
        {"768", "256", "2048", "8", "64", "128", "4096", "32", "256", "64"},
        {"2496", "768", "6656", "15", "128", "256", "32000", "16", "64", "16"}};
    const char *folder = argc > 1 ? argv[1] : ".";
    if (argc > 2 && (argv[2][0] < '0' || argv[2][0] > '9'))
        run(folder, of_words(argv[2], argv + 3, argc - 3));
    else if (argc > 2)
        run(folder, of_numbers((const char *const *)argv + 2, (size_t)argc - 2));
    else
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
            run(folder, of_numbers(models[i], 10));
    return 0;
}

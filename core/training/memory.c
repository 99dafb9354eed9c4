#include "core/training/memory.h"

#include "core/base/environment.h"
#include "core/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What products add when they begin: code, stacks, and the part of OpenBLAS's blocks that packing
 * touches; all together, and for each thread. Measured; it matters for tiny models alone. */
enum { SHARED_BYTES = 1 << 20, THREAD_BYTES = 1 << 18 };

struct gs_training_setting gs_training_setting_of(const struct gs_training_config *config) {
    return (struct gs_training_setting){.batch_size = config->batch_size,
                                        .grad_accum = config->grad_accum,
                                        .seq_len = config->seq_len,
                                        .truncate_bptt = config->truncate_bptt,
                                        .recompute_every = config->recompute_every,
                                        .bf16 = config->bf16};
}

struct gs_micro_batch_options
gs_training_micro_batch_options(const struct gs_training_setting *setting) {
    return (struct gs_micro_batch_options){.batch = setting->batch_size,
                                           .predicted = setting->seq_len,
                                           .truncate = setting->truncate_bptt,
                                           .recompute_every = setting->recompute_every,
                                           .bf16 = setting->bf16};
}

void gs_training_memory_predict(const struct gs_model *model,
                                const struct gs_training_setting *setting, size_t held,
                                struct gs_training_memory *memory) {
    enum { COPIES = 4 }; /* parameters, gradients, two moments */
    const struct gs_micro_batch_options options = gs_training_micro_batch_options(setting);
    memory->program = held + SHARED_BYTES + (size_t)gs_threads_get() * THREAD_BYTES;
    memory->batch = gs_micro_batch_bytes(model, &options);
    if (!gs_multiply(gs_model_parameters(model)->stride, COPIES * sizeof(float),
                     &memory->parameters))
        memory->parameters = SIZE_MAX;
    size_t total = memory->program;
    bool good = gs_add(total, memory->parameters, &total) && gs_add(total, memory->batch, &total);
    memory->total = good ? total : SIZE_MAX;
}

/* ---- a setting that fits --------------------------------------------------------------------- */

struct search {
    const struct gs_model *model;
    const struct gs_training_setting *asked;
    bool resuming;
    size_t held, most;
};

static bool fits(const struct search *search, const struct gs_training_setting *setting) {
    struct gs_training_memory memory;
    gs_training_memory_predict(search->model, setting, search->held, &memory);
    return memory.total <= search->most;
}

/* The setting as it is, else with segments as long as fit: a piece cut into 2, 3, … segments. */
static bool fit_segments(const struct search *search, struct gs_training_setting *setting) {
    if (fits(search, setting)) return true;
    const struct gs_training_setting before = *setting;
    bool cut = setting->truncate_bptt > 0 && setting->truncate_bptt < setting->seq_len;
    size_t piece = cut ? setting->truncate_bptt : setting->seq_len, segments = 1;
    while (segments < piece) {
        segments += 1 + segments / 16; /* each number at first, then about 6 % more */
        size_t every = (piece + segments - 1) / segments;
        bool asked = before.recompute_every > 0 && before.recompute_every <= every;
        setting->recompute_every = every;
        if (!asked && fits(search, setting)) return true;
    }
    *setting = before;
    return false;
}

/* Batches cut into 1, 2, … equal parts, which become micro-batches. */
static bool fit_batches(const struct search *search, struct gs_training_setting *setting) {
    const struct gs_training_setting before = *setting;
    for (size_t parts = 1; parts <= before.batch_size; parts++) {
        if (before.batch_size % parts) continue;
        if (parts > 1 && search->resuming) break;
        if (!gs_multiply(before.grad_accum, parts, &setting->grad_accum)) break;
        setting->batch_size = before.batch_size / parts;
        if (fits(search, setting) || fit_segments(search, setting)) return true;
    }
    *setting = before;
    return false;
}

bool gs_training_setting_find(const struct gs_model *model,
                              const struct gs_training_setting *setting, bool resuming, size_t held,
                              size_t most, struct gs_training_setting *fitting) {
    const struct search search = {model, setting, resuming, held, most};
    bool whole = gs_model_state_floats(model) == 0; /* its gradient cannot be cut in a window */
    *fitting = *setting;
    if (fit_batches(&search, fitting)) return true;
    if (whole && resuming) return false;
    size_t *length = whole ? &fitting->seq_len : &fitting->truncate_bptt;
    *length = *length ? *length : fitting->seq_len;
    while (*length > 1) {
        *length /= 2;
        fitting->recompute_every = 0;
        if (fit_batches(&search, fitting)) return true;
    }
    if (!resuming) fitting->batch_size = 1; /* of what was tried, the smallest */
    return false;
}

/* ---- saying so ------------------------------------------------------------------------------- */

static void add_set(char *text, size_t size, const char *key, size_t before, size_t after) {
    size_t used = strlen(text);
    if (before != after && used < size)
        snprintf(text + used, size - used, "--set training.%s=%zu ", key, after);
}

static const char *what_changes(const struct gs_training_setting *from,
                                const struct gs_training_setting *to) {
    if (from->truncate_bptt != to->truncate_bptt) return "but cuts the gradient";
    if (from->seq_len != to->seq_len) return "but sees less at a time";
    if (from->batch_size != to->batch_size) return "with the same sums, rounded otherwise";
    return "with the same result";
}

static void suggest(const struct gs_model *model, const struct gs_training_config *config,
                    bool resuming, size_t most, struct gs_error *error) {
    const struct gs_training_setting asked = gs_training_setting_of(config);
    struct gs_training_setting fitting;
    size_t held = gs_memory_resident();
    struct gs_training_memory memory;
    if (!gs_training_setting_find(model, &asked, resuming, held, most, &fitting)) {
        gs_training_memory_predict(model, &fitting, held, &memory);
        gs_error_next(error,
                      "no shorter segment, smaller batch or shorter piece fits: the smallest takes "
                      "%.0f MB; a smaller model would, or --ignore-memory trains all the same",
                      (double)memory.total / 1e6);
        return;
    }
    char sets[200] = "";
    add_set(sets, sizeof sets, "batch_size", asked.batch_size, fitting.batch_size);
    add_set(sets, sizeof sets, "grad_accum", asked.grad_accum, fitting.grad_accum);
    add_set(sets, sizeof sets, "seq_len", asked.seq_len, fitting.seq_len);
    add_set(sets, sizeof sets, "truncate_bptt", asked.truncate_bptt, fitting.truncate_bptt);
    add_set(sets, sizeof sets, "checkpoint_every", asked.recompute_every, fitting.recompute_every);
    gs_training_memory_predict(model, &fitting, held, &memory);
    gs_error_next(error, "%stakes %.0f MB %s; --ignore-memory does not look", sets,
                  (double)memory.total / 1e6, what_changes(&asked, &fitting));
}

enum gs_status gs_training_memory_check(const struct gs_model *model,
                                        const struct gs_training_config *config, bool resuming,
                                        const struct gs_memory_room *room,
                                        struct gs_training_memory *memory, struct gs_error *error) {
    enum { SPARE = 20 }; /* of a setting that is proposed one twentieth stays free */
    const struct gs_training_setting setting = gs_training_setting_of(config);
    size_t held = gs_memory_resident(), most;
    gs_training_memory_predict(model, &setting, held, memory);
    if (!gs_add(held, room->bytes, &most) || memory->total <= most) return GS_OK;
    gs_fail(error, GS_NO_MEMORY, "this training would not fit into memory");
    gs_error_expected(error, "at most %.0f MB, limited by %s", (double)most / 1e6, room->limit);
    gs_error_found(error,
                   "%.0f MB: %.0f MB of parameters, gradients and moments, %.0f MB of weights and "
                   "activations for %zu x %zu tokens, %.0f MB of the program",
                   (double)memory->total / 1e6, (double)memory->parameters / 1e6,
                   (double)memory->batch / 1e6, setting.batch_size, setting.seq_len,
                   (double)memory->program / 1e6);
    gs_error_where(error, "%s", config->source);
    suggest(model, config, resuming, most - room->bytes / SPARE, error);
    return GS_NO_MEMORY;
}

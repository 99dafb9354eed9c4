#include "core/evaluation/lambada.h"

#include "core/base/memory.h"
#include "core/evaluation/loss.h"
#include "core/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* Texts of about equal length run side by side; each keeps its own result, and sums are taken in
 * the order of the file, so neither order nor batch shows in a number. Only the states that predict
 * a last word's subwords are decoded: with a large vocabulary the others would be much work. */
enum { DECODE_ROWS = 48 };

struct work {
    struct gs_model *model;
    const struct gs_lambada_examples *examples;
    struct gs_lambada *lambada;
    const struct gs_progress *progress;
    struct gs_runner *runner;
    size_t batch, first, vocab, width, channel;
    size_t *order;     /* (examples): longest first */
    bool *wanted;      /* (channels) */
    uint32_t *ids;     /* (batch, longest) */
    size_t *lengths;   /* (batch) */
    size_t *rows;      /* (batch + 1): where each text's states begin below, and where all end */
    float *states;     /* (rows, width): each text's last word, subword by subword */
    uint32_t *targets; /* (rows) */
    float *nll;        /* (rows) */
    bool *hit;         /* (rows): the target is the most probable token */
    float *logits;     /* (DECODE_ROWS, vocab) */
    size_t count;      /* texts in the present batch */
};

static const struct gs_lambada_example *example_at(const struct work *work, size_t place) {
    return &work->examples->examples[work->order[place]];
}

/* ---- one batch ---- */

static enum gs_status take_states(void *context, const struct gs_tap_block *block,
                                  struct gs_error *error) {
    (void)error;
    struct work *work = context;
    if (block->channel != work->channel) return GS_OK;
    for (size_t i = 0; i < work->count; i++) {
        /* steps whose states decode to the last word: one a subword, the last at `end` - 1 */
        size_t end = work->lengths[i] - work->first;
        size_t step = end - (work->rows[i + 1] - work->rows[i]);
        float *to = work->states + work->rows[i] * work->width;
        for (; step < end; step++, to += work->width) {
            if (step < block->first_step || step - block->first_step >= block->steps) continue;
            memcpy(to,
                   block->values + i * block->batch_stride +
                       (step - block->first_step) * block->step_stride,
                   work->width * sizeof *to);
        }
    }
    return GS_OK;
}

/* Ids behind a text's end are not read; 0 keeps them harmless. */
static size_t fill_batch(struct work *work, size_t place) {
    size_t steps = example_at(work, place)->count; /* the longest of the batch */
    work->rows[0] = 0;
    for (size_t i = 0; i < work->count; i++) {
        const struct gs_lambada_example *example = example_at(work, place + i);
        const size_t subwords = example->count - example->border;
        uint32_t *row = work->ids + i * steps;
        memcpy(row, example->ids, example->count * sizeof *row);
        memset(row + example->count, 0, (steps - example->count) * sizeof *row);
        memcpy(work->targets + work->rows[i], example->ids + example->border,
               subwords * sizeof *row);
        work->lengths[i] = example->count;
        work->rows[i + 1] = work->rows[i] + subwords;
    }
    return steps;
}

static enum gs_status run_forward(struct work *work, size_t steps, struct gs_error *error) {
    struct gs_state *state;
    enum gs_status status = gs_state_create(work->model, work->count, &state, error);
    if (status != GS_OK) return status;
    struct gs_tap tap = {work, work->wanted, take_states};
    status =
        gs_runner_forward(work->runner, state, work->ids, work->lengths, steps, &tap, NULL, error);
    gs_state_destroy(state);
    return status;
}

/* The lowest id wins a tie. */
static uint32_t largest(const float *logits, size_t vocab) {
    size_t best = 0;
    for (size_t id = 1; id < vocab; id++)
        if (logits[id] > logits[best]) best = id;
    return (uint32_t)best;
}

static enum gs_status decode_rows(struct work *work, struct gs_error *error) {
    const size_t rows = work->rows[work->count], vocab = work->vocab;
    for (size_t from = 0; from < rows; from += DECODE_ROWS) {
        size_t count = rows - from < DECODE_ROWS ? rows - from : DECODE_ROWS;
        enum gs_status status =
            gs_runner_decode(work->runner, work->channel, work->states + from * work->width, count,
                             work->logits, error);
        if (status != GS_OK) return status;
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < count; i++) {
            float *logits = work->logits + i * vocab;
            uint32_t target = work->targets[from + i];
            work->hit[from + i] = largest(logits, vocab) == target;
            work->nll[from + i] = gs_kernels()->cross_entropy(logits, vocab, target, false);
        }
    }
    return GS_OK;
}

static enum gs_status judge(struct work *work, size_t place, struct gs_error *error) {
    for (size_t i = 0; i < work->count; i++) {
        size_t index = work->order[place + i];
        double sum = 0;
        for (size_t row = work->rows[i]; row < work->rows[i + 1]; row++)
            sum += (double)work->nll[row];
        if (!isfinite(sum)) {
            gs_fail(error, GS_NUMERIC, "the loss of a LAMBADA example is not finite");
            gs_error_where(error, "example %zu", index + 1);
            gs_error_next(error, "look at the checkpoint with `gpnscope check`");
            return GS_NUMERIC;
        }
        work->lambada->nll[index] = sum;
        work->lambada->hit[index] = work->hit[work->rows[i]];
    }
    return GS_OK;
}

static enum gs_status run_all(struct work *work, struct gs_error *error) {
    size_t total = work->examples->count;
    for (size_t place = 0; place < total; place += work->count) {
        if (place > 0 && gs_progress_stop(work->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped during the evaluation");
        work->count = total - place < work->batch ? total - place : work->batch;
        size_t steps = fill_batch(work, place);
        enum gs_status status = run_forward(work, steps, error);
        if (status == GS_OK) status = decode_rows(work, error);
        if (status == GS_OK) status = judge(work, place, error);
        if (status != GS_OK) return status;
        gs_progress_report(work->progress, (double)(place + work->count), (double)total,
                           "examples");
    }
    return GS_OK;
}

/* ---- around it ---- */

static enum gs_status check_examples(const struct work *work, struct gs_error *error) {
    for (size_t i = 0; i < work->examples->count; i++) {
        const struct gs_lambada_example *example = &work->examples->examples[i];
        if (example->border < work->first) {
            gs_fail(error, GS_RANGE, "a LAMBADA text is too short for this model");
            gs_error_expected(error, "at least %zu tokens before the last word", work->first);
            gs_error_found(error, "%zu", example->border);
            gs_error_where(error, "example %zu", i + 1);
            return GS_RANGE;
        }
        for (size_t t = 0; t < example->count; t++) {
            if (example->ids[t] < work->vocab) continue;
            gs_fail(error, GS_RANGE, "the tokenizer has pieces that the model does not know");
            gs_error_expected(error, "ids below %zu", work->vocab);
            gs_error_found(error, "%lu", (unsigned long)example->ids[t]);
            gs_error_where(error, "example %zu", i + 1);
            gs_error_next(error, "use the tokenizer that the model was trained with");
            return GS_RANGE;
        }
    }
    return GS_OK;
}

/* Longest first: a stable counting sort, so that the order is the same everywhere. */
static enum gs_status set_order(struct work *work, struct gs_error *error) {
    const struct gs_lambada_examples *examples = work->examples;
    size_t *places = gs_calloc(examples->longest + 2, sizeof *places);
    work->order = gs_calloc(examples->count, sizeof *work->order);
    if (!places || !work->order) {
        gs_free(places);
        return gs_fail_memory(error, examples->count * sizeof *places, "an order of texts");
    }
    for (size_t i = 0; i < examples->count; i++)
        places[examples->longest - examples->examples[i].count + 1]++;
    for (size_t i = 1; i <= examples->longest; i++) places[i] += places[i - 1];
    for (size_t i = 0; i < examples->count; i++)
        work->order[places[examples->longest - examples->examples[i].count]++] = i;
    gs_free(places);
    return GS_OK;
}

/* Most last-word subwords in a batch. */
static size_t most_rows(const struct work *work) {
    size_t most = 0, rows = 0, total = work->examples->count;
    for (size_t place = 0; place < total; place++) {
        const struct gs_lambada_example *example = example_at(work, place);
        if (place % work->batch == 0) rows = 0;
        rows += example->count - example->border;
        if (rows > most) most = rows;
    }
    return most;
}

static enum gs_status allocate(struct work *work, struct gs_error *error) {
    const size_t batch = work->batch, rows = most_rows(work);
    size_t channels, tokens, states, logits;
    gs_model_channels(work->model, &channels);
    if (!gs_multiply(batch, work->examples->longest, &tokens) ||
        !gs_multiply(rows, work->width, &states) || !gs_multiply(DECODE_ROWS, work->vocab, &logits))
        return gs_fail_memory(error, SIZE_MAX, "a batch of texts");
    work->wanted = gs_calloc(channels, sizeof *work->wanted);
    work->ids = gs_calloc(tokens, sizeof *work->ids);
    work->lengths = gs_calloc(batch, sizeof *work->lengths);
    work->rows = gs_calloc(batch + 1, sizeof *work->rows);
    work->states = gs_calloc(states, sizeof *work->states);
    work->targets = gs_calloc(rows, sizeof *work->targets);
    work->nll = gs_calloc(rows, sizeof *work->nll);
    work->hit = gs_calloc(rows, sizeof *work->hit);
    work->logits = gs_calloc(logits, sizeof *work->logits);
    work->lambada->nll = gs_calloc(work->examples->count, sizeof *work->lambada->nll);
    work->lambada->hit = gs_calloc(work->examples->count, sizeof *work->lambada->hit);
    work->lambada->subwords = gs_calloc(work->examples->count, sizeof *work->lambada->subwords);
    if (!work->wanted || !work->ids || !work->lengths || !work->rows || !work->states ||
        !work->targets || !work->nll || !work->hit || !work->logits || !work->lambada->nll ||
        !work->lambada->hit || !work->lambada->subwords)
        return gs_fail_memory(error, (states + logits) * sizeof *work->logits, "a batch of texts");
    work->wanted[work->channel] = true;
    return GS_OK;
}

static enum gs_status prepare(struct work *work, bool bf16, struct gs_error *error) {
    work->first = gs_model_first(work->model);
    work->vocab = gs_model_vocab(work->model);
    work->width = gs_model_state_width(work->model);
    work->channel = gs_model_decodable_channel(work->model);
    if (work->batch > work->examples->count) work->batch = work->examples->count;
    enum gs_status status = check_examples(work, error);
    if (status == GS_OK) status = set_order(work, error);
    if (status == GS_OK) status = allocate(work, error);
    if (status != GS_OK) return status;
    struct gs_runner_options options = {
        .batch = work->batch, .steps = work->examples->longest, .bf16 = bf16};
    return gs_runner_create(work->model, &options, &work->runner, error);
}

static void release(struct work *work) {
    gs_runner_destroy(work->runner);
    gs_free(work->order);
    gs_free(work->wanted);
    gs_free(work->ids);
    gs_free(work->lengths);
    gs_free(work->rows);
    gs_free(work->states);
    gs_free(work->targets);
    gs_free(work->nll);
    gs_free(work->hit);
    gs_free(work->logits);
}

static void finish(struct gs_lambada *lambada, const struct gs_lambada_examples *examples) {
    double sum = 0;
    lambada->examples = examples->count;
    lambada->words = examples->words;
    for (size_t i = 0; i < examples->count; i++) {
        sum += lambada->nll[i];
        lambada->correct += lambada->hit[i];
        lambada->subwords[i] = (double)(examples->examples[i].count - examples->examples[i].border);
    }
    lambada->accuracy = (double)lambada->correct / (double)lambada->examples;
    lambada->loss = sum / (double)lambada->words;
    lambada->perplexity = exp(lambada->loss);
    lambada->limits = gs_ratio_limits(lambada->nll, lambada->subwords, lambada->examples);
}

enum gs_status gs_evaluate_lambada(struct gs_model *model,
                                   const struct gs_lambada_examples *examples,
                                   const struct gs_lambada_options *options,
                                   const struct gs_progress *progress, struct gs_lambada **lambada,
                                   struct gs_error *error) {
    *lambada = NULL;
    struct gs_lambada *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "LAMBADA's result");
    struct work work = {.model = model,
                        .examples = examples,
                        .lambada = made,
                        .progress = progress,
                        .batch = options->batch ? options->batch : GS_EVALUATION_BATCH};
    enum gs_status status = prepare(&work, options->bf16, error);
    if (status == GS_OK) status = run_all(&work, error);
    release(&work);
    if (status == GS_OK) {
        finish(made, examples);
        *lambada = made;
    } else {
        gs_lambada_destroy(made);
    }
    return status;
}

void gs_lambada_destroy(struct gs_lambada *lambada) {
    if (!lambada) return;
    gs_free(lambada->nll);
    gs_free(lambada->hit);
    gs_free(lambada->subwords);
    gs_free(lambada);
}

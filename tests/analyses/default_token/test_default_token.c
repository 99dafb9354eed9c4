/* The default token against plain loops in double, with a decoder of a few lines: rms of the state,
 * a projection, the output matrix. Planted answers for the controls. */
#include "analyses/default_token/decoding.h"
#include "analyses/default_token/default_token.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20261129, WIDTH = 12, EMBEDDING = 5, VOCAB = 40, MOST = 80 };

/* ---- a decoder ------------------------------------------------------------------------------ */

struct toy {
    float project[WIDTH][EMBEDDING];
    float output[VOCAB][EMBEDDING];
    float bias[VOCAB];
    float input[VOCAB][EMBEDDING];
    double norms[60]; /* of the last states decoded, in a ring: the random directions come last */
    size_t decoded;
    float bend; /* adds bend · tanh(logit): then logits are no product any more */
};

static void toy_z(const struct toy *t, const float *state, double *z) {
    double square = 0;
    for (size_t i = 0; i < WIDTH; i++) square += (double)state[i] * (double)state[i] / WIDTH;
    for (size_t j = 0; j < EMBEDDING; j++) {
        z[j] = 0;
        for (size_t i = 0; i < WIDTH; i++)
            z[j] += (double)state[i] / sqrt(square + 1e-6) * (double)t->project[i][j];
    }
}

static void toy_output(const struct toy *t, const double *z, float *logits) {
    for (size_t v = 0; v < VOCAB; v++) {
        double sum = (double)t->bias[v];
        for (size_t j = 0; j < EMBEDDING; j++) sum += z[j] * (double)t->output[v][j];
        logits[v] = (float)(sum + (double)t->bend * tanh(3 * sum));
    }
}

static enum gs_status toy_decode(void *context, const float *states, size_t rows, float *logits,
                                 struct gs_error *error) {
    (void)error;
    struct toy *t = context;
    for (size_t r = 0; r < rows; r++) {
        double z[EMBEDDING], square = 0;
        for (size_t i = 0; i < WIDTH; i++)
            square += (double)states[r * WIDTH + i] * (double)states[r * WIDTH + i];
        t->norms[t->decoded++ % 60] = sqrt(square);
        toy_z(t, states + r * WIDTH, z);
        toy_output(t, z, logits + r * VOCAB);
    }
    return GS_OK;
}

static enum gs_status toy_decode_embedding(void *context, const float *vectors, size_t rows,
                                           float *logits, struct gs_error *error) {
    (void)error;
    struct toy straight = *(const struct toy *)context;
    straight.bend = 0;
    for (size_t r = 0; r < rows; r++) {
        double z[EMBEDDING];
        for (size_t j = 0; j < EMBEDDING; j++) z[j] = (double)vectors[r * EMBEDDING + j];
        toy_output(&straight, z, logits + r * VOCAB);
    }
    return GS_OK;
}

static const float *toy_embedding(void *context, uint32_t id) {
    return ((const struct toy *)context)->input[id];
}

static struct gs_decoder decoder_of(struct toy *t) {
    return (struct gs_decoder){WIDTH,        EMBEDDING, VOCAB, t, toy_decode, toy_decode_embedding,
                               toy_embedding};
}

static struct toy make_toy(void) {
    struct toy t = {.bend = 0};
    struct gs_random random;
    gs_random_seed(&random, SEED, "toy");
    for (size_t i = 0; i < WIDTH; i++)
        for (size_t j = 0; j < EMBEDDING; j++)
            t.project[i][j] = (float)(0.4 * gs_random_normal(&random));
    for (size_t v = 0; v < VOCAB; v++) {
        t.bias[v] = (float)(0.1 * gs_random_normal(&random));
        for (size_t j = 0; j < EMBEDDING; j++) {
            t.output[v][j] = (float)gs_random_normal(&random);
            t.input[v][j] = (float)(0.2 + gs_random_normal(&random));
        }
    }
    return t;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct data {
    size_t sequences;
    uint64_t start[MOST], length[MOST], rows;
    float *values;
};

static struct data make_rows(size_t sequences, uint64_t first_length) {
    struct data d = {.sequences = sequences};
    struct gs_random random;
    gs_random_seed(&random, SEED, "states");
    for (size_t s = 0; s < sequences; s++) {
        d.start[s] = d.rows;
        d.length[s] = first_length + s % 5;
        d.rows += d.length[s];
    }
    d.values = gs_calloc((size_t)d.rows * WIDTH, sizeof *d.values);
    for (size_t i = 0; i < (size_t)d.rows * WIDTH; i++)
        d.values[i] = (float)(1 + (double)(i % WIDTH) / 4 + 1.5 * gs_random_normal(&random));
    return d;
}

static struct gs_rows view(const struct data *d) {
    return gs_rows_of_array(d->values, WIDTH, d->sequences, d->start, d->length);
}

static const struct gs_default_options plain = {
    .top = 10, .replicates = 40, .draws = 60, .seed = SEED};

static struct gs_default_token *measure(const struct data *d, struct toy *t, const uint64_t *counts,
                                        const struct gs_default_options *options) {
    struct gs_rows rows = view(d);
    struct gs_decoder decoder = decoder_of(t);
    struct gs_default_token *token;
    struct gs_error error;
    gs_assert_ok(gs_default_token_measure(&rows, &decoder, counts, options, &token, &error),
                 &error);
    return token;
}

static void make_counts(uint64_t *counts) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "counts");
    for (size_t v = 0; v < VOCAB; v++) counts[v] = v % 7 == 3 ? 0 : gs_random_below(&random, 30);
}

/* ---- the plain way --------------------------------------------------------------------------- */

struct naive {
    double score[GS_DECODINGS][VOCAB], probability[GS_DECODINGS][VOCAB];
};

static void softmax(const double *x, double *p) {
    double sum = 0;
    for (size_t v = 0; v < VOCAB; v++) sum += exp(x[v]);
    for (size_t v = 0; v < VOCAB; v++) p[v] = exp(x[v]) / sum;
}

static struct naive decode_plainly(const struct data *d, struct toy *t, const size_t *sequences,
                                   size_t count, uint64_t skip) {
    struct naive n;
    memset(&n, 0, sizeof n);
    double mean[WIDTH] = {0}, rows = 0;
    for (size_t i = 0; i < count; i++) {
        size_t s = sequences ? sequences[i] : i;
        for (uint64_t r = skip; r < d->length[s]; r++) {
            const float *state = d->values + (d->start[s] + r) * WIDTH;
            float logits[VOCAB];
            double wide[VOCAB], p[VOCAB];
            toy_decode(t, state, 1, logits, NULL);
            for (size_t v = 0; v < VOCAB; v++) wide[v] = (double)logits[v];
            softmax(wide, p);
            for (size_t c = 0; c < WIDTH; c++) mean[c] += (double)state[c];
            for (size_t v = 0; v < VOCAB; v++) {
                n.score[GS_DECODING_MEAN_LOGITS][v] += wide[v];
                n.probability[GS_DECODING_MEAN_PROBS][v] += p[v];
            }
            rows++;
        }
    }
    float state[WIDTH], logits[VOCAB];
    for (size_t c = 0; c < WIDTH; c++) state[c] = (float)(mean[c] / rows);
    toy_decode(t, state, 1, logits, NULL);
    for (size_t v = 0; v < VOCAB; v++) {
        n.score[GS_DECODING_MEAN_STATE][v] = (double)logits[v];
        n.score[GS_DECODING_MEAN_LOGITS][v] /= rows;
        n.probability[GS_DECODING_MEAN_PROBS][v] /= rows;
        n.score[GS_DECODING_MEAN_PROBS][v] = log(n.probability[GS_DECODING_MEAN_PROBS][v]);
    }
    softmax(n.score[GS_DECODING_MEAN_STATE], n.probability[GS_DECODING_MEAN_STATE]);
    softmax(n.score[GS_DECODING_MEAN_LOGITS], n.probability[GS_DECODING_MEAN_LOGITS]);
    return n;
}

/* Spearman over the tokens with a count, ranks by counting. */
static double spearman(const double *score, const uint64_t *counts) {
    double n = 0, x[VOCAB], y[VOCAB], mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    size_t k = 0;
    for (size_t i = 0; i < VOCAB; i++) {
        if (!counts[i]) continue;
        x[k] = y[k] = 1;
        for (size_t j = 0; j < VOCAB; j++) {
            if (!counts[j]) continue;
            x[k] += score[j] < score[i] ? 1 : j != i && !(score[j] > score[i]) ? 0.5 : 0;
            y[k] += counts[j] < counts[i] ? 1 : j != i && counts[j] == counts[i] ? 0.5 : 0;
        }
        mx += x[k], my += y[k], n++, k++;
    }
    for (size_t i = 0; i < k; i++) {
        double a = x[i] - mx / n, b = y[i] - my / n;
        xx += a * a, yy += b * b, xy += a * b;
    }
    return xy / sqrt(xx * yy);
}

static void near(const char *name, double a, double b, double tolerance) {
    gs_assert_near_at(name, a, b, tolerance, tolerance, __FILE__, __LINE__);
}

static void check_best(const struct gs_default_decoding *d, size_t top) {
    for (size_t v = 0; v < VOCAB; v++) {
        size_t above = 0, place = top;
        for (size_t u = 0; u < VOCAB; u++) above += d->score[u] > d->score[v];
        for (size_t i = 0; i < top; i++)
            if (d->best[i] == v) place = i;
        if (above < top) assert_int_equal(place, above);
    }
}

/* The places by count, largest first and smaller ids first: does `id` have one of the first top? */
static bool is_frequent(const uint64_t *counts, size_t id, size_t top) {
    size_t before = 0;
    for (size_t u = 0; u < VOCAB; u++)
        before += counts[u] > counts[id] || (counts[u] == counts[id] && u < id);
    return before < top;
}

static size_t frequent_overlap(const double *score, const uint64_t *counts, size_t top) {
    size_t shared = 0;
    for (size_t v = 0; v < VOCAB; v++) {
        size_t above = 0;
        for (size_t u = 0; u < VOCAB; u++) above += score[u] > score[v];
        shared += above < top && is_frequent(counts, v, top);
    }
    return shared;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void three_decodings_are_what_plain_loops_give(void **state) {
    (void)state;
    struct toy t = make_toy();
    uint64_t counts[VOCAB];
    make_counts(counts);
    const size_t sequences[] = {1, 2, 9, 70};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t skip = 0; skip < 4; skip += 3) {
            struct data d = make_rows(sequences[i], 6);
            struct gs_default_options options = plain;
            options.skip_first = skip;
            struct gs_default_token *token = measure(&d, &t, counts, &options);
            struct naive n = decode_plainly(&d, &t, NULL, d.sequences, skip);
            assert_int_equal(token->rows, d.rows - skip * d.sequences);
            for (int k = 0; k < GS_DECODINGS; k++) {
                const struct gs_default_decoding *own = &token->decodings[k];
                for (size_t v = 0; v < VOCAB; v++) {
                    near("score", own->score[v], n.score[k][v], 1e-5);
                    near("probability", own->probability[v], n.probability[k][v], 1e-6);
                }
                check_best(own, 10);
                near("spearman", own->spearman, spearman(own->score, counts), 1e-12);
                assert_int_equal(own->interval.known, d.sequences > 1);
                assert_int_equal(own->frequent, frequent_overlap(own->score, counts, 10));
                assert_int_equal(own->frequent_interval.known, d.sequences > 1);
            }
            gs_default_token_destroy(token);
            gs_free(d.values);
        }
}

static void intervals_are_those_of_drawn_sequences(void **state) {
    (void)state;
    enum { SEQUENCES = 11 };
    struct toy t = make_toy();
    struct data d = make_rows(SEQUENCES, 3);
    uint64_t counts[VOCAB];
    make_counts(counts);
    struct gs_default_token *token = measure(&d, &t, counts, &plain);
    double values[GS_DECODINGS][40], frequent[GS_DECODINGS][40];
    for (uint64_t r = 0; r < 40; r++) {
        size_t drawn[SEQUENCES];
        gs_bootstrap_draw(SEED, r, SEQUENCES, drawn);
        struct naive n = decode_plainly(&d, &t, drawn, SEQUENCES, 0);
        for (int k = 0; k < GS_DECODINGS; k++) {
            values[k][r] = spearman(n.score[k], counts);
            frequent[k][r] = (double)frequent_overlap(n.score[k], counts, 10);
        }
    }
    for (int k = 0; k < GS_DECODINGS; k++) {
        struct gs_interval percentile = gs_bootstrap_percentile(values[k], 40);
        const struct gs_default_decoding *own = &token->decodings[k];
        /* rounding may swap two near neighbours' ranks */
        near("low", own->interval.low, tanh(2 * atanh(own->spearman) - atanh(percentile.high)),
             2e-3);
        near("high", own->interval.high, tanh(2 * atanh(own->spearman) - atanh(percentile.low)),
             2e-3);
        percentile = gs_bootstrap_percentile(frequent[k], 40);
        near("low count", own->frequent_interval.low, percentile.low, 1e-12);
        near("high count", own->frequent_interval.high, percentile.high, 1e-12);
    }
    gs_default_token_destroy(token);
    gs_free(d.values);
}

static void the_vector_behind_logits_is_recovered(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(3, 20);
    struct gs_default_token *token = measure(&d, &t, NULL, &plain);
    float mean[WIDTH];
    double z[EMBEDDING], sum[EMBEDDING] = {0}, xx = 0, yy = 0, xy = 0;
    for (size_t c = 0; c < WIDTH; c++) {
        double total = 0;
        for (uint64_t r = 0; r < d.rows; r++) total += (double)d.values[r * WIDTH + c];
        mean[c] = (float)(total / (double)d.rows);
    }
    toy_z(&t, mean, z);
    for (size_t v = 0; v < VOCAB; v++)
        for (size_t j = 0; j < EMBEDDING; j++) sum[j] += (double)t.input[v][j];
    for (size_t j = 0; j < EMBEDDING; j++)
        xx += z[j] * z[j], yy += sum[j] * sum[j], xy += z[j] * sum[j];
    assert_true(token->embedding_residual < 1e-6);
    near("cosine", token->embedding_cosine, xy / sqrt(xx * yy), 1e-6);
    /* the mean embedding's logits, and what they share */
    float vector[EMBEDDING], logits[VOCAB];
    size_t shared = 0;
    for (size_t j = 0; j < EMBEDDING; j++) vector[j] = (float)(sum[j] / VOCAB);
    toy_decode_embedding(&t, vector, 1, logits, NULL);
    for (size_t v = 0; v < VOCAB; v++)
        near("logit", token->embedding.score[v], (double)logits[v], 1e-6);
    check_best(&token->embedding, 10);
    for (size_t i = 0; i < 10; i++)
        for (size_t j = 0; j < 10; j++)
            shared += token->embedding.best[i] == token->decodings[0].best[j];
    assert_int_equal(token->embedding_overlap, shared);
    gs_default_token_destroy(token);
    gs_free(d.values);
}

static void what_cannot_be_recovered_has_a_reason(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(2, 20);
    t.bend = 1;
    struct gs_default_token *token = measure(&d, &t, NULL, &plain);
    assert_true(isnan(token->embedding_cosine));
    assert_non_null(strstr(token->embedding_reason, "no product"));
    gs_default_token_destroy(token);
    t = make_toy();
    for (size_t v = 0; v < VOCAB; v++) t.output[v][1] = 2 * t.output[v][0]; /* rank 4 */
    token = measure(&d, &t, NULL, &plain);
    if (!isnan(token->embedding_cosine))
        fail_msg("cosine %g of a matrix without full rank", token->embedding_cosine);
    assert_non_null(token->embedding_reason);
    gs_default_token_destroy(token);
    struct gs_decoder narrow = decoder_of(&t);
    narrow.vocab = EMBEDDING - 1;
    double z[EMBEDDING], residual;
    float logits[VOCAB] = {0};
    struct gs_error error;
    gs_assert_error(gs_decoder_invert(&narrow, logits, z, &residual, &error), GS_NUMERIC, &error,
                    "at least 5", "found 4");
    gs_free(d.values);
}

/* Counts that follow the logits give 1; counts that do not, a share of shuffles near 1/2. */
static void controls_tell_planted_counts_from_none(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(8, 15);
    struct gs_default_options options = plain;
    options.draws = 400;
    struct gs_default_token *token = measure(&d, &t, NULL, &options);
    uint64_t planted[VOCAB];
    for (size_t v = 0; v < VOCAB; v++) {
        planted[v] = 1;
        for (size_t u = 0; u < VOCAB; u++)
            planted[v] += token->decodings[0].score[u] < token->decodings[0].score[v];
    }
    assert_true(isnan(token->decodings[0].spearman) && isnan(token->random_share));
    assert_true(isnan(token->shuffled_spearman.mean));
    near("overlap is there", token->random_overlap.mean, 2.5, 2);
    gs_default_token_destroy(token);
    token = measure(&d, &t, planted, &options);
    near("spearman", token->decodings[0].spearman, 1, 1e-12);
    near("shuffled", token->decodings[0].shuffled_share, 1.0 / 401, 1e-12);
    near("shuffled mean", token->shuffled_spearman.mean, 0, 0.03);
    /* deviation of Spearman under no relation is 1/√(n − 1) */
    near("shuffled high", token->shuffled_spearman.high, 1.96 / sqrt(VOCAB - 1), 0.06);
    near("shuffled low", token->shuffled_spearman.low, -1.96 / sqrt(VOCAB - 1), 0.06);
    assert_true(token->random_share < 0.05);
    assert_true(token->random_spearman.low < 0 && token->random_spearman.high > 0);
    gs_default_token_destroy(token);
    gs_free(d.values);
}

static void random_directions_have_the_mean_states_norm(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(2, 30);
    struct gs_default_token *token = measure(&d, &t, NULL, &plain);
    double square = 0;
    for (size_t c = 0; c < WIDTH; c++) {
        double sum = 0;
        for (uint64_t r = 0; r < d.rows; r++) sum += (double)d.values[r * WIDTH + c];
        square += pow(sum / (double)d.rows, 2);
    }
    near("mean norm", token->mean_norm, sqrt(square), 1e-12);
    for (size_t i = 0; i < 60; i++) near("drawn norm", t.norms[i], sqrt(square), 1e-6);
    gs_default_token_destroy(token);
    gs_free(d.values);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(9, 20);
    uint64_t counts[VOCAB];
    make_counts(counts);
    struct gs_default_token *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        struct gs_default_token *token = measure(&d, &t, counts, &plain);
        if (!first) {
            first = token;
            continue;
        }
        for (int k = 0; k < GS_DECODINGS; k++) {
            const struct gs_default_decoding *a = &token->decodings[k], *b = &first->decodings[k];
            assert_memory_equal(a->score, b->score, VOCAB * sizeof(double));
            assert_memory_equal(a->probability, b->probability, VOCAB * sizeof(double));
            assert_memory_equal(&a->interval.low, &b->interval.low, sizeof(double));
            assert_memory_equal(&a->shuffled_share, &b->shuffled_share, sizeof(double));
        }
        assert_memory_equal(&token->random_spearman, &first->random_spearman,
                            sizeof token->random_spearman);
        gs_default_token_destroy(token);
    }
    gs_default_token_destroy(first);
    gs_free(d.values);
}

static void wrong_input_is_named(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(2, 5);
    struct gs_rows rows = view(&d);
    struct gs_decoder decoder = decoder_of(&t);
    struct gs_default_options options = plain;
    struct gs_default_token *token;
    struct gs_error error;
    options.skip_first = 50;
    gs_assert_error(gs_default_token_measure(&rows, &decoder, NULL, &options, &token, &error),
                    GS_RANGE, &error, "no state is left", "50");
    rows.width = WIDTH - 1;
    gs_assert_error(gs_default_token_measure(&rows, &decoder, NULL, &plain, &token, &error),
                    GS_SHAPE, &error, "expected 12", "found 11");
    rows = view(&d);
    t.output[17][2] = INFINITY;
    gs_assert_error(gs_default_token_measure(&rows, &decoder, NULL, &plain, &token, &error),
                    GS_NUMERIC, &error, "not finite", "sequence 0");
    gs_free(d.values);
}

static const char *letter(const void *context, uint32_t id) {
    (void)context;
    static char piece[2];
    piece[0] = (char)('A' + id % 26);
    return id < 26 ? piece : NULL;
}

static void everything_is_reported(void **state) {
    (void)state;
    struct toy t = make_toy();
    struct data d = make_rows(4, 12);
    uint64_t counts[VOCAB];
    make_counts(counts);
    struct gs_default_options options = plain;
    options.top = 100; /* more than there are */
    struct gs_default_token *token = measure(&d, &t, counts, &options);
    assert_int_equal(token->top, VOCAB);
    struct gs_results *results = gs_results_create("default");
    struct gs_pieces pieces = {letter, NULL};
    struct gs_error error;
    gs_assert_ok(gs_default_token_report(token, &pieces, results, &error), &error);
    static const char *const names[] = {"default.spearman.mean_state",
                                        "default.spearman.mean_logits",
                                        "default.spearman.mean_probs",
                                        "default.control.mean_embedding.overlap",
                                        "default.control.mean_embedding.cosine",
                                        "default.control.mean_embedding.spearman",
                                        "default.control.random_direction.spearman",
                                        "default.control.random_direction.overlap",
                                        "default.control.random_direction.share",
                                        "default.control.shuffled_counts.spearman",
                                        "default.control.shuffled_counts.share.mean_state"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gs_value value;
        if (!gs_results_find(results, names[i], &value)) fail_msg("no value %s", names[i]);
        if (strcmp(value.status, "ok") != 0) fail_msg("%s is %s", names[i], value.status);
    }
    const struct gs_table *tokens = gs_results_find_table(results, "default_tokens");
    assert_int_equal(gs_table_rows(tokens), 3 * VOCAB);
    double sum = 0;
    for (size_t r = 0; r < VOCAB; r++) {
        uint32_t id = token->decodings[0].best[r];
        assert_string_equal(gs_table_cell(tokens, r, 0).text, "mean_state");
        assert_int_equal(gs_table_cell(tokens, r, 1).integer, (int64_t)r + 1);
        assert_int_equal(gs_table_cell(tokens, r, 2).integer, id);
        if (id < 26)
            assert_string_equal(gs_table_cell(tokens, r, 3).text, letter(NULL, id));
        else
            assert_int_equal(gs_table_cell(tokens, r, 3).type, GS_CELL_NULL);
        sum += gs_table_cell(tokens, r, 4).number;
    }
    near("probabilities", sum, 1, 1e-9);
    assert_int_equal(gs_table_rows(gs_results_find_table(results, "controls")), 11);
    assert_non_null(gs_results_find_table(results, "default_control_tokens"));
    size_t zero = 0, said = 0;
    for (size_t v = 0; v < VOCAB; v++) zero += counts[v] == 0;
    char words[64];
    snprintf(words, sizeof words, "%zu tokens with count 0 are left out", zero);
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        said += strstr(gs_results_note_at(results, i), words) != NULL;
    assert_int_equal(said, 1);
    gs_results_destroy(results);
    gs_default_token_destroy(token);
    gs_free(d.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_decodings_are_what_plain_loops_give),
        cmocka_unit_test(intervals_are_those_of_drawn_sequences),
        cmocka_unit_test(the_vector_behind_logits_is_recovered),
        cmocka_unit_test(what_cannot_be_recovered_has_a_reason),
        cmocka_unit_test(controls_tell_planted_counts_from_none),
        cmocka_unit_test(random_directions_have_the_mean_states_norm),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(wrong_input_is_named),
        cmocka_unit_test(everything_is_reported),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

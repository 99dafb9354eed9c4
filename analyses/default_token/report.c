#include "analyses/default_token/default_token.h"
#include "core/results/replicates.h"

#include <math.h>
#include <stdio.h>

static const char *no_spearman(const struct gs_default_token *t) {
    if (!t->has_counts)
        return "no unigram counts: give --counts DATA, or a trace that holds /token";
    if (t->occurring < 2) return "fewer than two tokens occur";
    return "all counts, or all scores, are the same";
}

static enum gs_status add(struct gs_results *results, const char *name, struct gs_value value,
                          struct gs_error *error) {
    value.status = isnan(value.value) ? "undefined" : "ok";
    if (isnan(value.value)) value.has_interval = false;
    return gs_results_add(results, name, &value, error);
}

/* A value with its replicates. */
static enum gs_status add_measured(const struct gs_default_token *t, struct gs_results *results,
                                   const char *name, struct gs_value value,
                                   const double *replicates, struct gs_error *error) {
    const struct gs_replicates kept = {replicates, replicates ? t->replicates : 0, t->seed,
                                       t->blocks};
    enum gs_status status = add(results, name, value, error);
    return status == GS_OK ? gs_results_add_replicates(results, name, &kept, error) : status;
}

static const char *no_interval(const struct gs_default_token *t) {
    if (t->replicates == 0) return NULL; /* nobody asked */
    if (t->replicates < 2) return "one replicate gives no interval";
    return t->blocks < 2 ? "an interval needs at least 2 sequences"
                         : "too many bootstrap replicates had no value";
}

static enum gs_status add_spearman(const struct gs_default_token *t, struct gs_results *results,
                                   struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < GS_DECODINGS; i++) {
        const struct gs_default_decoding *d = &t->decodings[i];
        char name[64];
        struct gs_value value = {.value = d->spearman,
                                 .unit = "1",
                                 .n = t->occurring,
                                 .has_interval = d->interval.known,
                                 .low = d->interval.low,
                                 .high = d->interval.high,
                                 .reason = d->interval.known ? NULL : no_interval(t)};
        if (isnan(d->spearman)) value.reason = no_spearman(t);
        snprintf(name, sizeof name, "default.spearman.%s", gs_decoding_name((enum gs_decoding)i));
        status = add_measured(t, results, name, value, d->spearman_replicates, error);
    }
    return status;
}

/* Of the top tokens, how many are among the most frequent. */
static enum gs_status add_frequent(const struct gs_default_token *t, struct gs_results *results,
                                   struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < GS_DECODINGS; i++) {
        const struct gs_default_decoding *d = &t->decodings[i];
        char name[64];
        snprintf(name, sizeof name, "default.frequent_overlap.%s",
                 gs_decoding_name((enum gs_decoding)i));
        struct gs_value value = {.value = t->frequent ? (double)d->frequent : (double)NAN,
                                 .unit = "token",
                                 .n = t->top,
                                 .has_interval = d->frequent_interval.known,
                                 .low = d->frequent_interval.low,
                                 .high = d->frequent_interval.high,
                                 .reason = d->frequent_interval.known ? NULL : no_interval(t)};
        if (!t->frequent)
            value.reason = t->has_counts ? "fewer tokens occur than are compared" : no_spearman(t);
        status = add_measured(t, results, name, value, d->frequent_replicates, error);
    }
    return status;
}

/* ---- controls: each once as a value and once as a row of the table --------------------------- */

struct control {
    const char *control, *statistic;
    struct gs_value value;
    struct gs_drawn drawn; /* NaN where the control is no distribution */
    size_t draws;
};

static const struct gs_drawn not_drawn = {(double)NAN, (double)NAN, (double)NAN};

static enum gs_status add_control(struct gs_results *results, struct gs_table *table,
                                  const struct control *c, struct gs_error *error) {
    char name[128];
    snprintf(name, sizeof name, "default.control.%s.%s", c->control, c->statistic);
    enum gs_status status = add(results, name, c->value, error);
    if (status != GS_OK) return status;
    struct gs_cell cells[] = {gs_cell_text(c->control),       gs_cell_text(c->statistic),
                              gs_cell_number(c->value.value), gs_cell_number(c->drawn.low),
                              gs_cell_number(c->drawn.high),  gs_cell_integer((int64_t)c->draws)};
    return gs_table_row(table, cells, error);
}

static struct control fixed(const char *control, const char *statistic, double value,
                            const char *unit, uint64_t n, const char *reason) {
    return (struct control){
        control,
        statistic,
        {.value = value, .unit = unit, .n = n, .reason = isnan(value) ? reason : NULL},
        not_drawn,
        0};
}

static struct control drawn(const char *control, const char *statistic, struct gs_drawn values,
                            const char *unit, size_t draws, const char *reason) {
    struct control c = fixed(control, statistic, values.mean, unit, draws, reason);
    c.drawn = values;
    c.draws = draws;
    return c;
}

static enum gs_status add_controls(const struct gs_default_token *t, struct gs_results *results,
                                   struct gs_error *error) {
    const char *const columns[] = {"control", "statistic", "value", "low", "high", "draws"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, "controls", columns, 6, &table, error);
    const char *none = no_spearman(t), *flat = "all logits are the same";
    const struct gs_default_decoding *d = t->decodings;
    const struct control controls[] = {
        fixed("mean_embedding", "overlap", (double)t->embedding_overlap, "token", t->top, NULL),
        fixed("mean_embedding", "cosine", t->embedding_cosine, "1", t->vocab, t->embedding_reason),
        fixed("mean_embedding", "logit_correlation", t->embedding_logit_correlation, "1", t->vocab,
              flat),
        fixed("mean_embedding", "spearman", t->embedding.spearman, "1", t->occurring, none),
        drawn("random_direction", "overlap", t->random_overlap, "token", t->draws, flat),
        drawn("random_direction", "spearman", t->random_spearman, "1", t->draws, none),
        fixed("random_direction", "share", t->random_share, "1", t->draws, none),
        drawn("shuffled_counts", "spearman", t->shuffled_spearman, "1", t->draws, none),
        fixed("shuffled_counts", "share.mean_state", d[0].shuffled_share, "1", t->draws, none),
        fixed("shuffled_counts", "share.mean_logits", d[1].shuffled_share, "1", t->draws, none),
        fixed("shuffled_counts", "share.mean_probs", d[2].shuffled_share, "1", t->draws, none)};
    for (size_t i = 0; status == GS_OK && i < sizeof controls / sizeof *controls; i++)
        status = add_control(results, table, &controls[i], error);
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static enum gs_status add_tokens(struct gs_table *table, const char *decoding,
                                 const struct gs_default_decoding *d, size_t top,
                                 const struct gs_pieces *pieces, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < top; i++) {
        uint32_t id = d->best[i];
        struct gs_cell cells[] = {gs_cell_text(decoding), gs_cell_integer((int64_t)i + 1),
                                  gs_cell_integer(id),
                                  gs_cell_text(pieces ? pieces->piece(pieces->context, id) : NULL),
                                  gs_cell_number(d->probability[id])};
        status = gs_table_row(table, cells, error);
    }
    return status;
}

static enum gs_status token_tables(const struct gs_default_token *t, const struct gs_pieces *pieces,
                                   struct gs_results *results, struct gs_error *error) {
    const char *const columns[] = {"decoding", "rank", "id", "piece", "probability"};
    const char *const control_columns[] = {"control", "rank", "id", "piece", "probability"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, "default_tokens", columns, 5, &table, error);
    for (int i = 0; status == GS_OK && i < GS_DECODINGS; i++)
        status = add_tokens(table, gs_decoding_name((enum gs_decoding)i), &t->decodings[i], t->top,
                            pieces, error);
    if (status == GS_OK)
        status =
            gs_results_table(results, "default_control_tokens", control_columns, 5, &table, error);
    return status == GS_OK
               ? add_tokens(table, "mean_embedding", &t->embedding, t->top, pieces, error)
               : status;
}

/* ---- words ---------------------------------------------------------------------------------- */

static enum gs_status note_counts(const struct gs_default_token *t, struct gs_results *results,
                                  struct gs_error *error) {
    char text[512];
    if (!t->has_counts) return GS_OK;
    snprintf(
        text, sizeof text,
        "default token: Spearman (average ranks) over the %zu tokens that occur among the %llu "
        "counted; %zu tokens with count 0 are left out, since they have no measured frequency",
        t->occurring, (unsigned long long)t->counted, t->absent);
    return gs_results_note(results, text, error);
}

static enum gs_status note_frequent(const struct gs_default_token *t, struct gs_results *results,
                                    struct gs_error *error) {
    char text[512];
    if (!t->frequent) return GS_OK;
    snprintf(text, sizeof text,
             "default token: frequent_overlap is how many of the %zu top tokens are among the %zu "
             "most frequent (ties by id); by chance that would be %.3g of %zu on average. Its "
             "interval holds the middle 95 %% of bootstrap replicates",
             t->top, t->top, (double)t->top * (double)t->top / (double)t->vocab, t->top);
    return gs_results_note(results, text, error);
}

static enum gs_status note_controls(const struct gs_default_token *t, struct gs_results *results,
                                    struct gs_error *error) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "default token: mean_embedding is the unweighted mean of the %zu input embeddings put "
        "to the output matrix; its cosine is with the vector that the model puts there for the "
        "mean state (recovered from the logits by least squares), its logit_correlation is "
        "Pearson's over the vocabulary; random_direction draws %zu states of the norm "
        "default.mean_norm; low "
        "and high of a drawn control hold the middle 95 %% of draws; share is the part of "
        "draws whose Spearman is at least as far from 0, the observed one counted in",
        t->vocab, t->draws);
    return gs_results_note(results, text, error);
}

static enum gs_status note_interval(const struct gs_default_token *t, struct gs_results *results,
                                    struct gs_error *error) {
    char text[512];
    if (!t->decodings[0].interval.known) return GS_OK;
    snprintf(text, sizeof text,
             "default token: 95 %% intervals of Spearman are basic bootstrap intervals over %zu "
             "blocks of whole sequences, %zu replicates; the blocks weigh as much as "
             "effective_blocks of one size (at least so many independent observations)%s",
             t->blocks, t->replicates,
             t->sequences < GS_BOOTSTRAP_ENOUGH
                 ? "; with fewer than 128 sequences they are too narrow: in simulation they held "
                   "the truth in 0.80 (32 sequences) and 0.85 (64) instead of 0.95"
                 : "");
    return gs_results_note(results, text, error);
}

enum gs_status gs_default_token_report(const struct gs_default_token *token,
                                       const struct gs_pieces *pieces, struct gs_results *results,
                                       struct gs_error *error) {
    enum gs_status status =
        gs_results_number(results, "default.rows", (double)token->rows, "row", token->rows, error);
    if (status == GS_OK)
        status = gs_results_number(results, "default.mean_norm", token->mean_norm, "1", token->rows,
                                   error);
    if (status == GS_OK)
        status = gs_results_number(results, "default.effective_blocks", token->effective_blocks,
                                   "block", token->blocks, error);
    if (status == GS_OK) status = add_spearman(token, results, error);
    if (status == GS_OK) status = add_frequent(token, results, error);
    if (status == GS_OK) status = token_tables(token, pieces, results, error);
    if (status == GS_OK) status = add_controls(token, results, error);
    if (status == GS_OK) status = note_counts(token, results, error);
    if (status == GS_OK) status = note_frequent(token, results, error);
    if (status == GS_OK) status = note_controls(token, results, error);
    return status == GS_OK ? note_interval(token, results, error) : status;
}

#include "analyses/default_token/opened.h"
#include "analyses/stats/each.h"
#include "core/results/replicates.h"

#include <stdio.h>
#include <string.h>

/* ---- one stream ----------------------------------------------------------------------------- */

/* The model's state channel of that name; NULL: it has none. */
static const struct gs_channel *channel_of(const struct gs_default_opened *o, const char *stream) {
    size_t count;
    const struct gs_channel *channels = gs_model_channels(o->model, &count);
    for (size_t i = 0; i < count; i++)
        if (channels[i].group == GS_CHANNEL_STATE && strcmp(channels[i].name, stream) == 0)
            return channels + i;
    return NULL;
}

static const struct gs_channel *main_channel(const struct gs_default_opened *o) {
    size_t count;
    return gs_model_channels(o->model, &count) + gs_model_decodable_channel(o->model);
}

static enum gs_status fail_decoder(const struct gs_default_opened *o, const char *stream,
                                   struct gs_error *error) {
    char list[200] = "";
    size_t count, used = 0;
    const struct gs_channel *channels = gs_model_channels(o->model, &count);
    for (size_t i = 0; i < count; i++)
        if (channels[i].decoder && used + GS_CHANNEL_NAME + 8 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     channels[i].name);
    gs_fail(error, GS_CONFIG, "the model does not decode its stream %s", stream);
    gs_error_expected(error, "%s", list);
    gs_error_where(error, "%s, /state/%s", o->info->path, stream);
    gs_error_next(error, "name another with --stream");
    return GS_CONFIG;
}

/* What the states go through on their way to logits must be seen. */
static enum gs_status say_decoder(const struct gs_channel *channel, struct gs_results *results,
                                  struct gs_error *error) {
    char text[256];
    snprintf(text, sizeof text, "default token: states are decoded through %s", channel->decoder);
    enum gs_status status = gs_results_setting(results, "default.stream", channel->name, error);
    if (status == GS_OK)
        status = gs_results_setting(results, "default.decoder", channel->decoder, error);
    return status == GS_OK ? gs_results_note(results, text, error) : status;
}

static const char *piece_of(const void *context, uint32_t id) {
    return gs_tokenizer_piece(context, id);
}

/* Stream `index` of the trace is `channel` of the model. */
static enum gs_status measure(const struct gs_default_opened *o, size_t index,
                              const struct gs_channel *channel,
                              const struct gs_default_options *options, struct gs_results *results,
                              struct gs_error *error) {
    size_t count;
    const struct gs_channel *channels = gs_model_channels(o->model, &count);
    struct gs_rows rows = gs_rows_of_state(o->trace, index);
    struct gs_decoder_of_model model = {o->model, o->runner, (size_t)(channel - channels)};
    struct gs_decoder decoder = gs_decoder_of(&model);
    struct gs_pieces pieces = {piece_of, o->tokenizer};
    struct gs_default_token *token;
    enum gs_status status = say_decoder(channel, results, error);
    if (status != GS_OK) return status;
    status = gs_default_token_measure(&rows, &decoder, o->counts, options, &token, error);
    if (status != GS_OK) {
        if (error && !error->where[0])
            gs_error_where(error, "%s, /state/%s", o->info->path, channel->name);
        return status;
    }
    status = gs_default_token_report(token, o->tokenizer ? &pieces : NULL, results, error);
    gs_default_token_destroy(token);
    return status;
}

static enum gs_status measure_stream(const struct gs_default_opened *o, const char *stream,
                                     const struct gs_default_options *options,
                                     struct gs_results *results, struct gs_error *error) {
    size_t index;
    if (!stream) stream = main_channel(o)->name;
    enum gs_status status = gs_trace_find_stream(o->trace, stream, &index, error);
    if (status != GS_OK) return status;
    const struct gs_channel *channel = channel_of(o, stream);
    if (!channel || !channel->decoder) return fail_decoder(o, stream, error);
    return measure(o, index, channel, options, results, error);
}

enum gs_status gs_default_token_of_trace(struct gs_trace *trace, const char *stream,
                                         const struct gs_default_inputs *inputs,
                                         const struct gs_default_options *options,
                                         struct gs_results *results, struct gs_error *error) {
    struct gs_default_opened o;
    enum gs_status status = gs_default_open(trace, inputs, &o, results, error);
    if (status == GS_OK) status = measure_stream(&o, stream, options, results, error);
    gs_default_close(&o);
    return status;
}

/* ---- every stream --------------------------------------------------------------------------- */

struct each_stream {
    const struct gs_default_opened *opened;
    const struct gs_default_options *options;
    bool keep; /* replicates */
};

static enum gs_status measure_one(const void *context, size_t index,
                                  const struct gs_progress *progress, struct gs_results *results,
                                  struct gs_error *error) {
    const struct each_stream *self = context;
    struct gs_default_options own = *self->options;
    own.progress = progress;
    if (self->keep) gs_results_keep_replicates(results);
    const char *name = self->opened->info->streams[index].name;
    return measure(self->opened, index, channel_of(self->opened, name), &own, results, error);
}

/* Streams that are not decoded are left out, and that is said. */
static enum gs_status leave_out(const struct gs_default_opened *o, struct gs_each *each,
                                struct gs_results *results, struct gs_error *error) {
    enum gs_status status = GS_OK;
    size_t kept = 0;
    for (size_t i = 0; status == GS_OK && i < each->count; i++) {
        const struct gs_channel *channel = channel_of(o, each->name[i]);
        char text[GS_TRACE_NAME + 96];
        each->name[kept] = each->name[i];
        each->index[kept] = each->index[i];
        if (channel && channel->decoder) {
            kept++;
            continue;
        }
        snprintf(text, sizeof text, "default token: the model does not decode %s: it is left out",
                 each->name[i]);
        status = gs_results_note(results, text, error);
    }
    each->count = kept;
    return status == GS_OK && kept == 0 ? fail_decoder(o, o->info->streams[0].name, error) : status;
}

static enum gs_status add_top(const struct gs_default_opened *o,
                              const struct gs_results_part *parts, size_t count,
                              struct gs_results *results, struct gs_error *error) {
    static const char *const columns[] = {"stream", "decoder", "id", "piece", "probability"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "default_token_by_stream", columns, 5, &table, error);
    for (size_t p = 0; status == GS_OK && p < count; p++) {
        /* its first row is the mean state's most probable token */
        const struct gs_table *tokens = gs_results_find_table(parts[p].results, "default_tokens");
        struct gs_cell row[5] = {gs_cell_text(parts[p].name),
                                 gs_cell_text(channel_of(o, parts[p].name)->decoder)};
        for (size_t c = 0; c < 3; c++) row[2 + c] = gs_table_cell(tokens, 0, 2 + c);
        status = gs_table_row(table, row, error);
    }
    return status;
}

static enum gs_status measure_each(const struct gs_default_opened *o, const struct gs_each *each,
                                   size_t main, const struct gs_default_options *options,
                                   struct gs_results *results, struct gs_error *error) {
    static const char *const values[] = {"default.spearman.mean_state",
                                         "default.spearman.mean_logits",
                                         "default.spearman.mean_probs",
                                         "default.frequent_overlap.mean_state",
                                         "default.control.random_direction.spearman",
                                         "default.control.random_direction.share",
                                         "default.control.mean_embedding.cosine",
                                         "default.control.mean_embedding.overlap"};
    static const struct gs_each_table table = {"default_by_stream", values,
                                               sizeof values / sizeof *values};
    const struct each_stream context = {o, options, gs_results_keeps_replicates(results)};
    const struct gs_each_measure how = {measure_one, &context, options->progress};
    struct gs_results_part *parts;
    enum gs_status status = gs_each_run(each, &how, &parts, error);
    if (status == GS_OK) status = gs_each_results(each, parts, main, &table, results, error);
    if (status == GS_OK) status = add_top(o, parts, each->count, results, error);
    gs_each_release(parts, each->count);
    return status;
}

enum gs_status gs_default_token_of_streams(struct gs_trace *trace, bool with_main,
                                           const struct gs_default_inputs *inputs,
                                           const struct gs_default_options *options,
                                           struct gs_results *results, struct gs_error *error) {
    struct gs_default_opened o;
    struct gs_each each = {0};
    size_t main = SIZE_MAX;
    enum gs_status status = gs_default_open(trace, inputs, &o, results, error);
    if (status == GS_OK && with_main)
        status = gs_trace_find_stream(trace, main_channel(&o)->name, &main, error);
    if (status == GS_OK) status = gs_each_stream(trace, &each, error);
    if (status == GS_OK) status = leave_out(&o, &each, results, error);
    if (status == GS_OK) status = measure_each(&o, &each, main, options, results, error);
    gs_each_free(&each);
    gs_default_close(&o);
    return status;
}

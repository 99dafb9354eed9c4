#include "core/models/gpn/weights.h"

#include "core/base/memory.h"
#include "core/models/parts/accumulate.h"

#include <string.h>

static struct gs_gpn_columns columns_of(const struct gs_gpn_config *c, bool first) {
    struct gs_gpn_columns at = {0};
    size_t keys = c->heads * c->key, values = c->heads * c->value;
    at.ffn_value = c->ffn;
    at.gate = 2 * c->ffn;
    at.query = at.gate + c->width;
    at.read_gate = at.query + keys;
    at.value = at.read_gate + values;
    at.count = at.value;
    if (!first || !c->heads) return at;
    at.key = at.value + values;
    at.strength = at.key + keys;
    at.decay = at.strength + c->heads;
    at.count = at.decay + c->heads;
    return at;
}

void gs_gpn_columns_find(const struct gs_gpn_config *config, struct gs_gpn_columns *first,
                         struct gs_gpn_columns *other) {
    *first = columns_of(config, true);
    *other = columns_of(config, false);
}

static void fold(struct gs_matrix *matrix, struct gs_tensor *weight, struct gs_tensor *norm,
                 size_t column) {
    matrix->folds[matrix->fold_count++] = (struct gs_fold){weight, norm, column};
}

static void plan_matrix(size_t inner, size_t columns, bool train, struct gs_arena *arena,
                        struct gs_matrix *matrix) {
    matrix->inner = inner;
    matrix->columns = columns;
    gs_packed_plan(inner, columns, arena, &matrix->forward);
    if (!train) return;
    gs_packed_plan(columns, inner, arena, &matrix->backward);
    matrix->gradient = gs_arena_floats(arena, inner, columns, 1);
}

void gs_gpn_weights_plan(const struct gs_gpn_config *c, bool train, size_t decode_rows,
                         struct gs_arena *arena, struct gs_gpn_weights *w) {
    const size_t d = c->width, e = c->embedding, values = c->heads * c->value;
    struct gs_matrix **const lists[] = {&w->in, &w->ffn_out, &w->read_out};
    w->train = train;
    gs_gpn_columns_find(c, &w->first, &w->other);
    for (size_t k = 0; k < 3; k++)
        *lists[k] = gs_arena_take(arena, c->layers, 1, 1, sizeof **lists[k]);
    for (size_t i = 0; i < c->layers; i++) {
        const size_t inner[] = {d, c->ffn, values};
        const size_t columns[] = {(i == 0 ? &w->first : &w->other)->count, d, d};
        for (size_t k = 0; k < (c->heads ? 3 : 2); k++) {
            struct gs_matrix counted, *matrix = *lists[k] ? *lists[k] + i : &counted;
            plan_matrix(inner[k], columns[k], train, arena, matrix);
        }
    }
    plan_matrix(d, d + e, train, arena, &w->head);
    plan_matrix(e, d, train, arena, &w->fuse);
    gs_output_plan(c->vocab, e, train, decode_rows, arena, &w->output);
    if (train && c->heads) gs_packed_plan(c->heads * c->key, d, arena, &w->key_back);
}

static void bind_layer(const struct gs_gpn_config *c, struct gs_gpn_weights *w, size_t i) {
    const struct gs_gpn_layer *t = &w->tensors.layers[i];
    const struct gs_gpn_columns *at = i == 0 ? &w->first : &w->other;
    struct gs_matrix *in = &w->in[i];
    fold(in, t->ffn_in, t->ffn_norm, 0);
    fold(in, t->gate, t->gate_norm, at->gate);
    fold(&w->ffn_out[i], t->ffn_out, NULL, 0);
    if (!c->heads) return;
    fold(in, t->query, t->read_norm, at->query);
    fold(in, t->read_gate, t->read_norm, at->read_gate);
    fold(&w->read_out[i], t->read_out, t->read_out_norm, 0);
    if (i > 0) return;
    fold(in, w->tensors.value, w->tensors.write_norm, at->value);
    fold(in, w->tensors.key, w->tensors.write_norm, at->key);
    fold(in, w->tensors.strength, w->tensors.write_norm, at->strength);
    fold(in, w->tensors.decay, w->tensors.write_norm, at->decay);
}

enum gs_status gs_gpn_weights_bind(const struct gs_gpn_config *c,
                                   const struct gs_parameters *parameters, bool bf16,
                                   struct gs_gpn_weights *w, struct gs_error *error) {
    w->bf16 = bf16;
    enum gs_status status = gs_gpn_tensors_find(c, parameters, &w->tensors, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < c->layers; i++) bind_layer(c, w, i);
    fold(&w->head, w->tensors.ground_gate, w->tensors.ground_norm, 0);
    fold(&w->head, w->tensors.decode, w->tensors.decode_norm, c->width);
    fold(&w->fuse, w->tensors.fuse, w->tensors.fuse_norm, 0);
    gs_output_bind(w->tensors.embedding, bf16, &w->output);
    return GS_OK;
}

void gs_gpn_weights_unbind(struct gs_gpn_weights *w) {
    gs_free(w->tensors.layers);
    w->tensors.layers = NULL;
}

size_t gs_gpn_weights_floats(const struct gs_gpn_config *c) {
    struct gs_gpn_weights weights = {0};
    struct gs_arena arena = {0};
    gs_gpn_weights_plan(c, false, 0, &arena, &weights);
    return arena.bytes / sizeof(float);
}

static struct gs_block block_of(const struct gs_fold *part, bool bf16, bool transpose) {
    const struct gs_tensor *weight = part->weight;
    return (struct gs_block){.values = weight->values,
                             .rows = weight->shape[0],
                             .columns = weight->shape[1],
                             .stride = weight->shape[1],
                             .row_scale = part->norm ? part->norm->values : NULL,
                             .bf16 = bf16,
                             .transpose = transpose};
}

static void refresh(struct gs_matrix *matrix, bool bf16, bool train) {
    for (size_t i = 0; i < matrix->fold_count; i++) {
        const struct gs_fold *part = &matrix->folds[i];
        struct gs_block block = block_of(part, bf16, false);
        gs_packed_put(&matrix->forward, 0, part->column, &block);
        if (!train) continue;
        block.transpose = true;
        gs_packed_put(&matrix->backward, part->column, 0, &block);
    }
}

void gs_gpn_weights_refresh(const struct gs_gpn_config *c, struct gs_gpn_weights *w) {
    for (size_t i = 0; i < c->layers; i++) {
        refresh(&w->in[i], w->bf16, w->train);
        refresh(&w->ffn_out[i], w->bf16, w->train);
        refresh(&w->read_out[i], w->bf16, w->train);
    }
    refresh(&w->head, w->bf16, w->train);
    refresh(&w->fuse, w->bf16, w->train);
    gs_output_refresh(&w->output);
    if (!w->train || !c->heads) return;
    const struct gs_fold key = {w->tensors.key, w->tensors.write_norm, 0};
    struct gs_block block = block_of(&key, w->bf16, true);
    gs_packed_put(&w->key_back, 0, 0, &block);
}

void gs_matrix_accumulate(const struct gs_matrix *matrix, const float *x, const float *dy,
                          size_t rows) {
    gs_accumulate(x, matrix->inner, dy, matrix->columns, rows, matrix->inner, matrix->columns,
                  matrix->gradient, matrix->columns);
}

/* Row i of one fold: dW_i += scale norm_i G_i, dnorm_i += scale W_i . G_i. */
static void unfold_row(const struct gs_fold *part, size_t row, const float *gradient, bool bf16,
                       float scale, float *dweight, float *dnorm) {
    size_t columns = part->weight->shape[1];
    const float *weight = part->weight->values + row * columns;
    float factor = scale * (part->norm ? part->norm->values[row] : 1.0f);
    for (size_t j = 0; j < columns; j++) dweight[j] += factor * gradient[j];
    if (!part->norm) return;
    double sum = 0;
    for (size_t j = 0; j < columns; j++)
        sum += (double)(bf16 ? gs_round_bf16(weight[j]) : weight[j]) * (double)gradient[j];
    *dnorm += scale * (float)sum;
}

void gs_matrix_unfold(const struct gs_matrix *matrix, bool bf16, float scale,
                      const struct gs_parameters *gradients) {
    for (size_t i = 0; i < matrix->fold_count; i++) {
        const struct gs_fold *part = &matrix->folds[i];
        float *dweight = gs_parameters_find(gradients, part->weight->name)->values;
        float *dnorm = part->norm ? gs_parameters_find(gradients, part->norm->name)->values : NULL;
        size_t columns = part->weight->shape[1];
#pragma omp parallel for schedule(static)
        for (size_t row = 0; row < matrix->inner; row++)
            unfold_row(part, row, matrix->gradient + row * matrix->columns + part->column, bf16,
                       scale, dweight + row * columns, dnorm ? dnorm + row : NULL);
    }
    memset(matrix->gradient, 0, matrix->inner * matrix->columns * sizeof(float));
}

/* Makes fixtures/known: models with random parameters, and what the plain double model
 * (naive_gpn.c) gives for them: losses, states, gates, and gradients by central differences.
 *
 *     build/tests/make_known fixtures/known
 *
 * Run it only to make new answers; the test known.c holds the real models against the old ones. */
#include "tests/core/models/naive_gpn.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "core/models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 9 };

struct shape {
    const char *name, *kind;
    size_t V, d, e, f, H, dk, dv, L;
    bool bias;
};

static void must(enum gs_status status, const struct gs_error *error) {
    char text[2048];
    if (status == GS_OK) return;
    fprintf(stderr, "%s\n", gs_error_text(error, text, sizeof text));
    exit(gs_status_exit_code(status));
}

static struct gs_model *make_model(const struct shape *s) {
    const char *const keys[] = {"vocab_size", "d_state", "d_emb", "d_ffn",
                                "n_layers",   "n_heads", "d_key", "d_val"};
    const size_t values[] = {s->V, s->d, s->e, s->f, s->L, s->H, s->dk, s->dv};
    struct gs_json *config = gs_json_new_object();
    struct gs_error error = {0};
    struct gs_model *model;
    for (size_t i = 0; i < (s->H ? 8U : 5U); i++)
        gs_json_set(config, keys[i], gs_json_new_integer((int64_t)values[i]));
    gs_json_set(config, "use_decoder_bias", gs_json_new_bool(s->bias));
    must(gs_model_create(s->kind, config, &model, &error), &error);
    gs_json_destroy(config);

    struct gs_parameters *p = gs_model_parameters(model);
    struct gs_random random;
    gs_parameters_initialise(p, 7);
    gs_random_seed(&random, 7, s->name);
    for (size_t i = 0; i < p->tensor_count; i++) {
        struct gs_tensor *t = &p->tensors[i];
        if (strstr(t->name, "A_log") || strstr(t->name, "dt_bias")) continue;
        double middle = strstr(t->name, "norm_w") ? 1 : 0;
        double spread = t->rank > 1 ? 1 / sqrt((double)t->shape[0]) : 0.3;
        for (size_t j = 0; j < t->count; j++)
            t->values[j] = (float)(middle + spread * gs_random_normal(&random));
    }
    return model;
}

static struct gs_json *numbers(const double *values, size_t count) {
    struct gs_json *array = gs_json_new_array();
    for (size_t i = 0; i < count; i++) gs_json_append(array, gs_json_new_number(values[i]));
    return array;
}

static double run(const struct naive_gpn *m, const uint32_t *tokens, const struct naive_out *out) {
    double *s = calloc(m->d, sizeof *s), *before = calloc(m->d, sizeof *before);
    double *M = calloc(m->H * m->dk * m->dv + 1, sizeof *M);
    double total = naive_gpn_run(m, tokens, STEPS, s, before, M, out);
    free(s), free(before), free(M);
    return total;
}

static struct gs_json *gradients(struct naive_gpn *m, double *values, const uint32_t *tokens) {
    const struct naive_out nothing = {0};
    struct gs_json *object = gs_json_new_object();
    for (size_t i = 0, at = 0; i < m->names->tensor_count; i++) {
        struct gs_json *array = gs_json_new_array();
        for (size_t j = 0; j < m->names->tensors[i].count; j++, at++) {
            const double kept = values[at], step = 1e-6;
            values[at] = kept + step;
            double up = run(m, tokens, &nothing);
            values[at] = kept - step;
            double down = run(m, tokens, &nothing);
            values[at] = kept;
            gs_json_append(array, gs_json_new_number((up - down) / (2 * step)));
        }
        gs_json_set(object, m->names->tensors[i].name, array);
    }
    return object;
}

static void make_known(const struct shape *s, const char *folder) {
    struct gs_error error = {0};
    struct gs_model *model = make_model(s);
    const struct gs_parameters *p = gs_model_parameters(model);
    double *values = calloc(p->count, sizeof *values);
    for (size_t i = 0, at = 0; i < p->tensor_count; i++)
        for (size_t j = 0; j < p->tensors[i].count; j++)
            values[at++] = (double)p->tensors[i].values[j];
    struct naive_gpn m = {s->V, s->d, s->e, s->f, s->H, s->dk, s->dv, s->L, false, p, values};

    uint32_t tokens[STEPS];
    double predicted[STEPS * 64], grounded[STEPS * 64], nll[STEPS];
    double decay[STEPS * 8], strength[STEPS * 8], norm[STEPS * 8], ids[STEPS];
    for (size_t t = 0; t < STEPS; t++) {
        tokens[t] = (uint32_t)((t * t + 3 * t + 1) % s->V);
        ids[t] = tokens[t];
    }
    const struct naive_out out = {predicted, grounded, nll, decay, strength, norm};
    run(&m, tokens, &out);
    struct gs_json *answers = gs_json_new_object();
    gs_json_set(answers, "tokens", numbers(ids, STEPS));
    gs_json_set(answers, "nll", numbers(nll, STEPS));
    gs_json_set(answers, "predicted", numbers(predicted, STEPS * s->d));
    gs_json_set(answers, "grounded", numbers(grounded, STEPS * s->d));
    if (s->H) {
        gs_json_set(answers, "log_decay", numbers(decay, STEPS * s->H));
        gs_json_set(answers, "write_strength", numbers(strength, STEPS * s->H));
        gs_json_set(answers, "norm", numbers(norm, STEPS * s->H));
    }
    gs_json_set(answers, "gradients", gradients(&m, values, tokens));

    char path[1024];
    snprintf(path, sizeof path, "%s/%s.safetensors", folder, s->name);
    must(gs_checkpoint_save(path, true, model, -1, 7, &error), &error);
    snprintf(path, sizeof path, "%s/%s.json", folder, s->name);
    char *text = gs_json_text(answers, 0);
    must(gs_file_write(path, true, text, strlen(text), &error), &error);
    gs_free(text);
    gs_json_destroy(answers);
    free(values);
    gs_model_destroy(model);
}

int main(int argc, char **argv) {
    const struct shape shapes[] = {
        {"gpn", "gpn", 17, 10, 6, 9, 0, 0, 0, 1, true},
        {"gpn_m", "gpn_m", 19, 12, 6, 10, 2, 3, 4, 2, true},
    };
    struct gs_error error = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: make_known FOLDER\n");
        return 2;
    }
    must(gs_folder_create(argv[1], &error), &error);
    for (size_t i = 0; i < 2; i++) make_known(&shapes[i], argv[1]);
    return 0;
}

/* Uses the installed library as somebody else would: a tiny model, a few tokens, a result file. */
#include "core/base/json.h"
#include "core/models/model.h"
#include "core/results/results.h"

#include <math.h>
#include <stdio.h>

static int complain(const struct gs_error *error) {
    char text[1024];
    fprintf(stderr, "consumer: %s\n", gs_error_text(error, text, sizeof text));
    return gs_status_exit_code(error->status);
}

int main(int argc, char **argv) {
    static const char config_text[] = "{\"vocab_size\": 11, \"d_state\": 8, \"d_emb\": 4,"
                                      " \"d_ffn\": 12, \"n_heads\": 2, \"d_key\": 4, \"d_val\": 4}";
    enum { STEPS = 5 };
    static const uint32_t tokens[STEPS] = {1, 2, 3, 4, 10};
    float nll[STEPS];
    struct gs_error error;
    struct gs_json *config = NULL;
    struct gs_model *model = NULL;
    struct gs_runner *runner = NULL;
    struct gs_state *state = NULL;
    struct gs_results *results = gs_results_create("consumer");

    if (argc != 2 || !results) return 2;
    if (gs_json_parse(config_text, sizeof config_text - 1, "config", &config, &error) ||
        gs_model_create("gpn_m", config, &model, &error) ||
        gs_state_create(model, 1, &state, &error) ||
        gs_runner_create(model, &(struct gs_runner_options){.batch = 1, .steps = STEPS}, &runner,
                         &error) ||
        gs_runner_forward(runner, state, tokens, NULL, STEPS, NULL, nll, &error))
        return complain(&error);

    /* every parameter is zero: each of the 11 tokens is as likely as the others */
    double loss = 0;
    for (int t = 0; t < STEPS; t++) loss += (double)nll[t] / STEPS;
    printf("loss %.6f, expected %.6f\n", loss, log(11));
    if (!(fabs(loss - log(11)) < 1e-5)) return 1;

    if (gs_results_number(results, "loss", loss, "nat/token", STEPS, &error) ||
        gs_results_write(results, argv[1], false, &error))
        return complain(&error);

    gs_runner_destroy(runner);
    gs_state_destroy(state);
    gs_model_destroy(model);
    gs_json_destroy(config);
    gs_results_destroy(results);
    return 0;
}

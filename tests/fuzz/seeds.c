/* seeds.c - the fuzzers' corpus: small inputs of every kind, by our writers and from fixtures.
 *
 *     fuzz_seeds FOLDER        writes FOLDER/<target>/<input>
 */
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/zip_archive.h"
#include "core/results/results.h"
#include "core/text/tokenizer.h"
#include "tests/core/text/text_support.h"
#include "tests/probes/trace/trace_support.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;
static struct gs_error error;

static void must(enum gs_status status) {
    char text[2048];
    if (status == GS_OK) return;
    fprintf(stderr, "fuzz_seeds: %s\n", gs_error_text(&error, text, sizeof text));
    exit(3);
}

static void seed(const char *target, const char *name, const void *bytes, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    must(gs_folder_create(path, &error));
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    must(gs_file_write(path, true, bytes, size, &error));
}

static void seed_text(const char *target, const char *name, const char *text) {
    seed(target, name, text, strlen(text));
}

/* A file as it is, under its own name. */
static void seed_file(const char *target, const char *path) {
    struct gs_mapped_file file;
    const char *name = strrchr(path, '/');
    must(gs_file_map(path, &file, &error));
    seed(target, name ? name + 1 : path, file.bytes, file.size);
    gs_file_unmap(&file);
}

/* ---- from fixtures ---- */

static bool ends(const char *text, const char *with) {
    size_t length = strlen(text), end = strlen(with);
    return length >= end && strcmp(text + length - end, with) == 0;
}

/* Files of a folder of fixtures whose names end so. */
static void fixtures(const char *target, const char *from, const char *ending) {
    char relative[256];
    char **names;
    size_t count;
    must(gs_folder_list(gs_source_path(from), &names, &count, &error));
    for (size_t i = 0; i < count; i++) {
        if (!ends(names[i], ending)) continue;
        snprintf(relative, sizeof relative, "%s/%s", from, names[i]);
        seed_file(target, gs_source_path(relative));
    }
    gs_free_names(names, count);
}

/* The pickles in files of torch.save, which are changed outside of their archives. */
static void torch_pickles(void) {
    static const char *const names[] = {"bfloat16", "double",     "half",       "model", "object",
                                        "ordered",  "parameters", "state_dict", "shared"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char relative[128];
        struct gs_mapped_file file;
        struct gs_zip *zip;
        snprintf(relative, sizeof relative, "fixtures/checkpoints/%s.pt", names[i]);
        must(gs_file_map(gs_source_path(relative), &file, &error));
        must(gs_zip_open(file.bytes, file.size, relative, &zip, &error));
        for (size_t k = 0; k < gs_zip_count(zip); k++) {
            unsigned char *bytes;
            if (!ends(gs_zip_name(zip, k), "data.pkl")) continue;
            must(gs_zip_load(zip, k, &bytes, &error));
            seed("torch_pickle", names[i], bytes, gs_zip_size(zip, k));
            gs_free(bytes);
        }
        gs_zip_close(zip);
        gs_file_unmap(&file);
    }
}

/* ---- by our writers ---- */

static void traces(void) {
    const size_t lengths[] = {5, 0, 7};
    for (int deflate = 0; deflate < 2; deflate++) {
        struct gs_random random;
        struct gs_trace_writer *writer;
        const char *path = gs_scratch_path("written%d.h5", deflate);
        gs_random_seed(&random, 1, "fuzz/trace");
        struct made *made = made_create(lengths, 3, 3, 2, &random);
        made->plan.deflate = deflate;
        must(gs_trace_writer_create(path, true, &made->plan, &writer, &error));
        for (size_t s = 0; s < 3; s++)
            if (lengths[s]) must(made_append(made, writer, s, 0, lengths[s], &error));
        must(gs_trace_writer_close(writer, &error));
        made_destroy(made);
        seed_file("trace", path);
        seed_file("inspect", path);
    }
}

static void tokenizers(void) {
    static const char text[] = "the state of a model\nreads the token after the state\n";
    const char *path = gs_scratch_file("small.txt", text, sizeof text - 1);
    const char *model = gs_scratch_path("small.model");
    must(gs_tokenizer_train(&path, 1, 280, model, NULL, &error));
    seed_file("tokenizer", model);
    seed_file("inspect", model);
}

static void results(void) {
    static const char *const columns[] = {"lag", "mean", "name"};
    struct gs_results *results = gs_results_create("geometry");
    struct gs_table *table;
    const struct gs_value ranged = {
        .value = 1.5, .unit = "nat", .n = 9, .has_interval = true, .low = 1, .high = 2};
    const struct gs_value censored = {.value = (double)NAN,
                                      .unit = "token",
                                      .n = 3,
                                      .status = "censored",
                                      .has_bound = true,
                                      .bound = 64,
                                      .reason = "no crossing"};
    must(gs_results_number(results, "rank", 3, "1", 12, &error));
    must(gs_results_add(results, "loss", &ranged, &error));
    must(gs_results_add(results, "horizon", &censored, &error));
    must(gs_results_note(results, "a <note> with \"quotes\"", &error));
    must(gs_results_table(results, "curve", columns, 3, &table, &error));
    for (int i = 0; i < 3; i++) {
        const struct gs_cell cells[] = {gs_cell_integer(i), gs_cell_number(i / 3.0),
                                        gs_cell_text(i ? "x" : NULL)};
        must(gs_table_row(table, cells, &error));
    }
    const char *path = gs_scratch_path("results.json");
    must(gs_results_write(results, path, true, &error));
    gs_results_destroy(results);
    seed_file("results", path);
    seed_file("inspect", path);
    seed_file("json", path);
}

/* See targets/shards.c. */
static void shards(void) {
    static const char meta[] =
        "{\"tokenizer\": \"small\", \"vocab_size\": 300, \"total_tokens\": 5, "
        "\"total_docs\": 2, \"num_shards\": 1}";
    static const char *const indexes[] = {"[2, 3]", "{\"lengths\": [2, 3]}", "[{\"length\": 2}]"};
    static const unsigned char ids[20] = {5, 0, 0, 0, 2, 0, 0, 0, 43, 1, 0, 0, 7, 0, 0, 0, 2};
    for (size_t i = 0; i < 3; i++) {
        unsigned char bytes[512];
        char name[32];
        size_t index = strlen(indexes[i]), at = 4;
        bytes[0] = (unsigned char)strlen(meta), bytes[1] = 0;
        bytes[2] = (unsigned char)index, bytes[3] = 0;
        memcpy(bytes + at, meta, strlen(meta)), at += strlen(meta);
        memcpy(bytes + at, indexes[i], index), at += index;
        memcpy(bytes + at, ids, sizeof ids), at += sizeof ids;
        snprintf(name, sizeof name, "shard%zu", i);
        seed("shards", name, bytes, at);
    }
}

static void texts(void) {
    seed_text("documents", "lines", "\0one\r\ntwo\n\n \t\nthree");
    seed("documents", "lines0", "\0one\r\ntwo\n\n \t\nthree", 20);
    seed_text("documents", "blank", "\1one\r\ntwo\n\n \t\nthree\n\n");
    seed_text("documents", "file", "\2\xEF\xBB\xBFone\n");
    seed_text("documents", "jsonl",
              "\3{\"text\": \"one\\n\"}\n\n{\"id\": 1, \"text\": \"\\ud83d\\ude42\"}");
    seed("documents", "utf16",
         "\2\xFF\xFE"
         "a\0b\0",
         7);
    seed_text("name_map", "names", "{\"x\": \"a\", \"y\": {\"name\": \"a\", \"transpose\": true}}");
    seed_text("name_map", "all", "{\"x\": {\"name\": \"b.weight\"}, \"y\": \"c\", \"z\": \"c\"}");
    seed_text("json", "all",
              "{\"a\": [1, -2.5e-3, null, true, \"\\u00e9\\n\"], \"b\": {\"c\": {}}}");
    seed_text("json", "deep", "[[[[[[[[{\"a\":[[[0]]]}]]]]]]]]");
    seed_text(
        "config", "small",
        "{\"kind\": \"gpn_m\", \"name\": \"run\", \"model\": {\"d\": 8, \"n_heads\": 2, "
        "\"vocab_size\": 300, \"ffn_mult\": 2}, \"training\": {\"batch_size\": 2, \"seq_len\": "
        "8, \"total_steps\": 4, \"seed\": 1}, \"optimizer\": {\"learning_rate\": 0.001, "
        "\"adam_betas\": [0.9, 0.95], \"schedule\": \"cosine\"}, \"dirs\": {\"data\": \"d\", "
        "\"checkpoint\": \"c\", \"log\": \"l\"}, \"logging\": {\"keep\": 2, \"save_at\": [1]}}");
}

/* See targets/faulty.c. */
static void faults(void) {
    static const char *const names[] = {"crash",   "exit",        "leak",   "memory", "no_memory",
                                        "outside", "read_beyond", "silent", "time",   "good"};
    static const char letters[] = "celmnorstg";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char target[32];
        snprintf(target, sizeof target, "faulty_%s", names[i]);
        seed(target, names[i], letters + i, 1);
    }
}

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    folder = words[1];
    static const char *const checkpoints[] = {"pickle", "checkpoint", "inspect"};
    for (size_t i = 0; i < 3; i++) fixtures(checkpoints[i], "fixtures/checkpoints", ".pkl");
    static const char *const archives[] = {"torch", "checkpoint", "inspect"};
    for (size_t i = 0; i < 3; i++) fixtures(archives[i], "fixtures/checkpoints", ".pt");
    static const char *const tensors[] = {"safetensors", "checkpoint", "inspect"};
    for (size_t i = 0; i < 3; i++) {
        fixtures(tensors[i], "fixtures/checkpoints", ".safetensors");
        fixtures(tensors[i], "fixtures/known", ".safetensors");
    }
    torch_pickles();
    static const char *const arrays[] = {"arrays", "inspect"};
    for (size_t i = 0; i < 2; i++) {
        fixtures(arrays[i], "fixtures/arrays", ".npy");
        fixtures(arrays[i], "fixtures/arrays", ".npz");
        fixtures(i ? "inspect" : "trace", "fixtures/traces", ".h5");
    }
    fixtures("claims", "fixtures/claims", ".json");
    fixtures("json", "fixtures/claims", ".json");
    fixtures("name_map", "fixtures/checkpoints", "map.json");
    static const char *const kinds[] = {"gpn_m", "gdn_1", "transformer_6"};
    for (size_t i = 0; i < 3; i++) {
        char path[128], name[64];
        struct gs_mapped_file file;
        snprintf(path, sizeof path, "fixtures/studies/kinds/%s/config.json", kinds[i]);
        snprintf(name, sizeof name, "%s.json", kinds[i]);
        must(gs_file_map(gs_source_path(path), &file, &error));
        seed("config", name, file.bytes, file.size);
        gs_file_unmap(&file);
    }
    traces();
    tokenizers();
    results();
    shards();
    texts();
    faults();
    return 0;
}

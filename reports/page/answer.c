#include "reports/page/answer.h"

#include "reports/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char gs_answer_rule[] =
    "A claim held when it passed in every seed, did not hold when it failed in more than half of "
    "them, and is not shown otherwise. A structure held when all of its claims did, and did not "
    "when one of them did not. Claims about two pools of memory heads are answered by the verdict "
    "over the heads of all seeds together where there is one, since one seed has too few heads.";

const char gs_answer_words_used[] =
    "A seed is one run of training with its own random start; the untrained model is that run "
    "before its first step, on the same text.";

const char gs_answer_heads[] =
    "A memory head forgets what it holds; its efold is the number of tokens after which 1/e of it "
    "is left. The paper saw fast heads (up to 3 tokens) and slow ones (5 and more), and nothing "
    "between. A p is the share of made-up samples of the kind named that look at least so unlike "
    "it; up to 0.05 counts as evidence against that kind.";

const char *gs_answer_words(enum gs_answer answer) {
    static const char *const words[] = {"held", "did not hold", "not shown", "does not apply"};
    return words[answer];
}

/* ---- the heads of all seeds together ---- */

static const struct {
    const char *verdict, *words;
    enum gs_answer answer;
} pools[] = {{"two_pools", "two pools", GS_ANSWER_HELD},
             {"continuum", "a continuum, evenly spread and no two pools", GS_ANSWER_NOT},
             {"one_pool", "one pool", GS_ANSWER_NOT},
             {"undecided", "undecided", GS_ANSWER_OPEN}};
enum { POOLS = sizeof pools / sizeof *pools };

static size_t pools_index(const struct gs_results *results) {
    for (size_t i = 0; i < POOLS; i++) {
        char name[64];
        struct gs_value value;
        snprintf(name, sizeof name, "split.pooled.verdict.%s", pools[i].verdict);
        if (gs_figure_value(results, name, &value) && value.value > 0.5) return i;
    }
    return POOLS;
}

const char *gs_answer_pools(const struct gs_results *results) {
    size_t i = pools_index(results);
    return i < POOLS ? pools[i].verdict : NULL;
}

const char *gs_answer_pools_words(const char *verdict) {
    for (size_t i = 0; i < POOLS; i++)
        if (strcmp(pools[i].verdict, verdict) == 0) return pools[i].words;
    return verdict;
}

const char *gs_answer_pools_reasons(const struct gs_results *results) {
    static const char start[] = "split.pooled.verdict: ";
    for (size_t i = 0; i < gs_results_note_count(results); i++) {
        const char *note = gs_results_note_at(results, i);
        if (strncmp(note, start, sizeof start - 1) != 0) continue;
        const char *behind = strstr(note, ". ");
        return behind ? behind + 2 : note;
    }
    return NULL;
}

/* What all heads together give such a statistic: 1 or 0, NaN where they leave it open; false: it is
 * none that they have. */
static bool value_by_pool(const struct gs_shown_verify *shown, const char *statistic,
                          double *value) {
    size_t verdict = pools_index(shown->results);
    struct gs_value made;
    if (verdict == POOLS || !statistic) return false;
    enum gs_answer pool = pools[verdict].answer;
    *value = pool == GS_ANSWER_OPEN ? (double)NAN : pool == GS_ANSWER_HELD;
    if (strcmp(statistic, "split.two_pools") == 0) return true;
    if (strcmp(statistic, "split.made_by_training") != 0) return false;
    if (pool == GS_ANSWER_HELD) /* else there are none that training could have made */
        *value = gs_figure_value(shown->results, "split.pooled.made_by_training", &made)
                     ? made.value
                     : (double)NAN;
    return true;
}

/* The answer of all heads together to a claim; false: they have none. */
static bool answer_by_pool(const struct gs_shown_verify *shown, const struct gs_shown_claim *claim,
                           enum gs_answer *answer) {
    double value;
    if (claim->comparison || !value_by_pool(shown, claim->statistic, &value)) return false;
    if (isnan(value))
        *answer = GS_ANSWER_OPEN;
    else
        *answer = gs_shown_holds(claim, value) ? GS_ANSWER_HELD : GS_ANSWER_NOT;
    return true;
}

/* ---- claims ---- */

static size_t whole(const struct gs_table *table, size_t row, const char *column) {
    double number = gs_shown_number(table, row, column);
    return number >= 0 ? (size_t)number : 0;
}

struct gs_claim_answer gs_answer_of_claim(const struct gs_shown_verify *shown, size_t claim) {
    struct gs_claim_answer answer = {
        .answer = GS_ANSWER_OPEN, .low = (double)NAN, .high = (double)NAN};
    const struct gs_table *table = gs_results_find_table(shown->results, "over_seeds");
    size_t row = gs_shown_row(table, shown->claims[claim].name, NULL);
    if (row != SIZE_MAX) {
        answer.known = true;
        answer.passed = whole(table, row, "k");
        answer.seeds = whole(table, row, "n");
        answer.failed = whole(table, row, "fail");
        answer.undecided = whole(table, row, "undecided");
        answer.low = gs_shown_number(table, row, "low");
        answer.high = gs_shown_number(table, row, "high");
        if (!answer.seeds)
            answer.answer = GS_ANSWER_NONE;
        else if (answer.passed == answer.seeds)
            answer.answer = GS_ANSWER_HELD;
        else if (2 * answer.failed > answer.seeds)
            answer.answer = GS_ANSWER_NOT;
    }
    answer.pooled = answer_by_pool(shown, shown->claims + claim, &answer.answer);
    return answer;
}

/* ---- structures ---- */

static const char *structure_of(const struct gs_shown_verify *shown, size_t claim) {
    const char *structure = shown->claims[claim].structure;
    return structure && structure[0] ? structure : "claims";
}

static bool is_first(const struct gs_shown_verify *shown, size_t claim) {
    for (size_t i = 0; i < claim; i++)
        if (strcmp(structure_of(shown, i), structure_of(shown, claim)) == 0) return false;
    return true;
}

size_t gs_answer_structures(const struct gs_shown_verify *shown) {
    size_t count = 0;
    for (size_t claim = 0; claim < shown->claim_count; claim++)
        count += is_first(shown, claim) ? 1 : 0;
    return count;
}

const char *gs_answer_structure(const struct gs_shown_verify *shown, size_t structure) {
    for (size_t claim = 0; claim < shown->claim_count; claim++)
        if (is_first(shown, claim) && structure-- == 0) return structure_of(shown, claim);
    return "";
}

bool gs_answer_is_about(const struct gs_shown_verify *shown, size_t claim, size_t structure) {
    return strcmp(structure_of(shown, claim), gs_answer_structure(shown, structure)) == 0;
}

enum gs_answer gs_answer_of_structure(const struct gs_shown_verify *shown, size_t structure) {
    enum gs_answer all = GS_ANSWER_NONE;
    for (size_t claim = 0; claim < shown->claim_count; claim++) {
        if (!gs_answer_is_about(shown, claim, structure)) continue;
        enum gs_answer answer = gs_answer_of_claim(shown, claim).answer;
        if (answer == GS_ANSWER_NOT) return GS_ANSWER_NOT;
        if (answer == GS_ANSWER_OPEN || (answer == GS_ANSWER_HELD && all == GS_ANSWER_NONE))
            all = answer;
    }
    return all;
}

void gs_answer_sum(const struct gs_shown_verify *shown, size_t structure, struct gs_text *text) {
    enum gs_answer answer = gs_answer_of_structure(shown, structure);
    size_t of[GS_ANSWERS] = {0}, all = 0;
    for (size_t claim = 0; claim < shown->claim_count; claim++) {
        if (!gs_answer_is_about(shown, claim, structure)) continue;
        enum gs_answer one = gs_answer_of_claim(shown, claim).answer;
        of[one]++;
        all += one == GS_ANSWER_NONE ? 0 : 1;
    }
    gs_text_put(text, gs_answer_words(answer));
    if (answer == GS_ANSWER_NONE) return;
    if (answer == GS_ANSWER_NOT && of[GS_ANSWER_HELD]) gs_text_put(text, " as a whole");
    gs_text_add(text, ", %zu of %zu %s held", of[GS_ANSWER_HELD], all,
                all == 1 ? "claim" : "claims");
}

/* "rank.by_training (0 of 5, failed in 5)" */
static void say_claim(const struct gs_shown_verify *shown, size_t claim, struct gs_text *text) {
    struct gs_claim_answer answer = gs_answer_of_claim(shown, claim);
    gs_text_add(text, "%s (", shown->claims[claim].name);
    if (answer.answer == GS_ANSWER_NONE)
        gs_text_put(text, "the models have none of it");
    else if (answer.pooled)
        gs_text_add(text, "all heads together: %s",
                    gs_answer_pools_words(gs_answer_pools(shown->results)));
    else if (!answer.known)
        gs_text_put(text, "not measured");
    else
        gs_text_add(text, "passed in %zu of %zu", answer.passed, answer.seeds);
    if (!answer.pooled && answer.answer == GS_ANSWER_OPEN && answer.known)
        gs_text_add(text, ", failed in %zu", answer.failed);
    gs_text_put(text, ")");
}

void gs_answer_say(const struct gs_shown_verify *shown, size_t structure, struct gs_text *text) {
    static const char *const before[] = {
        "Held: ", "Did not hold: ", "Not shown: ", "Does not apply: "};
    bool begun = false;
    for (int answer = GS_ANSWER_HELD; answer < GS_ANSWERS; answer++) {
        bool any = false;
        for (size_t claim = 0; claim < shown->claim_count; claim++) {
            if (!gs_answer_is_about(shown, claim, structure) ||
                (int)gs_answer_of_claim(shown, claim).answer != answer)
                continue;
            gs_text_put(text, any ? ", " : begun ? " " : "");
            gs_text_put(text, any ? "" : before[answer]);
            say_claim(shown, claim, text);
            any = begun = true;
        }
        if (any) gs_text_put(text, ".");
    }
}

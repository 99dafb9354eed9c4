/* answer.h - what the verdicts over seeds come to, in words, for a claim and for a structure.
 *
 * Held: passed in every seed. Did not hold: failed in more than half of the seeds. Not shown:
 * anything else; claims about what the model does not have do not apply and count nowhere. A
 * structure held when all of its claims did, and did not when one did not. Claims about two pools
 * of heads are answered by the verdict over all heads together where there is one, since one seed
 * has too few of them.
 */
#ifndef GS_REPORTS_PAGE_ANSWER_H
#define GS_REPORTS_PAGE_ANSWER_H

#include "reports/figures/verify.h"

enum gs_answer {
    GS_ANSWER_HELD,
    GS_ANSWER_NOT,
    GS_ANSWER_OPEN,
    GS_ANSWER_NONE, /* no seed has what the claim is about */
    GS_ANSWERS
};
/* "held", "did not hold", "not shown", "does not apply" */
const char *gs_answer_words(enum gs_answer answer);
extern const char gs_answer_rule[];       /* the above, for people */
extern const char gs_answer_words_used[]; /* what a seed and an untrained model are */
extern const char gs_answer_heads[];      /* what is asked of memory heads, and what a p is there */

struct gs_claim_answer {
    enum gs_answer answer;
    bool known;  /* over_seeds has the claim */
    bool pooled; /* answered by all heads together */
    size_t passed, seeds, failed, undecided;
    double low, high; /* of the share that passes, 95 %; NaN: not known */
};
struct gs_claim_answer gs_answer_of_claim(const struct gs_shown_verify *shown, size_t claim);

/* Structures, in the order in which the claims name them first. */
size_t gs_answer_structures(const struct gs_shown_verify *shown);
const char *gs_answer_structure(const struct gs_shown_verify *shown, size_t structure);
bool gs_answer_is_about(const struct gs_shown_verify *shown, size_t claim, size_t structure);
enum gs_answer gs_answer_of_structure(const struct gs_shown_verify *shown, size_t structure);
/* "did not hold as a whole, 6 of 7 claims held" */
void gs_answer_sum(const struct gs_shown_verify *shown, size_t structure, struct gs_text *text);
/* Which of its claims held, which did not, in one or a few sentences of plain text. */
void gs_answer_say(const struct gs_shown_verify *shown, size_t structure, struct gs_text *text);

/* The verdict over all heads together: "two_pools" …; NULL where there is none. */
const char *gs_answer_pools(const struct gs_results *results);
const char *gs_answer_pools_words(const char *verdict); /* for people */
/* The sentences behind it; NULL where there are none. Borrowed. */
const char *gs_answer_pools_reasons(const struct gs_results *results);

#endif

#!/bin/sh
# The study's tables in Markdown, from its CSV files: sh reports/studies/kinds-tables.sh FOLDER "MODEL..."
# Called by kinds.sh.
set -eu
[ $# -eq 2 ] || {
    echo 'usage: sh reports/studies/kinds-tables.sh FOLDER "MODEL..."' >&2
    exit 2
}
cd "$1"

# Columns by their names: column(NAME) of the header line in hand.
# shellcheck disable=SC2016 # these are awk's
by_name='
function header(  i) { for (i = 1; i <= NF; i++) column[$i] = i }
function value(name) { return $(column[name]) }
function number(x, digits) { return x == "" ? "-" : sprintf("%." digits "g", x) }
function interval(name, digits) {
    if (value(name "_low") == "") return number(value(name), digits)
    return number(value(name), digits) " (" number(value(name "_low"), digits) " to " \
        number(value(name "_high"), digits) ")"
}
FNR == 1 { header(); next }'

echo "## Loss on held-out text"
echo
echo "| model | parameters | loss, nats per token (95 %) | perplexity | loss of the first 16 predicted positions | of the last 64 |"
echo "|---|---|---|---|---|---|"
awk -F, -v models="$2" "$by_name"'
BEGIN { split(models, name, " ") }
FILENAME == "loss_by_position.csv" {
    n = FNR - 1
    for (i = 0; ("loss." sprintf("%02d", i)) in column; i++) at[i, n] = value("loss." sprintf("%02d", i))
    next
}
{
    i = value("model"); early = late = 0
    for (p = 1; p <= 16; p++) early += at[i, p] / 16
    for (p = n - 63; p <= n; p++) late += at[i, p] / 64
    printf "| %s | %d | %.3f (%.3f to %.3f) | %.2f | %.2f | %.2f |\n", name[i + 1],
        value("parameters"), value("loss"), value("low"), value("high"), value("perplexity"), early, late
}' loss_by_position.csv models.csv
echo
echo "Paired differences of loss, first model minus second, on the same predictions:"
echo
echo "| | difference (95 %) |"
echo "|---|---|"
awk -F, -v models="$2" "$by_name"'
BEGIN { split(models, name, " ") }
value("measure") == "difference" {
    printf "| %s - %s | %+.3f (%+.3f to %+.3f) |\n", name[value("model") + 1],
        name[value("minus") + 1], value("difference"), value("low"), value("high")
}' differences.csv

echo
echo "## States by stream, trained and untrained"
echo
echo "| model | stream | stable rank, centred | untrained | mean energy | untrained | mean absolute correlation | untrained | default token: Spearman with unigram counts | untrained |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for model in $2; do
    awk -F, -v model="$model" "$by_name"'
    {
        s = value("stream"); untrained = FILENAME ~ /untrained/
        if (!untrained && FILENAME ~ /geometry/) order[++streams] = s
        if (FILENAME ~ /geometry/) {
            rank[untrained, s] = interval("stable_rank.centered", 3)
            energy[untrained, s] = interval("mean_energy", 2)
            correlation[untrained, s] = interval("corr.mean_abs", 2)
        } else spearman[untrained, s] = interval("default.spearman.mean_state", 2)
    }
    function cell(x) { return x == "" ? "-" : x }
    END {
        for (i = 1; i <= streams; i++) {
            s = order[i]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", model, s, rank[0, s],
                rank[1, s], energy[0, s], energy[1, s], correlation[0, s], correlation[1, s],
                cell(spearman[0, s]), cell(spearman[1, s])
        }
    }' "$model"/geometry_trained.csv "$model"/geometry_untrained.csv \
        "$model"/default_trained.csv "$model"/default_untrained.csv
done

echo
echo "## Memory heads: efold in tokens, sorted"
echo
echo "| model | memory | trained | untrained |"
echo "|---|---|---|---|"
for model in $2; do
    [ -f "$model/retention_by_head.csv" ] || continue
    awk -F, -v model="$model" "$by_name"'
    function sorted(x, n,  i, j, t, out) { # a bound stands as a large number while sorting
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && x[j - 1] > x[j]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
        for (i = 1; i <= n; i++)
            out = out (i > 1 ? ", " : "") (x[i] > 1e6 ? "above " x[i] - 1e6 : number(x[i], 3))
        return out
    }
    function flush(  i, a, b) {
        if (!heads) return
        for (i = 1; i <= heads; i++) { a[i] = trained[i]; b[i] = untrained[i] }
        printf "| %s | %s | %s | %s |\n", model, memory, sorted(a, heads), sorted(b, heads)
        heads = 0
    }
    function known(x, bound) { return x == "" ? 1e6 + bound : x + 0 }
    {
        if (value("memory") != memory) flush()
        memory = value("memory")
        trained[++heads] = known(value("efold"), value("efold_bound"))
        untrained[heads] = known(value("null_efold"), value("null_efold_bound"))
    }
    END { flush() }' "$model/retention_by_head.csv"
done

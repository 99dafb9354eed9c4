#!/bin/sh
# Do the three structures hold? Claims, seeds and controls: sh reports/study.sh [RUN...]
#
# Trains every run of reports/studies/structure-plan.sh on real text, traces each at log-spaced steps on
# the same held-out windows, holds the claims of fixtures/claims/structure.json against them, and leaves
# what is small in fixtures/studies/structure. Four hours on two cores; several runs side by side, as
# many as there are cores. Everything goes to build/studies/structure, and a study that was stopped goes
# on there. With names, only these runs (gpn_m_128-s11, …; pilot: the two that the claims were written
# with); a model is judged when all its seeds are there.
set -eu
cd "$(dirname "$0")/.."

OUT=build/studies/structure
KEPT=fixtures/studies/structure
# shellcheck source=reports/studies/structure-plan.sh
. reports/studies/structure-plan.sh

case ${1-} in
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
pilot) WANTED=$PILOTS ;;
'') WANTED=$RUNS ;;
*) WANTED=$* ;;
esac
for run in $WANTED; do
    case " $RUNS $PILOTS " in
    *" $run "*) ;;
    *)
        echo "reports/study.sh: unknown run $run; there are $RUNS $PILOTS" >&2
        exit 2
        ;;
    esac
done

say() { printf '\n== %s\n' "$*" >&2; }
finished() { [ -s "$OUT/$1/step-final.h5" ]; }

say "Setting up and building"
sh core/setup.sh build demo
cmake --preset release >/dev/null
cmake --build --preset release --target programs

say "Text, a tokenizer of $VOCAB pieces, and tokens"
# A window of the baselines has one token more: it predicts from the second one on.
sh reports/english.sh $OUT $VOCAB $((STEPS * BATCH * (LENGTH + 1)))

# ---- the runs ---------------------------------------------------------------------------------

# Done, of all, in steps of the narrowest model.
progress() {
    for run in $WANTED; do
        log=$OUT/$run/${run%-s*}_train_log.csv
        step=0
        if finished "$run"; then
            step=$STEPS
        elif [ -s "$log" ]; then
            step=$(tail -n 1 "$log" | cut -d, -f1)
        fi
        case $step in step) step=0 ;; esac
        echo "$step $(weight_of "$run")"
    done | awk -v all="$STEPS" '{done += $1 * $2; of += all * $2} END {print done, of}'
}

# One line, drawn again: a bar on a terminal, elsewhere a line a minute.
bar() { # bar SECONDS DONE_AT_START
    # shellcheck disable=SC2046 # two numbers
    set -- "$1" "$2" $(progress)
    awk -v seconds="$1" -v first="$2" -v done="$3" -v of="$4" 'BEGIN {
        filled = int(30 * done / of)
        for (i = 0; i < 30; i++) bar = bar (i < filled ? "#" : ".")
        left = done > first ? seconds * (of - done) / (done - first) : -1
        printf "[%s] %3d %% of all steps", bar, 100 * done / of
        if (left >= 0) printf ", %d h %02d min left", left / 3600, left % 3600 / 60
    }'
}

watch_runs() { # watch_runs PID
    start=$(date +%s)
    # shellcheck disable=SC2046 # two numbers
    set -- "$1" $(progress)
    while kill -0 "$1" 2>/dev/null; do
        line=$(bar $(($(date +%s) - start)) "$2")
        if [ -t 2 ]; then
            printf '\r%s ' "$line" >&2
            sleep 5
        else
            printf '%s\n' "$line" >&2
            sleep 60
        fi
    done
    [ ! -t 2 ] || echo >&2
}

missing=
for run in $WANTED; do finished "$run" || missing="$missing $run"; done
if [ -n "$missing" ]; then
    cores=$(nproc 2>/dev/null || echo 1)
    say "Training and tracing:$missing; $cores side by side. Ctrl-C stops; the same command goes on"
    mkdir -p $OUT/log
    # shellcheck disable=SC2086,SC2016 # names without spaces; the inner shell's variables
    printf '%s\n' $missing | xargs -P "$cores" -n 1 sh -c '
        sh reports/studies/structure-run.sh "$0" "${1%-s*}" "${1##*-s}" >"$0/log/$1.log" 2>&1 || {
            echo "reports/study.sh: $1 failed; $0/log/$1.log ends:" >&2
            tail -n 3 "$0/log/$1.log" >&2
            exit 1
        }' $OUT &
    runs=$!
    trap 'kill $runs 2>/dev/null; exit 130' INT TERM
    watch_runs $runs
    trap - INT TERM
    wait $runs
fi

# ---- what they show ---------------------------------------------------------------------------

keep() { # keep RUN: what is small
    mkdir -p "$KEPT/$1"
    cp "$OUT/$1/config.json" "$KEPT/$1/config.json"
    cp "$OUT/$1/${1%-s*}_train_log.csv" "$KEPT/$1/train_log.csv"
}

seeds_of() { # the runs of a model that count
    for run in $RUNS; do
        case $run in "$1"-s*) printf '%s ' "$run" ;; esac
    done
}

judge() { # judge MODEL RUN...: the claims against all its seeds
    model=$1
    shift
    say "Holding the claims against $model: $*"
    set -- "$@" --
    while [ "$1" != -- ]; do # each run's traces; the checkpoints beside them are found by their hashes
        set -- "$@" "$OUT/$1"/step-*.h5
        shift
    done
    shift
    failed=0
    build/bin/gpnscope verify "$@" -o "$OUT/verify/$model" --force --claims fixtures/claims/structure.json \
        --tokenizer $OUT/once/tokenizer.model --counts $OUT/once || failed=$?
    [ $failed -le 1 ] || exit $failed # 1: a claim failed, which is an answer
    rm -rf "${KEPT:?}/$model"
    mkdir -p "$KEPT/$model"
    cp -R "$OUT/verify/$model/." "$KEPT/$model"
    rm -f "$KEPT/$model/index.html" "$KEPT/$model"/figures/*-narrow.svg # verify.md shows the others
}

for run in $WANTED; do keep "$run"; done
# shellcheck disable=SC2086 # names without spaces
for model in $(printf '%s\n' $WANTED | sed 's/-s[0-9]*$//' | sort -u); do
    set --
    complete=1
    for run in $(seeds_of "$model"); do
        finished "$run" || complete=0
        set -- "$@" "$run"
    done
    if [ $complete = 1 ]; then
        judge "$model" "$@"
    else
        say "$model is judged when all its seeds are there: $*"
    fi
done
say "The answers:"
printf '%s\n' "$PWD/$KEPT"/*/verify.md

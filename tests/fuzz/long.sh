#!/bin/sh
# Fuzz every reader for a while: sh tests/fuzz/long.sh BUILD SECONDS [TARGET…]
#
# BUILD is a build folder, of the preset "fuzz" (libFuzzer) or any other (our own runner). SECONDS are
# of a target of weight 1; those whose formats are richest get more. Two run at a time, at nice 19.
# Inputs that libFuzzer finds interesting are kept in BUILD/fuzz/found and used again. A line a target
# goes to BUILD/fuzz/long.txt, inputs that are faults to BUILD/fuzz/faults. Exit 1 when there is one.
set -u
[ $# -ge 2 ] || { sed -n 2,8p "$0"; exit 2; }
build=$(cd "$1" && pwd) seconds=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
shift 2
weighted="trace*6 pickle*4 torch_pickle*4 torch*3 arrays*4 checkpoint*3 inspect*4 safetensors*2
    tokenizer*2 shards*2 config*2 results*1 claims*1 json*1 name_map*1 documents*1"
[ $# -eq 0 ] || weighted=$*
export GS_SOURCE="$source" OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256
export LSAN_OPTIONS="suppressions=$source/tests/support/lsan.supp:print_suppressions=0"
mkdir -p "$build/fuzz/faults" "$build/fuzz/found"
"$build/fuzz/fuzz_seeds" "$build/fuzz/corpus" || exit 3

# one TARGET SECONDS: its line, 0 when there was no fault
one() {
    corpus="$build/fuzz/corpus/$1" regressions="$source/tests/fuzz/regressions/$1"
    log="$build/fuzz/$1.log" found="$build/fuzz/found/$1" seed=$(date +%s)
    set -- "$1" "$2" "$corpus"
    [ ! -d "$regressions" ] || set -- "$@" "$regressions"
    name=$1 time=$2
    shift 2
    mkdir -p "$found"
    if nice -n 19 "$build/fuzz/fuzz_$name" -help=1 2>&1 | grep -q max_total_time; then
        nice -n 19 "$build/fuzz/fuzz_$name" -max_total_time="$time" -timeout=20 \
            -rss_limit_mb=4096 -malloc_limit_mb=4000000 -max_len=65536 -print_final_stats=1 -seed="$seed" \
            -artifact_prefix="$build/fuzz/faults/$name-" "$found" "$@" >"$log" 2>&1
        code=$?
        said=$(sed -n 's/^stat::number_of_executed_units: */executions /p' "$log")
    else
        nice -n 19 "$build/fuzz/fuzz_$name" --seconds "$time" --seed "$seed" \
            --faults "$build/fuzz/faults" "$@" >"$log" 2>&1
        code=$?
        said=$(tail -n 1 "$log")
    fi
    [ $code -eq 0 ] && verdict="no fault" || verdict="FAULT, see $log"
    printf '%-14s %5s s  %s  %s\n' "$name" "$time" "$said" "$verdict" | tee -a "$build/fuzz/long.txt"
    return $code
}

failed=0 first=""
for item in $weighted; do
    weight=${item##*\*}
    [ "$weight" != "$item" ] || weight=1
    one "${item%%\**}" $((weight * seconds)) &
    if [ -z "$first" ]; then
        first=$!
        continue
    fi
    wait "$first" || failed=1
    first=$!
done
wait "$first" || failed=1
exit $failed

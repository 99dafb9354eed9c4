#!/bin/sh
# Runs the command-line cases of one folder: sh tests/cli/run.sh FOLDER [CASE…]. FOLDER stands beside
# this file, unless it is written with a slash.
# What a case looks like: README.md beside this file. Environment: GS_BIN, the folder of the
# programs; GS_FIXTURE, the folder that fixture.sh filled.
set -u
here=$(cd "$(dirname "$0")" && pwd)
GS_SOURCE=$(cd "$here/../.." && pwd)
GS_BIN=${GS_BIN:-$GS_SOURCE/build/bin}
GS_FIXTURE=${GS_FIXTURE:-$GS_SOURCE/build/tests/cli_fixture}
export GS_SOURCE GS_BIN GS_FIXTURE
# One thread a program, because ctest runs several tests side by side; messages in English.
PATH=$GS_BIN:$PATH OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive LC_ALL=C
export PATH OMP_NUM_THREADS OMP_WAIT_POLICY LC_ALL

[ $# -ge 1 ] || { echo "usage: sh tests/cli/run.sh FOLDER [CASE...]" >&2; exit 2; }
case $1 in
*/*) folder=$1 ;;
*) folder=$here/$1 ;;
esac
[ -d "$folder" ] || { echo "$0: there is no folder $folder" >&2; exit 2; }
shift

work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-cli-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0
one_case() { # one_case FILE: 0 when it holds
    scratch=$work/scratch parts=$work/parts
    rm -rf "$scratch" "$parts"
    mkdir "$scratch" "$parts" || return 1
    awk -v parts="$parts" -f "$here/split.awk" "$1" || return 1
    {
        # shellcheck disable=SC2016 # expands when the case runs
        # take NAME…: a fixture's file or folder under its own name in the scratch folder
        echo 'take() { for t; do ln -s "$GS_FIXTURE/$t" . || exit 99; done; }'
        cat "$parts/script"
    } >"$parts/full"
    (cd "$scratch" && exec sh -eu "$parts/full") \
        >"$parts/stdout.got" 2>"$parts/stderr.got" </dev/null
    code=$? good=0
    wanted=$(cat "$parts/exit")
    [ "$code" = "$wanted" ] || { echo "  exit code $code, expected $wanted"; good=1; }
    for stream in stdout stderr; do
        awk -v stream="$stream" -f "$here/match.awk" "$parts/$stream" "$parts/$stream.got" || good=1
    done
    if [ $good -ne 0 ]; then
        for stream in stdout stderr; do
            echo "  its $stream:"
            sed 's/^/  | /' "$parts/$stream.got" | head -n 60
        done
    fi
    return $good
}

if [ $# -eq 0 ]; then set -- "$folder"/*.case; else
    count=$#
    for name; do set -- "$@" "$folder/${name%.case}.case"; done
    shift "$count"
fi
for file; do
    [ -f "$file" ] || { echo "$0: there is no case $file" >&2; exit 2; }
    if report=$(one_case "$file"); then
        passed=$((passed + 1))
        echo "ok $(basename "$file" .case)"
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n%s\n' "$file" "$report"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

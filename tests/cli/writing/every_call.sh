#!/bin/sh
# sh every_call.sh BIN FIXTURE SOURCE quick|STEP [COMMAND…]: every command that writes, with its
# calls that change files failing in turn. A number: every STEP-th of them (of a page, every 40
# STEP-th), once alone (EIO) and once as on a disk that is full from then on (ENOSPC), over outputs
# that exist already and where there are none; and the first with each of the other reasons. quick:
# the first, the last and, but for pages, two in the middle, over outputs that exist.
#
# After a failure: exit 3; the message has errno's text and a path of the output; no temporary is
# left (but the trace's, whose safe rows the message offers by its path); what was there has the
# bytes it had, but where a command has several outputs, or train has begun its new run: then each
# is the old or the whole new one. Another exit code, the good run's, only with all outputs new.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd) fixture=$(cd "$2" && pwd) source=$(cd "$3" && pwd)
step=${4:-1}
shift 3
[ $# -gt 0 ] && shift
chosen=
# shellcheck disable=SC2034 # read in commands.sh
[ $# -eq 0 ] || chosen=" $* "
PATH=$bin:$PATH OMP_NUM_THREADS=1 LC_ALL=C
# The sanitizer cannot look for leaks in a process that is traced; the other tests do.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export PATH OMP_NUM_THREADS LC_ALL ASAN_OPTIONS
# shellcheck source=/dev/null
. "$here/commands.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-writing-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
gs_fail_call 1000 5 once true
case $? in
125) ;;
77) echo "calls cannot be traced here" && exit 77 ;;
*) echo "gs_fail_call does not run" && exit 2 ;;
esac

bad=0 tried=0
names() { (cd "$1" && find . ! -name . | sort); }
old_names() { (cd "$work/before" && find . -type f | sort); }

complain() { # complain TEXT
    bad=$((bad + 1))
    printf 'FAILED %s, call %s, %s, %s: %s\n' "$name" "$call" "$fault" "$start" "$1"
    sed 's/^/  | /' "$work/said" | tail -n 4
}

# What differs between two good runs.
plain() { sed 's/"created": *"[^"]*"/"created": ""/' "$1"; }

# Whole and new: the bytes of the good run.
is_new() { # is_new FILE
    plain "$work/out/$1" >"$work/one"
    plain "$work/good/$1" | cmp -s - "$work/one"
}

# The new run has begun: its log, its speed, its untrained model, nothing of the old.
has_begun() {
    is_new ./run/tiny_0.safetensors || return 1
    head -n 1 "$work/out/run/tiny_train_log.csv" | grep -q '^step,loss,lr,grad_norm' || return 1
    head -n 1 "$work/out/run/tiny_train_speed.csv" | grep -q '^step,loss,tokens' || return 1
    ! grep -rq '^old ' "$work/out"
}

# Where taking back fails, too, the old file lies under a hidden name, and the message says so.
kept_beside() { # kept_beside FILE
    grep -q "could not be put back" "$work/said" &&
        cmp -s "$work/before/$1" "$work/out/$(dirname "$1")/.$(basename "$1").gpnscope-"*
}

changed() { # what was there and has other bytes
    old_names | while read -r file; do
        cmp -s "$work/before/$file" "$work/out/$file" || kept_beside "$file" || echo "$file"
    done
}

after_failure() {
    grep -qF "$text" "$work/said" || complain "the message is without \"$text\""
    grep -q 'out/[A-Za-z.]' "$work/said" || complain "the message names no path"
    changed >"$work/left"
    [ -s "$work/left" ] || return
    if [ "$name" = train ]; then
        has_begun || complain "neither the old run nor a new one: $(tr '\n' ' ' <"$work/left")"
        return
    fi
    while read -r file; do
        [ -e "$work/out/$file" ] || complain "gone: $file"
        [ ! -e "$work/out/$file" ] || is_new "$file" || complain "neither old nor new: $file"
    done <"$work/left"
}

after_success() {
    names "$work/good" | cmp -s - "$work/names" || complain "exit $code with outputs missing"
    grep -rl '^old ' "$work/out" >"$work/left" && complain "exit $code with $(cat "$work/left") old"
}

look_at() { # what one failed run left in $work/out
    case $code in
    "$well") after_success ;;
    3) after_failure ;;
    *) complain "exit $code" ;;
    esac
    grep 'gpnscope-' "$work/names" | while read -r file; do
        grep -qF -e "stay readable in out/${file#./}" -e "could not be put back" "$work/said" ||
            echo "$file"
    done >"$work/left"
    [ ! -s "$work/left" ] || complain "left: $(cat "$work/left")"
    names "$work/good" | comm -13 - "$work/names" | grep -v 'gpnscope-' >"$work/left" &&
        complain "not an output: $(cat "$work/left")"
}

# The command with a call failing; its exit code in $code, what it said in $work/said.
run_failing() { # run_failing CALL ERRNO once|on COMMAND…
    rm -rf "$work/out"
    cp -r "$work/before" "$work/out"
    { (cd "$work" && timeout 600 gs_fail_call "$@" 2>&1 </dev/null)
      echo $? >"$work/code"; } | cat >"$work/said"
    code=$(cat "$work/code")
}

fail_at() { # fail_at CALL ERRNO once|on TEXT COMMAND…
    call=$1 fault="$2 $3" text=$4 number=$2 how=$3
    shift 4
    run_failing "$call" "$number" "$how" "$@"
    [ "$code" -eq 125 ] && return 1
    tried=$((tried + 1))
    names "$work/out" >"$work/names"
    look_at
    return 0
}

fail_each() { # fail_each ERRNO once|on TEXT COMMAND…
    number=$1 how=$2 words=$3 next=1
    shift 3
    while fail_at "$next" "$number" "$how" "$words" "$@"; do next=$((next + stride)); done
}

start_new() {
    start=new
    rm -rf "$work/before"
    mkdir "$work/before"
}

start_over() { # the outputs are there, each with bytes of its own
    start=over
    rm -rf "$work/before"
    cp -r "$work/good" "$work/before"
    old_names >"$work/left"
    while read -r file; do echo "old $file" >"$work/before/$file"; done <"$work/left"
}

whole() {
    start_new
    fail_each 5 once "Input/output error" "$@"
    fail_each 28 on "No space left on device" "$@"
    start_over
    fail_each 5 once "Input/output error" "$@"
    fail_each 28 on "No space left on device" "$@"
    fail_at 1 13 on "Permission denied" "$@"
    fail_at 1 27 on "File too large" "$@"
    fail_at 1 30 on "Read-only file system" "$@"
    fail_at 1 122 on "Disk quota exceeded" "$@"
}

quick() {
    start_over
    run_failing 0 0 once "$@"
    calls=$(tail -n 1 "$work/said")
    fail_at 1 30 on "Read-only file system" "$@"
    fail_at $((calls - 1)) 28 on "No space left on device" "$@"
    case $name in report | verify) return ;; esac # seconds each
    fail_at $(((calls + 1) / 2)) 122 on "Disk quota exceeded" "$@"
    fail_at $((calls / 3 + 1)) 5 once "Input/output error" "$@"
}

one() { # one NAME OUTPUT COMMAND…
    name=$1
    shift 2
    rm -rf "$work/out" "$work/good"
    mkdir "$work/out"
    (cd "$work" && "$@") >"$work/said" 2>&1 </dev/null
    well=$? # 0, or 1 where a verdict is the command's result
    [ $well -le 1 ] || {
        call=none fault=none start=none
        complain "fails already without a fault"
        return
    }
    cp -r "$work/out" "$work/good"
    stride=$step
    # a page takes seconds and some two hundred calls, most of them of its pictures
    [ "$step" = quick ] || case $name in report | verify) stride=$((40 * step)) ;; esac
    if [ "$step" = quick ]; then quick "$@"; else whole "$@"; fi
}

cd "$work" || exit 2
take_inputs "$fixture" "$source"
each_command one
echo "$tried faults, $bad held wrongly"
[ $bad -eq 0 ]

#!/bin/sh
# sh every_call.sh BIN FIXTURE FAIL_CALL [STEP [COMMAND…]]: every command that writes, with each of
# its calls that change files failing in turn (every STEP-th), once alone (EIO) and once as on a disk
# that is full from then on (ENOSPC). Over outputs that exist already, and where there are none.
#
# After a failure: exit 3, errno's text in the message, no temporary left (but the trace's, whose safe
# rows the message offers by its path), no file that was there is gone or empty, and what is new is
# one of the outputs. Another
# exit code, the good run's, only with all outputs there.
set -u
bin=$1 fixture=$2 fail_call=$3 step=${4:-1}
shift 3
[ $# -gt 0 ] && shift
chosen=" $* "
PATH=$bin:$PATH OMP_NUM_THREADS=1 LC_ALL=C
export PATH OMP_NUM_THREADS LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-writing-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
"$fail_call" 1000 5 once true
[ $? -ne 77 ] || { echo "calls cannot be traced here"; exit 77; }

bad=0 tried=0
names() { (cd "$1" && find . ! -name . | sort); }

complain() { # complain TEXT
    bad=$((bad + 1))
    printf 'FAILED %s, call %s, %s, %s: %s\n' "$name" "$call" "$errno" "$start" "$1"
    sed 's/^/  | /' "$work/said" | tail -n 4
}

look_at() { # what one failed run left in $work/out
    case $code in
    "$well") names "$work/good" | cmp -s - "$work/names" || complain "exit $code with outputs missing" ;;
    3) grep -q "$text" "$work/said" || complain "the message is without \"$text\"" ;;
    *) complain "exit $code" ;;
    esac
    grep 'gpnscope-' "$work/names" | while read -r file; do
        grep -qF "stay readable in out/${file#./}" "$work/said" || echo "$file"
    done >"$work/left"
    [ ! -s "$work/left" ] || complain "left: $(cat "$work/left")"
    names "$work/good" | comm -13 - "$work/names" | grep -v 'gpnscope-' >"$work/left" &&
        complain "not an output: $(cat "$work/left")"
    [ "$start" = over ] || return
    names "$work/before" | comm -23 - "$work/names" >"$work/left"
    [ ! -s "$work/left" ] || complain "gone: $(cat "$work/left")"
    (cd "$work/before" && find . -type f) | while read -r file; do
        [ -s "$work/out/$file" ] || ! [ -s "$work/before/$file" ] || echo "$file"
    done >"$work/left"
    [ ! -s "$work/left" ] || complain "empty: $(cat "$work/left")"
}

one() { # one NAME COMMAND…: outputs go into out/
    name=$1
    shift
    case $chosen in "  " | " " | *" $name "*) ;; *) return ;; esac
    rm -rf "$work/out" "$work/good"
    mkdir "$work/out"
    (cd "$work" && "$@") >"$work/said" 2>&1 </dev/null
    well=$? # 0, or 1 where a verdict is the command's result
    [ $well -le 1 ] || {
        call=none errno=none start=none
        complain "fails already without a fault"
        return
    }
    cp -r "$work/out" "$work/good"
    for start in new over; do
        rm -rf "$work/before"
        if [ $start = new ]; then mkdir "$work/before"; else cp -r "$work/good" "$work/before"; fi
        for errno in "5 once" "28 on"; do
            text="Input/output error"
            [ "$errno" = "5 once" ] || text="No space left on device"
            call=1
            while :; do
                rm -rf "$work/out"
                cp -r "$work/before" "$work/out"
                # shellcheck disable=SC2086 # two words
                { (cd "$work" && timeout 60 "$fail_call" "$call" $errno "$@" 2>&1 </dev/null)
                  echo $? >"$work/code"; } | cat >"$work/said"
                code=$(cat "$work/code")
                [ "$code" -eq 125 ] && break
                tried=$((tried + 1))
                names "$work/out" >"$work/names"
                look_at
                call=$((call + step))
            done
        done
    done
}

cd "$work" || exit 2
for file in "$fixture"/*; do ln -s "$file" .; done
one geometry gpnscope geometry trace.h5 --bootstrap 0 --quiet --force --json out/a.json --csv out/csv
one horizon gpnscope horizon trace.h5 --max-lag 4 --quiet --force --json out/a.json --csv out/csv
one retention gpnscope retention trace.h5 --max-lag 4 --quiet --force --json out/a.json --csv out/csv
one default gpnscope default trace.h5 tiny.safetensors --quiet --force --json out/a.json --csv out/csv
one eval gpnscope eval tiny.safetensors held_out --length 64 --sequences 2 --quiet --force \
    --json out/a.json --csv out/csv
one trace gpnscope trace tiny.safetensors held_out --length 64 --sequences 2 --quiet --force -o out/t.h5
one info gpnscope info trace.h5 --quiet --force --json out/a.json --csv out/csv
one check gpnscope check trace.h5 --quiet --force --json out/a.json
one diff gpnscope diff trace.h5 trace.h5 --quiet --force --json out/a.json --csv out/csv
one curve gpnscope curve runs/tiny_train_log.csv --quiet --force -o out/c.svg
for to in npy npz csv; do
    one "convert_$to" gpnscope convert trace.h5 --quiet --force -o "out/x.$to"
done
one convert_trace gpnscope convert trace.h5 --quiet --force -o out/x.h5
one convert_checkpoint gpnscope convert tiny.safetensors --quiet --force -o out/x.safetensors
one tokenize gpnscope tokenize held_out.txt --tokenizer tokenizer.model --docs blank --quiet --force -o out/d
one tokenize_train gpnscope tokenize held_out.txt --train 300 --docs blank --quiet --force -o out/d
one train gpnscope train config.json --steps 2 --quiet --force -o out/run
one report gpnscope report trace.h5 --quiet --force -o out/page
one verify gpnscope verify trace.h5 --null untrained.h5 --quiet --force -o out/page
echo "$tried faults, $bad held wrongly"
[ $bad -eq 0 ]

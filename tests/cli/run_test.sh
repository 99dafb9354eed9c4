#!/bin/sh
# run.sh can fail: cases that must hold and cases that must not, made here and run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-cli-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

case_is() { # case_is holds|fails WORDS: the case on standard input; what is said must hold WORDS
    mkdir -p "$work/cases"
    cat >"$work/cases/it.case"
    said=$(sh "$here/run.sh" "$work/cases" 2>&1) && is=holds || is=fails
    case $is:$said in
    "$1":*"$2"*) passed=$((passed + 1)) ;;
    *)
        printf 'FAILED: expected that it %s, saying "%s":\n' "$1" "$2"
        cat "$work/cases/it.case"
        printf '%s\n' "$said"
        failed=$((failed + 1))
        ;;
    esac
}

case_is holds "1 passed, 0 failed" <<'END'
# every kind of pattern
--- script
echo "first line"
printf 'a*b\n12 heads\nx\ny\nlast\n'
echo "warning: [1] (2) {3} ^\$ \\ + |" >&2
exit 4
--- exit 4
--- stdout
first*
a\*b
re [0-9]+ (heads|tails)
...
las?
--- stderr
warning: [1] (2) {3} ^$ \\ + |
END
case_is holds "1 passed" <<'END'
--- script
--- exit 0
--- stdout
...
...
END
case_is fails "exit code 3, expected 0" <<'END'
--- script
exit 3
--- exit 0
END
case_is fails "exit code 1, expected 0" <<'END'
# the first command that fails ends the script
--- script
false
true
--- exit 0
END
case_is fails "stdout: a line too many: b" <<'END'
--- script
printf 'a\nb\n'
--- exit 0
--- stdout
a
END
case_is fails "stderr: a line too many: noise" <<'END'
# a stream that is not mentioned must be empty
--- script
echo noise >&2
--- exit 0
END
case_is fails "stdout: no line for this pattern: b" <<'END'
--- script
echo a
--- exit 0
--- stdout
a
b
END
case_is fails "found instead:           ab" <<'END'
--- script
echo ab
--- exit 0
--- stdout
a
END
case_is fails "no line for this pattern: a\*b" <<'END'
--- script
echo axb
--- exit 0
--- stdout
a\*b
END
case_is fails "no line for this pattern: x" <<'END'
--- script
printf 'a\nb\n'
--- exit 0
--- stdout
...
x
...
END
case_is fails "unknown section: --- stdin" <<'END'
--- script
--- stdin
--- exit 0
END
case_is fails "needs one line --- exit N" <<'END'
--- script
true
END

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

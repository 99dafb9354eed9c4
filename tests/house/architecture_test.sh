#!/bin/sh
# architecture.sh can fail: each kind of violation is planted in a small house and must be named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-house-XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

house() { # a small house that breaks no rule
    rm -rf "$work/house"
    mkdir -p "$work/house" && cd "$work/house"
    mkdir -p core/base core/kernels core/programs probes/trace analyses/linalg reports/figures tests .git build
    touch CMakeLists.txt README.md LICENSE .gitignore
    printf '#include "core/base/b.h"\n#include <stdio.h>\n' >core/base/a.h
    printf '/* printf("x"); exit(1); system("rm"); #include "reports/x.h" */\n' >core/base/b.h
    cat >core/base/a.c <<'END'
#include "core/base/a.h"
// abort(); stderr
int snprintf_like(char *x); /* "it's" */
int f(char *b) { return snprintf(b, 1, "exit(1) \" abort() // stderr"); }
int g(struct s *p) { return p->exit(1) + my_exit(2) + exit_code(3) + '"'; }
END
    printf '#include <cblas.h>\n' >core/kernels/blas.c
    printf '#include <stdio.h>\nint main(void) { printf("x"); exit(0); }\n' >core/programs/p.c
    printf '#include "probes/trace/w.h"\n' >analyses/linalg/l.c
    printf '#include "core/base/a.h"\n#include "core/base/b.h"\n' >probes/trace/w.h
    printf 'int f(void) { execvp("gnuplot", 0); _exit(127); }\n' >reports/figures/child.c
    printf '#include "reports/figures/figure.h"\nint main(void) { printf("x"); }\n' >tests/t.c
    printf '\n' >reports/figures/figure.h
}

expect() { # expect WORDS…: the checker fails, and one line of what it says holds all the words
    if said=$(sh "$here/architecture.sh" . 2>&1); then
        echo "FAILED, found nothing: $*"
        failed=$((failed + 1))
        return
    fi
    left=$said
    for word; do left=$(printf '%s\n' "$left" | grep -F -e "$word" || true); done
    if [ -n "$left" ]; then
        passed=$((passed + 1))
    else
        printf 'FAILED, no line with: %s\n%s\n' "$*" "$said"
        failed=$((failed + 1))
    fi
}

house
if sh "$here/architecture.sh" .; then passed=$((passed + 1)); else
    echo "FAILED: a clean house is refused"
    failed=$((failed + 1))
fi

house; printf '#include "probes/trace/w.h"\n' >core/base/up.c
expect "core/base/up.c:1" "upward include" "probes/trace/w.h"
house; printf '#include "analyses/linalg/x.h"\n' >probes/trace/up.h
expect "probes/trace/up.h:1" "upward include"
house; printf '  #  include "reports/figures/figure.h"\n' >analyses/linalg/up.c
expect "analyses/linalg/up.c:1" "upward include"
house; printf '#include "tests/t.h"\n' >reports/figures/t.c
expect "reports/figures/t.c:1" "includes a test's file"
house; printf '#include "core/base/a.h"\n' >core/base/b.h
expect "circular include" "core/base/a.h" "core/base/b.h"
house; printf '#include "core/base/a.h"\n' >core/base/c.h; printf '#include "core/base/c.h"\n' >core/base/b.h
expect "circular include" "core/base/a.h" "core/base/b.h" "core/base/c.h"
house; printf '#include "a.h"\n' >core/base/n.c
expect "core/base/n.c:1" "from the root"
house; printf '#include "core/base/a.c"\n' >tests/n.c
expect "tests/n.c:1" "source file core/base/a.c"
for library in cblas lapacke hdf5 jansson popt sentencepiece_processor sentencepiece_trainer; do
    house; printf '/* second */ #include <%s.h>\n' $library >core/base/second.c
    expect "core/base/second.c:1" "includes $library.h"
done
house; printf '#include <openblas/cblas.h>\n' >probes/trace/second.c
expect "probes/trace/second.c:1" "includes cblas.h"
house; printf 'void f(void) { execvp("gnuplot", 0); }\n' >reports/figures/second.c
expect "reports/figures/second.c:1" "execvp() starts a program"
for call in 'popen("gnuplot", "w")' 'system("gnuplot")' 'fork()' 'posix_spawnp(0)' 'posix_spawn(0)' 'execl("x", 0)'; do
    house; printf 'void f(void) {\n    %s;\n}\n' "$call" >analyses/linalg/second.c
    expect "analyses/linalg/second.c:2" "${call%%(*}() starts a program"
done
for call in 'printf("x")' 'puts("x")' 'putchar(1)' 'perror("x")' 'exit(1)' '_exit(1)' '_Exit(1)' 'quick_exit(1)' 'abort()' 'vprintf(f, a)'; do
    house; printf 'void f(void) { if (x) %s; }\n' "$call" >analyses/linalg/loud.c
    expect "analyses/linalg/loud.c:1" "${call%%(*}() in a library"
done
house; printf 'void f(void) { fprintf(stderr, "x"); }\n' >probes/trace/loud.c
expect "probes/trace/loud.c:1" "writes to stderr"
house; printf 'void f(void) { printf ("x"); }\n' >core/base/loud.cpp
expect "core/base/loud.cpp:1" "printf() in a library"
house; mkdir docs
expect "docs" "top level"
house; touch notes.txt
expect "notes.txt" "top level"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

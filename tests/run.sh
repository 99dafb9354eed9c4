#!/bin/sh
# All tests with one command: sh tests/run.sh [--slow] [--asan | --debug | --valgrind]
#
#   (nothing)    set up the machine, build the release, run every test but the slow ones
#   --slow       every test
#   --asan       the same tests, built with the address and undefined-behaviour sanitizers
#   --debug      the same tests, built without optimisation
#   --valgrind   only the end-to-end test under valgrind
# What follows is passed to ctest, for example: sh tests/run.sh -R geometry
set -eu
cd "$(dirname "$0")/.."

preset=release profiles="build test" slow=no only=""
while [ $# -gt 0 ]; do
    case $1 in
    --slow) slow=yes profiles="build test lint" ;;
    --asan) preset=asan ;;
    --debug) preset=debug ;;
    --valgrind) only=valgrind profiles="build test lint" ;;
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) break ;;
    esac
    shift
done

# shellcheck disable=SC2086 # profiles are words
sh core/setup.sh $profiles
cmake --preset $preset || {
    echo "tests/run.sh: configuring failed; if build/ is from another machine or generator, remove it" >&2
    exit 3
}
cmake --build --preset $preset

if [ -n "$only" ]; then set -- -L "^$only\$" "$@"; elif [ $slow = no ]; then set -- -LE '^slow$' "$@"; fi
# Programs that tests start know of leaks that are not ours, too.
LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0}
export LSAN_OPTIONS
# Two tests at a time share the cores; a thread that waits must not burn the other test's time.
OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} exec ctest --preset $preset "$@"

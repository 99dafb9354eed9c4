#!/bin/sh
# sh tests/install/consumer.sh BUILD: installs BUILD into a scratch folder, builds and runs the
# consumer project there, and compiles every installed header alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-install-XXXXXX")
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }

echo "installed programs run, and find each other:"
"$work/prefix/bin/gpnscope" --version
"$work/prefix/bin/gpnscope" help geometry >/dev/null

echo "every header stands alone:"
headers=0
for header in $(cd "$work/prefix/include/gpnscope" && find . -name '*.h' | sed 's|^\./||'); do
    printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$header" "$header" >"$work/alone.c"
    "${CC:-cc}" -std=c17 -Wall -Wextra -Werror -fsyntax-only -I"$work/prefix/include/gpnscope" "$work/alone.c"
    headers=$((headers + 1))
done
[ "$headers" -gt 0 ]
echo "$headers headers"

echo "the consumer builds and runs:"
if ! { cmake -S "$here/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="${GS_CONSUMER_FLAGS:-}" \
    -DCMAKE_CXX_FLAGS="${GS_CONSUMER_FLAGS:-}" &&
    cmake --build "$work/consumer"; } >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi
"$work/consumer/consumer" "$work/result.json"
grep -q '"schema": *"gpnscope-results"' "$work/result.json"

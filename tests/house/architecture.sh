#!/bin/sh
# The house keeps its shape: sh tests/house/architecture.sh [ROOT]
# Layers, circles, one file for each library, who may start programs or print (architecture.awk),
# and the names at the top level. Exit 1 with one line a violation.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}" || exit 2
bad=0

# The top level: the house's folders and files, dot-files, and build folders (never committed).
for name in *; do
    case $name in
    core | probes | analyses | reports | tests | fixtures) ;;
    CMakeLists.txt | CMakePresets.json | README.md | LICENSE) ;;
    build*) ;;
    *)
        echo "$name: does not belong at the top level (README.md says what stands where)"
        bad=1
        ;;
    esac
done

set -f
# shellcheck disable=SC2046 # no path in the project holds a space: checked here
set -- $(find core probes analyses reports tests -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' \) |
    LC_ALL=C sort)
set +f
[ $# -gt 0 ] || { echo "no source files found in $PWD"; exit 2; }
for file; do
    [ -f "$file" ] || { echo "$file: a path with a space"; exit 1; }
done
awk -f "$here/architecture.awk" "$@" || bad=1
[ $bad -ne 0 ] || echo "$# files, no violation"
exit $bad

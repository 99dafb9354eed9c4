#!/bin/sh
# Every shell script parses, and shellcheck has nothing to say. Exit 77 where it is absent.
set -u
cd "$(dirname "$0")/../.." || exit 2
find core probes analyses reports tests -name '*.sh' -exec sh -c 'for f; do sh -n "$f" || exit 1; done' sh {} + || exit 1
command -v shellcheck >/dev/null || {
    echo "skipped: shellcheck is absent (sh core/setup.sh lint installs it)"
    exit 77
}
find core probes analyses reports tests -name '*.sh' -exec shellcheck {} +

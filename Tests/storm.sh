#!/usr/bin/env bash
# Starts and stops compasses from many threads at once, under the thread and the address sanitizer:
# storm.sh [SECONDS], which each of them gets (300). Optimised: what the compiler makes of a coroutine that yields a large
# value without being asked to optimise reads it after it has freed it, as the address sanitizer says.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
export LODESTONE_BOARD=simulated ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=exitcode=66
for sanitizer in thread address; do
  flags=(-c release --sanitize="$sanitizer" --scratch-path ".build-$sanitizer")
  swift build "${flags[@]}" --product compass-storm
  echo "$sanitizer sanitizer:"
  "$(swift build "${flags[@]}" --show-bin-path)/compass-storm" "$seconds"
done

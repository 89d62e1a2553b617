#!/usr/bin/env bash
# Starts and stops compasses from many threads at once, under the thread sanitizer and the address sanitizer, which says
# what has leaked too: storm.sh [SECONDS [KIND...]], KIND: thread, address, unoptimised (the address sanitizer on a build
# as swift run makes it, where values are copied and freed at other places). Each of them gets SECONDS (300).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
kinds=("${@:2}")
[ ${#kinds[@]} -gt 0 ] || kinds=(thread address unoptimised)
export LODESTONE_BOARD=simulated TSAN_OPTIONS=exitcode=66
for kind in "${kinds[@]}"; do
  case $kind in
    thread | address) flags=(-c release --sanitize="$kind") ;;
    unoptimised) flags=(--sanitize=address) ;;
    *)
      echo "storm.sh: $kind is neither thread nor address nor unoptimised" >&2
      exit 64
      ;;
  esac
  flags+=(--scratch-path ".build-$kind")
  swift build "${flags[@]}" --product compass-storm
  echo "$kind:"
  "$(swift build "${flags[@]}" --show-bin-path)/compass-storm" "$seconds"
done

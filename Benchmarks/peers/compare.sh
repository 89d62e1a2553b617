#!/usr/bin/env bash
# This filter and published ones on the same rows in the same run: errors a trial, means, speed, ratios.
#   compare.sh                               all groups of recordings in data of $LODESTONE_SHARED, then speed
#   compare.sh [DIR] [options of broad]      one folder; DIR: else data/broad of $LODESTONE_SHARED
# Python packages, pinned in requirements.txt, go to a virtual environment in Benchmarks/.build/peers.
set -euo pipefail
peers=$(cd "$(dirname "$0")" && pwd)
package=$(dirname "$peers")

data=${LODESTONE_SHARED:-$package/../../shared}/data
folder=$data/broad
by_groups=$([ $# -gt 0 ] || echo yes)
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  folder=$1
  shift
fi

# A plan that SwiftPM has kept knows nothing of files that were added to the package above.
flags=(-c release --disable-build-manifest-caching --package-path "$package")
for product in broad fusion-speed fusion-groups; do swift build "${flags[@]}" --product "$product"; done
bin=$(swift build "${flags[@]}" --show-bin-path)

# Named after what is in it: another pin makes another one.
environment=$package/.build/peers/$(md5sum <"$peers/requirements.txt" | cut -c 1-8)
if [ ! -x "$environment/ready" ]; then
  rm -rf "$environment"
  python3 -m venv "$environment" || {
    echo "compare.sh: python3 cannot make a virtual environment (Debian: apt-get install python3-venv)" >&2
    exit 1
  }
  "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$peers/requirements.txt"
  install -m 755 /dev/null "$environment/ready"
fi

rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
if [ -n "$by_groups" ]; then
  "$bin/fusion-groups" "$data" --rows "$rows/groups"
  echo
  "$environment/bin/python" "$peers/groups.py" "$rows/groups"
  rm -rf "$rows/groups"
  echo
fi
"$bin/broad" "$folder" "$@" --rows "$rows" | tee "$rows/broad.txt"
echo
# At the recordings' own rate, whatever the options say: a decimated row costs the same.
"$environment/bin/python" "$peers/peers.py" "$rows" \
  --speed "$bin/fusion-speed" "$folder" --broad "$(tail -n 1 "$rows/broad.txt")"

#!/usr/bin/env bash
# Fault sequences from a seed: faults.sh SEED COUNT OUT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seed=$1 count=$2 out=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/random.yaml" <<SCENARIO
schema: 1
name: random faults
steps:
  - randomFaults: {count: $count, seed: $seed}
SCENARIO
# A sequence takes 4 to 10 s, and the suite itself 15.
"$here/run.py" --script "$here/guest/random.sh" --add "$folder/random.yaml" --seconds $((60 + 12 * count)) --out "$out"

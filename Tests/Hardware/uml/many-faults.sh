#!/usr/bin/env bash
# Two hundred fault sequences, 25 in each of eight guests, four guests at a time: many-faults.sh [OUT]. SEED names
# the first guest's seed, the others follow. Too long for every change: ten are in all.sh.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/uml-faults}
seed=${SEED:-1000}
mkdir -p "$out"
. "$here/../../table.sh"

part 0 "kernel and build" "$here/run.py" --build
run 0
show 0
for number in 1 2 3 4 5 6 7 8; do
  part "$number" "25 sequences, seed $((seed + number - 1))" \
    "$here/faults.sh" $((seed + number - 1)) 25 "$out/$((seed + number - 1))"
done
for number in 1 2 3 4; do run "$number" & done
wait
for number in 5 6 7 8; do run "$number" & done
wait
show 1 2 3 4 5 6 7 8
finish

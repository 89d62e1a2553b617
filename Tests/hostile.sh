#!/usr/bin/env bash
# What strangers and a bad day do to the built command, from outside, in less than two minutes: hostile.sh LODESTONE.
# A map under attack, a bus that somebody locked, a full disk, a slow disk, other users of the machine, a policy and who wants
# around it. As root; what needs root says so and is left out for others.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lodestone=$(realpath "$1")
. "$here/table.sh"

part 1 "a slow disk" "$here/slow-sink.py" "$lodestone"
part 2 "a full disk" "$here/full-disk.sh" "$lodestone"
part 3 "a bus that others lock" "$here/bus-lock.py" "$lodestone"
part 4 "other users, the policy" "$here/policy-hostile.sh" "$lodestone"
part 5 "strangers at the live map" "$here/map-hostile.py" "$lodestone"

for number in 1 2 3 4; do run "$number" & done
wait
# Pauses are measured: with the processors to itself.
run 5
show 1 2 3 4 5
finish

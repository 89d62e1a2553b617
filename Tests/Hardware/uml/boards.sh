#!/usr/bin/env bash
# `lodestone hil run` on the twins of the files of Boards/ that stand for hardware, a guest each: boards.sh OUT [NAME...],
# by default all. Prints board, verdict, time and checks; the table stays in OUT/table.txt.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
out=$1
shift
mkdir -p "$out"
. "$here/../../table.sh"
mapfile -t boards < <(cd "$root/Boards" && grep -L '^simulation:' -- *.yaml | sed 's/\.yaml$//')
[ $# -eq 0 ] || boards=("$@")

checks() { # folder: how many of the suite's checks came to what
  python3 - "$1/report.json" <<'COUNT' 2>/dev/null || echo "no report"
import collections, json, sys
count = collections.Counter(check["outcome"] for check in json.load(open(sys.argv[1]))["checks"])
print(", ".join(f"{number} {outcome}" for outcome, number in count.most_common()))
COUNT
}

"$here/run.py" --build || exit
for number in "${!boards[@]}"; do
  board=${boards[number]}
  part "$number" "$board" "$here/run.py" --script "$here/guest/board.sh" --board "$root/Boards/$board.yaml" \
    --seconds 90 --out "$out/$board"
  # A guest waits most of its time.
  while [ "$(jobs -rp | wc -l)" -ge "${GUESTS:-3}" ]; do wait -n; done
  run "$number" &
done
wait
again "${!boards[@]}"
for number in "${!boards[@]}"; do
  sed -i "s/\$/   $(checks "$out/${boards[number]}")/" "$work/$number.line"
  # What is right needs no log.
  if is_wrong "$number"; then show "$number"; else table+=("$(cat "$work/$number.line")"); fi
done
finish | tee "$out/table.txt"

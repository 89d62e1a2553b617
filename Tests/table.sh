# Sourced by what runs several parts of a test and ends with a table of them: every part is named by a number,
# registered with `part`, run with `run`, shown with `show`; `finish` prints the table.

declare -A names commands
table=() failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

part() { # number, name, command...
  names[$1]=$2
  commands[$1]=$(printf '%q ' "${@:3}")
}

# A part's output is kept and shown when it is over: several run at once.
run() { # number [note for the table]
  local number=$1 begin=$EPOCHREALTIME result=right
  eval "${commands[$number]}" >"$work/$number.log" 2>&1 || result="WRONG ($?)"
  awk -v n="${names[$number]}" -v r="$result" -v b="$begin" -v e="$EPOCHREALTIME" -v m="${2:-}" \
    'BEGIN { printf "%-32s %-12s %6.1f s%s", n, r, e - b, m == "" ? "" : "   " m }' >"$work/$number.line"
}

is_wrong() { grep -q WRONG "$work/$1.line"; }

# What went wrong is tried once more, by itself: a neighbour's work on this machine makes an emulated board late. A
# fault of ours comes again.
again() { # number...
  for number in "$@"; do
    is_wrong "$number" || continue
    printf '\n== %s\n' "$(cat "$work/$number.line")"
    cat "$work/$number.log"
    run "$number" "at the second try"
  done
}

show() { # number...
  for number in "$@"; do
    printf '\n== %s\n' "$(cat "$work/$number.line")"
    cat "$work/$number.log"
    table+=("$(cat "$work/$number.line")")
    is_wrong "$number" && failures=$((failures + 1))
  done
}

# The table, below it what failed, for whoever sees only the end; the exit code says whether a part went wrong.
finish() {
  printf '\n'
  printf '%s\n' "${table[@]}"
  local line
  for line in "$work"/*.line; do
    grep -q WRONG "$line" || continue
    printf '\n%s:\n' "$(head -c 32 "$line")"
    grep -iE "failed  |error|uml:" "${line%.line}.log" | tail -n 4
  done
  exit $((failures > 0))
}

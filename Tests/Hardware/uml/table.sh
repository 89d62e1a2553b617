# Sourced by what runs several parts and ends with a table of them.

table=() failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A part's output is kept and shown when it is over: several run at once.
run_part() { # number, name, command...
  local number=$1 name=$2 begin=$EPOCHREALTIME result=right
  shift 2
  "$@" >"$work/$number.log" 2>&1 || result="WRONG ($?)"
  awk -v n="$name" -v r="$result" -v b="$begin" -v e="$EPOCHREALTIME" \
    'BEGIN { printf "%-32s %-12s %6.1f s", n, r, e - b }' >"$work/$number.line"
}

show() { # number...
  for number in "$@"; do
    local line
    line=$(cat "$work/$number.line")
    printf '\n== %s\n' "$line"
    cat "$work/$number.log"
    table+=("$line")
    [[ $line == *WRONG* ]] && failures=$((failures + 1))
  done
}

# end: the table; the exit code says whether a part went wrong.
end() {
  printf '\n'
  printf '%s\n' "${table[@]}"
  exit $((failures > 0))
}

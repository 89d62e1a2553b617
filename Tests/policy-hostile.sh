#!/usr/bin/env bash
# Attacks the authorization policy and the permissions of what a machine keeps, from outside: policy-hostile.sh LODESTONE.
# Root plays the owner, in a mount namespace with an /etc of its own; user 65534 attacks, and 65533 is a stranger. The attacks
# run side by side, about ten seconds. Without root it says so and does nothing.
set -uo pipefail
if [ "$(id -u)" -ne 0 ]; then
  echo "policy-hostile.sh: skipped, needs root for a mount namespace and other users"
  exit 0
fi
if [ -z "${LODESTONE_POLICY_INSIDE:-}" ]; then
  LODESTONE_POLICY_INSIDE=1 exec unshare -m -- "$BASH" "$(realpath "$0")" "$(realpath "$1")"
fi

cd "$(dirname "$0")/.." || exit
scratch=$(mktemp -d)
running=()
finish() {
  for process in "${running[@]}"; do kill "$process" 2>/dev/null; done
  wait 2>/dev/null
  umount "$scratch/etc" 2>/dev/null
  umount -l /etc 2>/dev/null
  rm -rf "$scratch"
}
trap finish EXIT
chmod 755 "$scratch"
mount --make-rprivate /
mkdir "$scratch/etc"
mount -t tmpfs -o mode=755 tmpfs "$scratch/etc"
cp -a /etc/. "$scratch/etc/"
rm -rf "$scratch/etc/lodestone"
mount --bind "$scratch/etc" /etc

# The attacker has to be able to read the program.
install -m 755 "$1" "$scratch/lodestone"
lodestone=$scratch/lodestone
failures=0
right() { echo "right   $1"; }
wrong() {
  echo "WRONG   $1: $2"
  failures=$((failures + 1))
}

# policy TEXT: what the owner has written; nothing for no file. Who has started by then has read it, or will by `settled`.
policy() {
  rm -rf /etc/lodestone
  [ -n "$1" ] || return 0
  mkdir /etc/lodestone
  printf 'schema: 1\nrules:%b\n' "$1" >/etc/lodestone/authorization.yaml
}

# as USER NAME COMMAND...: runs it as that user, with the state folder NAME.state, in NAME.work; output and errors in NAME.out and its exit
# code in NAME.code. VARIABLE=VALUE may stand before the command.
as() {
  local user=$1 name=$2
  shift 2
  mkdir -p "$scratch/$name.state" "$scratch/$name.work"
  chown "$user" "$scratch/$name.state" "$scratch/$name.work"
  (
    cd "$scratch/$name.work" || exit
    timeout 30 setpriv --reuid="$user" --regid="$user" --clear-groups env -i PATH="$PATH" HOME="$scratch/$name.state" \
      STATE_DIRECTORY="$scratch/$name.state" "$@" >"$scratch/$name.out" 2>&1 </dev/null
    echo $? >"$scratch/$name.code"
  ) &
  running+=($!)
}

# settled: waits until all that was started has ended.
settled() {
  wait "${running[@]}"
  running=()
}

# ends NAME CODE PATTERN: it ended so, and said that.
ends() {
  local code
  code=$(cat "$scratch/$1.code")
  if [ "$code" -ne "$2" ]; then
    wrong "$1" "exit code $code, not $2: $(tail -n 2 "$scratch/$1.out")"
  elif ! grep -qE "$3" "$scratch/$1.out"; then
    wrong "$1" "does not say '$3': $(tail -n 2 "$scratch/$1.out")"
  else
    right "$1"
  fi
}

# withholds NAME: headings and pressure came, and nothing that says where the board is.
withholds() {
  local leak
  leak=$(grep -oE '"(latitude|longitude|declination|ellipsoidalAltitude|inView)":[^,]*|"trueHeading":[0-9][^,]*|"kind":"(sky|absoluteAltitude)"' \
    "$scratch/$1.out" | head -n 3 | tr '\n' ' ')
  # What it keeps is its user's to read.
  leak+=$(grep -rlE '"(latitude|longitude)"' "$scratch/$1.state" 2>/dev/null | head -n 3 | tr '\n' ' ')
  if [ -n "$leak" ]; then
    wrong "$1" "tells $leak"
  elif ! grep -q '"magneticHeading":[0-9]' "$scratch/$1.out" || ! grep -q '"pressure":[0-9]' "$scratch/$1.out"; then
    wrong "$1" "has no heading or no pressure: $(tail -n 2 "$scratch/$1.out")"
  else
    ends "$1" 0 'not authorized'
  fi
}

attacker=65534 stranger=65533
# As the simulated board, with a fix from the start.
sed 's/fix: false/fix: true/' Boards/simulated.yaml >"$scratch/board.yaml"
monitor=("$lodestone" monitor --board "$scratch/board.yaml" --format json --seconds 5)
deny='\n  - authorization: denied'
printf 'schema: 1\nrules:\n  - authorization: always\n' >"$scratch/allow.yaml"
printf 'schema: 1\nrules:%b\n' "$deny" >"$scratch/deny.yaml"

# What an earlier version has left behind in a folder that systemd made, with a link that leads out of it.
mkdir -p "$scratch/state.state/regions"
echo '{"schema":1,"latitude":52.5,"longitude":13.4,"altitude":40,"utc":1795000000}' >"$scratch/state.state/position.json"
echo '{}' >"$scratch/state.state/regions/boat.json"
echo '{}' >"$scratch/elsewhere.json"
ln -s "$scratch/elsewhere.json" "$scratch/state.state/altitude.json"
chmod -R u=rwX,go=rX "$scratch/state.state"
chmod 644 "$scratch/elsewhere.json"
chown -R "$attacker" "$scratch/state.state" "$scratch/elsewhere.json"

policy ''
as $attacker "without a policy" "${monitor[@]}"
as $attacker "a variable denies" LODESTONE_AUTHORIZATION="$scratch/deny.yaml" "${monitor[@]}"
as $attacker "a named file that is missing" LODESTONE_AUTHORIZATION=/nonexistent "${monitor[@]}"
as $attacker "the rules that are missing" LODESTONE_AUTHORIZATION=/nonexistent "$lodestone" authorization
as $attacker "the doctor of missing rules" LODESTONE_AUTHORIZATION=/nonexistent "$lodestone" doctor --board "$scratch/board.yaml"
as $attacker state "$lodestone" record --board "$scratch/board.yaml" --seconds 2 recording.txt
settled
grep -q '"latitude":' "$scratch/without a policy.out" && grep -q '"trueHeading":[0-9]' "$scratch/without a policy.out" &&
  right "without a policy there is a position" || wrong "without a policy" "no position: $(tail -n 2 "$scratch/without a policy.out")"
withholds "a variable denies"
ends "a named file that is missing" 78 '/nonexistent.*LODESTONE_AUTHORIZATION'
ends "the rules that are missing" 78 'no program may know'
ends "the doctor of missing rules" 1 'no program may know.*/nonexistent'

# Permissions.
wide=$(find "$scratch/state.state" ! -type l -perm /077 -printf '%m %P; ')
if [ -n "$wide" ]; then wrong "what is kept is closed to others" "$wide"; else right "what is kept is closed to others"; fi
[ "$(stat -c %a "$scratch/state.work/recording.txt")" = 600 ] && [ -s "$scratch/state.work/recording.txt" ] &&
  right "a recording is its owner's" || wrong "a recording is its owner's" "$(ls -l "$scratch/state.work")"
[ "$(stat -c %a "$scratch/elsewhere.json")" = 644 ] &&
  right "no link is followed" || wrong "no link is followed" "$(ls -l "$scratch/elsewhere.json")"
for file in state.state/position.json state.state/regions/boat.json state.work/recording.txt; do
  setpriv --reuid=$stranger --regid=$stranger --clear-groups cat "$scratch/$file" >/dev/null 2>&1 &&
    wrong "a stranger reads $file" "its permissions: $(stat -c %A "$scratch/$file")"
done

policy "$deny"
as 0 "root is exempt" "${monitor[@]}"
as $attacker "the owner denies" "${monitor[@]}"
as $attacker "a variable that allows" LODESTONE_AUTHORIZATION="$scratch/allow.yaml" "${monitor[@]}"
as $attacker "a variable that names nothing" LODESTONE_AUTHORIZATION=/nonexistent "${monitor[@]}"
as $attacker "root of a namespace" unshare -r "${monitor[@]}"
as $attacker "a table" "$lodestone" monitor --board "$scratch/board.yaml" --seconds 4
for command in gnss "map --port 0" "record recording.txt" "hil run --brief" "monitor --truth --format json"; do
  # shellcheck disable=SC2086
  as $attacker "denied $command" "$lodestone" $command --board "$scratch/board.yaml" --seconds 3
done
settled
grep -q '"latitude":' "$scratch/root is exempt.out" &&
  right "root is exempt" || wrong "root is exempt" "$(tail -n 2 "$scratch/root is exempt.out")"
withholds "the owner denies"
withholds "a variable that allows"
ends "a variable that names nothing" 78 '/nonexistent'
# Some systems let nobody make a namespace.
if grep -q 'unshare' "$scratch/root of a namespace.out"; then echo "skipped root of a namespace"; else withholds "root of a namespace"; fi
ends "a table" 0 'not authorized'
grep -qE '(^|[^a-z])true [0-9]|5[0-9]\.[0-9]{3}' "$scratch/a table.out" && wrong "a table" "$(grep -m 1 -E 'true [0-9]|5[0-9]\.[0-9]{3}' "$scratch/a table.out")"
for command in gnss "map --port 0" "record recording.txt" "hil run --brief" "monitor --truth --format json"; do
  ends "denied $command" 77 'authorized'
done
[ ! -e "$scratch/denied record recording.txt.work/recording.txt" ] ||
  wrong "denied record" "leaves $(ls -l "$scratch/denied record recording.txt.work/recording.txt")"

# Each with its own policy: they have read it when they have ended, which the short ones do at once.
for mistake in 'user: nobody-of-this-name' 'unit: no-such-unit.service' 'user: "54321"'; do
  policy "\n  - {authorization: always, $mistake}"
  as $attacker "a rule for ${mistake//:/}" "$lodestone" monitor --board "$scratch/board.yaml" --format json --seconds 3
  settled
  ends "a rule for ${mistake//:/}" 78 'authorization.yaml:3: there is no (user|unit)'
done
policy "$deny"
chmod 700 /etc/lodestone
as $attacker "a folder of the owner's" "${monitor[@]}"
settled
ends "a folder of the owner's" 78 'ermission denied'

policy '\n  - {authorization: whenInUse, accuracy: reduced}'
as $attacker "reduced accuracy" LODESTONE_AUTHORIZATION="$scratch/allow.yaml" "${monitor[@]}"
as $attacker "reduced gnss" "$lodestone" gnss --board "$scratch/board.yaml" --seconds 3
settled
ends "reduced accuracy" 0 '"horizontalAccuracy":[45]000'
[ "$(grep -oE '"latitude":[^,]*' "$scratch/reduced accuracy.out" | sort -u | wc -l)" -eq 1 ] &&
  ! grep -qE '"(altitude|speed)":[1-9]|"kind":"absoluteAltitude"' "$scratch/reduced accuracy.out" ||
  wrong "reduced accuracy" "$(grep -m 1 '"kind":"location"' "$scratch/reduced accuracy.out")"
ends "reduced gnss" 77 'reduced accuracy'

echo "policy-hostile.sh: $failures wrong, in $SECONDS s"
[ "$failures" -eq 0 ]

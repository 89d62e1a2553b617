#!/usr/bin/env bash
# Tries the README's two commands as somebody does who has a fresh Debian 13 with git and make, and nothing else:
# fresh-debian.sh [TARGET...], by default run and test. As root; half an hour, 5 GB in LODESTONE_CACHE, which go again.
#
# debootstrap makes a minimal root of the machine's own mirror and architecture. The project is copied into it as it is in the
# working tree, without what was built. Swift's packages come from where git finds them.
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian-root.sh

[ "$(id -u)" -eq 0 ] || { echo "fresh-debian.sh: needs root for debootstrap and a mount namespace" >&2; exit 1; }
PATH=$PATH:/usr/sbin
command -v debootstrap >/dev/null || { echo "fresh-debian.sh: apt-get install debootstrap" >&2; exit 1; }
mkdir -p "$debian_cache"
root=$(mktemp -d "$debian_cache/fresh-XXXXXX")
# in_root mounts in a namespace of its own: nothing of this machine is mounted here any more.
trap 'rm -rf --one-file-system "$root"' EXIT

step() { printf '== %s (%ss)\n' "$1" "$SECONDS"; }
step "a minimal Debian 13"
debootstrap --variant=minbase --include=git,make,ca-certificates trixie "$root/debian" "$(debian_mirror)" >"$root/log" 2>&1 ||
  { tail -n 5 "$root/log" >&2; exit 1; }
mkdir -p "$root/debian/work" "$root/project"
git ls-files -z | tar --null -T - -cf - | tar -C "$root/project" -xf -

root_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd "$root/project"
[ $# -gt 0 ] || set -- run test
for target in "$@"; do
  step "make $target"
  log=$root/$target.log
  if ! in_root "$root/debian" "make $target ARGS='--seconds 5'" 2>&1 | tee "$log"; then
    echo "fresh-debian.sh: make $target failed" >&2
    exit 1
  fi
  # What the README promises to see.
  [ "$target" != run ] || grep -qE 'heading +magnetic [0-9.]+ deg' "$log" ||
    { echo "fresh-debian.sh: make run has shown no heading" >&2; exit 1; }
done
step "done"

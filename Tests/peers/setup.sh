#!/usr/bin/env bash
# Puts the peers that no package of the system brings into the cache, and prints the folder: PyPI's in a virtual environment, and
# Debian's programs that would start a service of their own where they were installed (Prometheus, InfluxDB 1, chronyd), unpacked.
# What is there stays, so that a second run needs no network.
#
# `setup.sh long` adds Home Assistant of 2024 in an environment of its own (400 MB), for its schemas of entities.
#
# Two peers are in no registry, and are used where somebody has put them into the folder:
#   signalk/schemas   the JSON schemas of github.com/SignalK/specification (CC BY-SA)
#   bin/analyzer      canboat's analyzer, built from github.com/canboat/canboat: `make -C analyzer` (Apache-2.0)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
. Scripts/debian-root.sh
place=$debian_cache/peers

environment() {
  local key stamp=$place/requirements.key
  key=$(python3 -c 'import sys; print(sys.version, sys.prefix)' | cat - "$here/requirements.txt" | md5sum)
  if [ ! -x "$place/bin/python" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$key" ]; then
    # Without packages of the system: a guest of the hardware tests reads this folder with its own Python.
    rm -rf "$place"/{include,lib,lib64,pyvenv.cfg}
    python3 -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    printf '%s\n' "$key" >"$stamp"
  fi
}

home_assistant() {
  [ -d "$1.new" ] && rm -rf "$1.new"
  python3 -m venv "$1.new"
  "$1.new/bin/python" -m pip install --quiet --disable-pip-version-check homeassistant==2024.3.3
  mv "$1.new" "$1"
}

# The machine's own release, whose libraries they need.
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
program() {
  debian_unpack "$debian_cache/peer-$1-$suite" "$(dpkg --print-architecture)" "$suite" "$1"
}

programs() {
  local package found
  mkdir -p "$place/programs"
  for package in prometheus influxdb chrony; do
    # By itself, so that one that this release does not have is no reason to be without the others.
    if [ -d "$debian_cache/peer-$package-$suite" ] || "$here/setup.sh" program "$package"; then
      for found in "$debian_cache/peer-$package-$suite"/usr/{bin,sbin}/*; do
        [ ! -f "$found" ] || ln -sfn "$found" "$place/programs/"
      done
    else
      echo "lodestone: no package $package for '$suite': that peer of the protocols is left out"
    fi
  done
}

if [ "${1:-}" = program ]; then
  program "$2"
  exit
fi
mkdir -p "$place"
exec 8>"$debian_cache/peers.lock"
flock -w 900 8
environment >&2
if [ "${1:-}" = long ] && [ ! -d "$place/homeassistant" ]; then home_assistant "$place/homeassistant" >&2; fi
if command -v dpkg >/dev/null; then programs >&2; fi
echo "$place"

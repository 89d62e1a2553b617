#!/usr/bin/env bash
# Compiles the C shim against the headers of libgpiod 1 and 2, warnings as errors. The version that is not
# installed is unpacked from a Debian package into the cache, not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${LODESTONE_CACHE:-$HOME/.cache/lodestone}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

header() { # suite -> a folder with that suite's gpiod.h
  local folder=$cache/gpiod-$1 apt uri
  if [ ! -e "$folder/usr/include/gpiod.h" ]; then
    apt=$(mktemp -d)
    uri=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
      sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' |
      grep -E '/debian/?$' | head -n 1 || true)
    [ -n "$uri" ] || { echo "check-gpiod: no Debian mirror in /etc/apt" >&2; return 1; }
    mkdir -p "$apt"/{lists,archives}/partial "$folder"
    echo "deb [signed-by=$keyring] $uri $1 main" >"$apt/sources.list"
    : >"$apt/status"
    local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
      -o "Dir::State::status=$apt/status" -o "Dir::Cache::archives=$apt/archives" -o Dir::Cache::pkgcache=
      -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
    apt-get "${options[@]}" -qq update
    (cd "$apt" && apt-get "${options[@]}" -qq download libgpiod-dev)
    dpkg-deb -x "$apt"/libgpiod-dev_*.deb "$folder"
    rm -rf "$apt"
  fi
  echo "$folder/usr/include"
}

for suite in bookworm trixie; do
  include=$(header "$suite")
  version=$(printf '#include "gpio.c"\n' | cc -Wall -Wextra -Werror -I "$include" -I Sources/CLinuxIO/include \
    -I Sources/CLinuxIO -E -dM -x c - | sed -n 's/^#define GPIOD_VERSION //p')
  for file in Sources/CLinuxIO/*.c; do
    cc -Wall -Wextra -Werror -I "$include" -I Sources/CLinuxIO/include -fsyntax-only "$file"
  done
  echo "libgpiod $version ($suite): compiles"
done

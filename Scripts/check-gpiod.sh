#!/usr/bin/env bash
# Compiles the C shim against the headers of libgpiod 1 and 2, warnings as errors. The version that is not
# installed is unpacked from a Debian package into the cache, not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

. Scripts/debian-root.sh

header() { # suite -> a folder with that suite's gpiod.h
  local folder=$debian_cache/gpiod-$1
  debian_once "$folder" debian_unpack "$(dpkg --print-architecture)" "$1" libgpiod-dev
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

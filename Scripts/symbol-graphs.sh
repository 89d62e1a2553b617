#!/usr/bin/env bash
# Writes what is public in modules, with its comments, as symbol graphs: symbol-graphs.sh BIN FOLDER MODULE...
# BIN is the folder that `swift build --show-bin-path` prints; the modules have to be built.
set -euo pipefail
bin=$(realpath "$1") folder=$2
shift 2
mkdir -p "$folder"

# A module of C is found by its map: the build's own, or the one beside its headers.
maps=()
for map in "$bin"/*.build/module.modulemap "$bin"/../../checkouts/*/Sources/*/include/module.modulemap; do
  if [ -e "$map" ]; then maps+=(-Xcc "-fmodule-map-file=$map"); fi
done
for module in "$@"; do
  if [ ! -e "$bin/Modules/$module.swiftmodule" ]; then
    echo "there is no module $module in $bin: swift build --target $module makes it" >&2
    exit 1
  fi
  swift symbolgraph-extract "${maps[@]}" -module-name "$module" -I "$bin/Modules" \
    -target "$(basename "$(dirname "$bin")")" -output-dir "$folder" -minimum-access-level public \
    -skip-synthesized-members -skip-inherited-docs >/dev/null
done

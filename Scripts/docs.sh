#!/usr/bin/env bash
# Makes the facades' documentation a website in .build/docs: docs.sh [BIN]. BIN is the folder of a build, as
# `Scripts/build.sh --bin` prints it; without it the modules are built. It takes the toolchain's docc, and no network. What
# docc warns of, a link that leads nowhere first of all, is an error. It ends with 69 where there is no docc.
set -euo pipefail
cd "$(dirname "$0")/.."
site=.build/docs

# It lies beside the compiler, which may be in the path by a link alone.
docc=$(command -v docc || echo "$(dirname "$(realpath "$(command -v swift)")")/docc")
if [ ! -x "$docc" ]; then
  echo "docs: this toolchain has no docc (looked for $docc): those of swift.org have it" >&2
  exit 69
fi

if [ $# -gt 0 ]; then
  bin=$1
else
  for module in CoreMotion MapKit; do Scripts/build.sh --target "$module"; done
  bin=$(Scripts/build.sh --bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# convert MODULE [OPTION...]: what it stands on comes first, so that its pages can be linked to.
convert() {
  local module=$1
  shift
  Scripts/symbol-graphs.sh "$bin" "$work/$module" "$module"
  "$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$work/$module" \
    --fallback-display-name "$module" --fallback-bundle-identifier "lodestone.$module" \
    --fallback-default-module-kind Module --output-dir "$work/$module.doccarchive" \
    --enable-experimental-external-link-support --warnings-as-errors "$@" >"$work/said" || {
    cat "$work/said" >&2  # docc says what is wrong, and where, on its standard output
    return 1
  }
}
convert Lodestone
convert CoreMotion --dependency "$work/Lodestone.doccarchive"
convert CoreLocation --dependency "$work/Lodestone.doccarchive"
convert MapKit --dependency "$work/Lodestone.doccarchive" --dependency "$work/CoreLocation.doccarchive"

rm -rf "$site"
"$docc" merge "$work"/{CoreLocation,CoreMotion,MapKit,Lodestone}.doccarchive --output-path "$site" \
  --synthesized-landing-page-name "Core Location for Linux boards" --synthesized-landing-page-kind Lodestone >/dev/null
echo "docs: $site, $(find "$site/data/documentation" -name '*.json' | wc -l) pages; to read them:"
echo "docs: python3 -m http.server -d $site, then http://localhost:8000/documentation"

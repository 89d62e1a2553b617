#!/usr/bin/env bash
# Attacks what reads bytes of others, with libFuzzer and the address sanitizer: run.sh [SECONDS]
# All fuzzers run at once, each for SECONDS (600). SEED makes a run begin alike. They begin with Corpus/; what they find
# besides goes to .build/corpus, what breaks them to .build/findings, whence it goes to Corpus/ once it is mended.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-600}
# The compiler's library has a `main` of its own, at which the older linkers stumble. A plan that SwiftPM has kept knows
# nothing of files that were added to the package above.
flags=(-c release --disable-build-manifest-caching -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld -Xswiftc -enable-testing)
for product in FuzzStream FuzzGPSD FuzzCaster FuzzOutputs FuzzRecord FuzzDaemonEnd FuzzProgramEnd; do swift build "${flags[@]}" --product "$product"; done
bin=$(swift build "${flags[@]}" --show-bin-path)

# Swift's own report of a crash would keep the fuzzer from writing down what led to it.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
mkdir -p .build/findings
declare -A running
for kind in stream:FuzzStream gpsd:FuzzGPSD caster:FuzzCaster outputs:FuzzOutputs record:FuzzRecord daemon-end:FuzzDaemonEnd program-end:FuzzProgramEnd; do
  name=${kind%%:*}
  mkdir -p ".build/corpus/$name"
  "$bin/${kind##*:}" -max_total_time="$seconds" -seed="${SEED:-0}" -max_len=16384 -timeout=10 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix=".build/findings/$name-" \
    ".build/corpus/$name" "Corpus/$name" >".build/$name.log" 2>&1 &
  running[$name]=$!
done
failed=0
for name in stream gpsd caster outputs record daemon-end program-end; do
  if wait "${running[$name]}"; then
    echo "$name: $(grep -m 1 -o 'number_of_executed_units: *[0-9]*' ".build/$name.log" | grep -o '[0-9]*$') inputs"
  else
    failed=1
    echo "FAILED  $name: the input is in Fuzz/.build/findings, what it broke in Fuzz/.build/$name.log:"
    grep -E 'Fatal error|ERROR:|SUMMARY' ".build/$name.log" | head -n 5
  fi
done
exit "$failed"

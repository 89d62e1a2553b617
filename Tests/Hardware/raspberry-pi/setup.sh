#!/usr/bin/env bash
# Brings everything that the rig is made from into the cache, from Debian's packages, and says where it is,
# one `name folder` a line. Nothing is installed on the machine. Quick when it is all there.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Scripts/debian-root.sh
. Tests/Hardware/raspberry-pi/parts.sh

[ "$(uname -m)" = x86_64 ] || { echo "raspberry-pi: the rig runs on x86-64 machines only" >&2; exit 1; }
for tool in apt-get dpkg-deb flock python3 tar unshare; do
  command -v "$tool" >/dev/null || { echo "raspberry-pi: needs $tool" >&2; exit 1; }
done
# Assigned first: a failure inside echo's argument would pass unseen.
tools=$(pi_tools)
boot=$(pi_boot)
compiler=$(floor_root)
sysroot=$(pi_sysroot)
printf '%s %s\n' tools "$tools" boot "$boot" compiler "$compiler" sysroot "$sysroot"

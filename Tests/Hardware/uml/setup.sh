#!/usr/bin/env bash
# Builds the rig's kernel from Debian's source into the cache, as root where tools are missing, and says where
# it is: `kernel FILE version VERSION`. Beside it are the device trees of the board files that have one, a .dts. Nothing but
# the build tools is installed. Quick when it is there.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Scripts/debian-root.sh
here=Tests/Hardware/uml
# Debian 13's: every machine then has the same one, whatever its own release is.
suite=trixie source=linux-source-6.12

[ "$(uname -m)" = x86_64 ] || { echo "uml: the rig runs on x86-64 machines only" >&2; exit 1; }

# uml_tools: what a kernel is built with.
uml_tools() {
  local tool packages=()
  for tool in flex bison bc gcc make xz; do
    command -v "$tool" >/dev/null && continue
    case $tool in xz) packages+=(xz-utils) ;; gcc) packages+=(gcc libc6-dev) ;; *) packages+=("$tool") ;; esac
  done
  [ "${#packages[@]}" -gt 0 ] || return 0
  echo "uml: installing ${packages[*]}" >&2
  apt-get -qq update >&2
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
}

# uml_registers TREE: makes room for the registers of processors with AMX. User-Mode Linux 6.12 saves and restores 2696 bytes of
# a program's vector registers. Such a processor has 11 008, and its kernel refuses to set fewer (EFAULT); other processors
# give fewer. Therefore the buffers hold 12 KiB, and as much is set as was given.
uml_registers() {
  local offsets=$1/arch/x86/um/user-offsets.c registers=$1/arch/x86/um/os-Linux/registers.c
  sed -i 's/DEFINE_LONGS(HOST_FP_SIZE, 2696);/DEFINE_LONGS(HOST_FP_SIZE, 12288);/' "$offsets"
  sed -i -e '/if (have_xstate_support) {/,/}/s/iov.iov_len = .*;/iov.iov_len = have_xstate_support;/' \
    -e 's/have_xstate_support = 1;/have_xstate_support = iov.iov_len;/' "$registers"
  if [ "$(grep -c '(HOST_FP_SIZE, 12288)' "$offsets")" -ne 1 ] ||
    [ "$(grep -cE 'iov_len = have_xstate_support|have_xstate_support = iov' "$registers")" -ne 3 ]; then
    echo "uml: the kernel keeps its vector registers elsewhere than in 6.12.117" >&2
    return 1
  fi
}

# uml_kernel FOLDER: downloads, builds, keeps the kernel and what is to be known of it.
uml_kernel() {
  # One name whatever is built, so that what a failure leaves is found by the next one.
  local folder=$1 building=$debian_cache/uml-building option tree tree_source lost=0
  uml_tools
  rm -rf "$building"
  mkdir -p "$building/kept"
  debian_apt "$building/apt" amd64 "$suite"
  (cd "$building" && apt-get "${apt_options[@]}" -qq download "$source")
  dpkg-deb -x "$building/$source"_*.deb "$building"
  dpkg-deb -f "$building/$source"_*.deb Version >"$building/kept/version"
  tar -C "$building" -xf "$building/usr/src/$source.tar.xz"
  tree=$building/$source
  uml_registers "$tree"
  cp "$here/irq-work.c" "$tree/arch/um/kernel/irq-work.c"
  echo 'obj-y += irq-work.o' >>"$tree/arch/um/kernel/Makefile"
  make -C "$tree" ARCH=um KCONFIG_ALLCONFIG="$PWD/$here/kernel.config" allnoconfig >"$building/log" 2>&1
  # What it depends on is missing, or its name has changed: kconfig drops such an option without a word.
  while read -r option; do
    grep -qxF -- "$option" "$tree/.config" || { echo "uml: the kernel does not take $option" >&2; lost=1; }
  done < <(grep '^CONFIG_' "$here/kernel.config")
  [ "$lost" -eq 0 ]
  timeout 1500 make -C "$tree" ARCH=um -j "$(nproc)" scripts_dtc linux >>"$building/log" 2>&1 ||
    { tail -n 20 "$building/log" >&2; return 1; }
  cp "$tree/linux" "$building/kept/linux"
  strip "$building/kept/linux"
  for tree_source in "$here"/*.dts; do
    "$tree/scripts/dtc/dtc" -q -o "$building/kept/$(basename "$tree_source" .dts).dtb" "$tree_source"
  done
  chmod 755 "$building/kept" "$building/kept/linux"
  mv "$building/kept" "$folder"
  rm -rf "$building"
}

# A newer source of the same series is no reason to build anew: it is asked for only when something here changed.
key=$(debian_key "$suite $source $(cat "$here/kernel.config" "$here/irq-work.c" "$here"/*.dts) $(declare -f uml_kernel uml_registers)")
folder=$debian_cache/uml-$key
debian_once "$folder" uml_kernel >&2
echo "kernel $folder/linux version $(cat "$folder/version")"

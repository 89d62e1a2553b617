# To be sourced after Scripts/debian-root.sh: the parts of the rig. Each is a folder of the cache, named by
# a hash of what it is made from, and made when it is not there.

# pi_sysroot: what aarch64 programs are linked against, Debian 13 for arm64. Compilers and documents stay
# out: the compiler is the floor compiler's root, which runs here.
pi_sysroot() {
  local packages="swiftlang libc6-dev libstdc++-14-dev libi2c-dev libgpiod-dev libyaml-dev" root
  local left_out="./usr/bin/* ./usr/share/* ./usr/lib/python* ./usr/libexec/swift/bin/* ./usr/libexec/swift/lib/*.so* ./usr/libexec/swift/lib/swift/embedded/*"
  root=$debian_cache/trixie-arm64-$(debian_key "$packages $left_out")
  debian_once "$root" debian_root arm64 trixie "$left_out" $packages >&2
  echo "$root"
}

# pi_tools: QEMU and the device tree tools with all their libraries. The machine's own packages stay as they
# are, whatever its release is; trixie's QEMU is the one that Debian 12 gets from its backports.
pi_tools() {
  local packages="qemu-system-arm device-tree-compiler bash" left_out="./usr/share/doc/* ./usr/share/man/* ./usr/share/locale/*" root
  root=$debian_cache/pi-tools-$(debian_key "$packages $left_out")
  debian_once "$root" debian_root amd64 trixie "$left_out" $packages >&2
  echo "$root"
}

# pi_tool ROOT PROGRAM ARGUMENT...: runs a program of pi_tools with that root's own libraries.
pi_tool() {
  local root=$1 program=$2
  shift 2
  "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/$program" "$@"
}

# pi_kernel: Debian 12's arm64 kernel, the one that boots fastest in the emulator, and a static busybox.
pi_kernel() {
  local packages="meta:linux-image-arm64 busybox-static" folder
  folder=$debian_cache/pi-kernel-$(debian_key "$packages")
  debian_once "$folder" debian_unpack arm64 bookworm $packages >&2
  echo "$folder"
}

# pi_boot: kernel, device tree and the guest's base (busybox and modules, in the order of loading) ready
# for the emulator.
pi_boot() {
  local kernel tools modules="i2c-bcm2835 i2c-dev" folder
  kernel=$(pi_kernel)
  tools=$(pi_tools)
  folder=$debian_cache/pi-boot-$(debian_key "$(basename "$kernel") $(basename "$tools") $modules $(declare -f pi_make_boot)")
  debian_once "$folder" pi_make_boot "$kernel" "$tools" "$modules"
  echo "$folder"
}

pi_make_boot() {
  local folder=$1 kernel=$2 tools=$3 modules=$4 building=$1.new version module file
  version=$(basename "$kernel"/lib/modules/*)
  rm -rf "$building"
  mkdir -p "$building"/base/{bin,modules}
  cp "$kernel/boot/vmlinuz-$version" "$building/kernel"
  cp "$kernel/usr/lib/linux-image-$version/broadcom/bcm2837-rpi-3-b.dtb" "$building/board.dtb"
  # With a bluetooth chip behind it the good UART belongs to the kernel; without one it is /dev/ttyAMA0.
  pi_tool "$tools" fdtput -r "$building/board.dtb" /soc/serial@7e201000/bluetooth
  cp "$kernel/bin/busybox" "$building/base/bin/"
  for module in $modules; do
    file=$(find "$kernel/lib/modules/$version" -name "$module.ko")
    # They are loaded in the order of the list: what one depends on must stand before it.
    if tr '\0' '\n' <"$file" | grep -aq '^depends=.'; then
      echo "raspberry-pi: $module needs other modules: $(tr '\0' '\n' <"$file" | grep -a '^depends=.')" >&2
    fi
    cp "$file" "$building/base/modules/"
    echo "$module.ko" >>"$building/base/modules/order"
  done
  mv "$building" "$folder"
}

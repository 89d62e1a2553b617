#!/usr/bin/env bash
# Builds the products with Swift 6.0.3, the oldest compiler that boards have (Debian 13's swiftlang).
#
# Where the machine's own Swift is that one, it is used. Else Debian 13's packages are unpacked, not
# installed, into a cache folder, and run there in a mount namespace of its own (needs root). The folder
# is kept: LODESTONE_CACHE, by default ~/.cache/lodestone.
set -euo pipefail
cd "$(dirname "$0")/.."

if swift --version 2>&1 | grep -q 'Swift version 6\.0\.'; then
  exec swift build -Xswiftc -warnings-as-errors
fi
[ "$(id -u)" -eq 0 ] || { echo "floor compiler: needs root for a mount namespace" >&2; exit 1; }

packages="swiftlang bash coreutils git ca-certificates libc6-dev libstdc++-14-dev binutils libi2c-dev libgpiod-dev"
cache=${LODESTONE_CACHE:-$HOME/.cache/lodestone}
root=$cache/trixie-$(printf '%s' "$packages" | md5sum | cut -c 1-8)
mkdir -p "$cache"

make_root() {
  local apt=$cache/apt building=$root.new uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  # The mirror is the machine's own; nothing here names one.
  uri=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' |
    grep -E '/debian/?$' | head -n 1 || true)
  [ -n "$uri" ] || { echo "floor compiler: no Debian mirror in /etc/apt" >&2; return 1; }
  rm -rf "$building" "$apt"
  mkdir -p "$apt"/{lists,archives}/partial "$building"/{usr/{bin,sbin,lib,lib64},proc,sys,dev,tmp,etc,root,work}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$building/$folder"; done
  echo "deb [signed-by=$keyring] $uri trixie main" >"$apt/sources.list"
  : >"$apt/status"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache::archives=$apt/archives" -o Dir::Cache::pkgcache=
    -o Dir::Cache::srcpkgcache= -o APT::Install-Recommends=false -o APT::Sandbox::User=root)
  apt-get "${options[@]}" -qq update
  apt-get "${options[@]}" -qq install -y --download-only \
    $packages >/dev/null
  for package in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$building" -xf - --keep-directory-symlink
  done
  [ -e "$building/usr/bin/sh" ] || ln -s bash "$building/usr/bin/sh"
  rm -rf "$apt" "$root"
  mv "$building" "$root"
}
[ -x "$root/usr/libexec/swift/bin/swift" ] || make_root

# Package addresses may be rewritten to folders of this machine: those must be seen inside as well.
mirrors=$(git config --get-regexp '^url\..*\.insteadof$' | sed -nE 's/^url\.(\/.*)\.insteadof .*/\1/p' | sort -u || true)

exec unshare -m bash -euo pipefail -s -- "$root" "$PWD" "$mirrors" <<'INSIDE'
root=$1 project=$2 mirrors=$3
mount --make-rprivate /
mount --bind "$project" "$root/work"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
for mirror in $mirrors; do mkdir -p "$root$mirror"; mount --bind "$mirror" "$root$mirror"; done
# /tmp of its own, and a home with git's settings.
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/tmp/home"
git config --list --includes -z | while IFS= read -r -d '' entry; do
  key=${entry%%$'\n'*}
  case $key in url.*) git config -f "$root/tmp/home/.gitconfig" --add "$key" "${entry#*$'\n'}" ;; esac
done
git config -f "$root/tmp/home/.gitconfig" --add safe.directory '*'
exec chroot "$root" /usr/bin/env -i PATH=/usr/libexec/swift/bin:/usr/bin:/bin HOME=/tmp/home TMPDIR=/tmp LANG=C.UTF-8 \
  bash -c 'cd /work && swift --version 2>&1 | head -n 1 &&
    swift build --disable-sandbox --scratch-path .build-floor -Xswiftc -warnings-as-errors'
INSIDE

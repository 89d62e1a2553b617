# To be sourced: Debian packages unpacked into folders, never installed, whatever the machine's own release
# or architecture is, and a way to run commands in such a folder. The mirror is the machine's own; nothing
# here names one. Folders stay: LODESTONE_CACHE, by default ~/.cache/lodestone.

# What fails inside $(...) must end the script: half a folder would be taken for a whole one.
shopt -s inherit_errexit

debian_cache=${LODESTONE_CACHE:-$HOME/.cache/lodestone}

# What Swift 6.0.3, the oldest compiler that boards have, needs to build this package.
floor_packages="swiftlang bash coreutils git ca-certificates libc6-dev libstdc++-14-dev binutils libi2c-dev libgpiod-dev libyaml-dev"

# debian_key TEXT: a short name for what a folder was made from.
debian_key() { printf '%s' "$1" | md5sum | cut -c 1-8; }

# debian_once FOLDER MAKER ARGUMENT...: calls MAKER FOLDER ARGUMENT... unless the folder is there. Two
# scripts at once: the second one waits.
debian_once() {
  local folder=$1 maker=$2
  shift 2
  [ ! -d "$folder" ] || return 0
  mkdir -p "$debian_cache"
  (
    flock -w 900 9
    [ -d "$folder" ] || "$maker" "$folder" "$@"
  ) 9>"$debian_cache/lock"
}

debian_mirror() {
  local uri
  uri=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' |
    grep -E '/debian/?$' | head -n 1 || true)
  [ -n "$uri" ] || { echo "$(basename "$0"): no Debian mirror in /etc/apt" >&2; return 1; }
  echo "$uri"
}

# debian_apt FOLDER ARCHITECTURE SUITE: an apt of its own in FOLDER, which thinks that nothing is installed;
# its options are in the array apt_options afterwards.
debian_apt() {
  local folder=$1 architecture=$2 suite=$3 uri
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  uri=$(debian_mirror)
  rm -rf "$folder"
  mkdir -p "$folder"/{lists,archives}/partial
  echo "deb [signed-by=$keyring] $uri $suite main" >"$folder/sources.list"
  : >"$folder/status"
  apt_options=(-o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture"
    -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists"
    -o "Dir::State::status=$folder/status" -o "Dir::Cache::archives=$folder/archives" -o Dir::Cache::pkgcache=
    -o Dir::Cache::srcpkgcache= -o APT::Install-Recommends=false -o APT::Sandbox::User=root
    -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
  apt-get "${apt_options[@]}" -qq update
}

# debian_root FOLDER ARCHITECTURE SUITE PATTERNS PACKAGE...: the packages and all they depend on, unpacked
# as a root file system; files that match PATTERNS (of tar, separated by blanks) are left out. FOLDER
# appears when it is complete.
debian_root() {
  local root=$1 architecture=$2 suite=$3 apt=$1.apt building=$1.new package folder left_out
  set -f
  left_out=($4)
  set +f
  left_out=("${left_out[@]/#/--exclude=}")
  shift 4
  debian_apt "$apt" "$architecture" "$suite"
  apt-get "${apt_options[@]}" -qq install -y --download-only "$@" >/dev/null
  rm -rf "$building"
  mkdir -p "$building"/{usr/{bin,sbin,lib,lib64},proc,sys,dev,tmp,etc,root,work}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$building/$folder"; done
  for package in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" |
      tar -C "$building" -xf - --keep-directory-symlink "${left_out[@]}"
  done
  # No package's scripts have run, and one of them makes this link.
  [ -e "$building/usr/bin/sh" ] || ln -s bash "$building/usr/bin/sh"
  rm -rf "$apt" "$root"
  mv "$building" "$root"
}

# debian_unpack FOLDER ARCHITECTURE SUITE PACKAGE...: the packages alone. meta:NAME is the package that the
# meta package NAME stands for, as linux-image-arm64 does for the newest kernel.
debian_unpack() {
  local folder=$1 architecture=$2 suite=$3 apt=$1.apt building=$1.new package packages=()
  shift 3
  debian_apt "$apt" "$architecture" "$suite"
  for package in "$@"; do
    case $package in
      meta:*) packages+=("$(apt-cache "${apt_options[@]}" depends "${package#meta:}" |
        sed -nE 's/^ *Depends: ([^ <]+).*/\1/p' | head -n 1)") ;;
      *) packages+=("$package") ;;
    esac
  done
  (cd "$apt/archives" && apt-get "${apt_options[@]}" -qq download "${packages[@]}")
  rm -rf "$building"
  mkdir -p "$building"
  for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$building"; done
  rm -rf "$apt" "$folder"
  mv "$building" "$folder"
}

# floor_root: the name of the folder with the floor compiler, which is made when it is not there.
floor_root() {
  local root
  root=$debian_cache/trixie-$(debian_key "$floor_packages")
  debian_once "$root" debian_root amd64 trixie "" $floor_packages >&2
  echo "$root"
}

# in_root ROOT COMMAND [FOLDER PLACE]: runs COMMAND (for bash) in ROOT, in a mount namespace of its own, with
# this project at /work and FOLDER seen at PLACE; `root_path` is its PATH. Needs root.
root_path=/usr/libexec/swift/bin:/usr/bin:/bin
in_root() {
  local root=$1 command=$2 mirrors
  [ "$(id -u)" -eq 0 ] || { echo "$(basename "$0"): needs root for a mount namespace" >&2; return 1; }
  # Package addresses may be rewritten to folders of this machine: those must be seen inside as well.
  mirrors=$(git config --get-regexp '^url\..*\.insteadof$' | sed -nE 's/^url\.(\/.*)\.insteadof .*/\1/p' | sort -u || true)
  unshare -m bash -euo pipefail -s -- "$root" "$PWD" "$mirrors" "$command" "${3:-}" "${4:-}" "$root_path" <<'INSIDE'
root=$1 project=$2 mirrors=$3 command=$4 folder=$5 place=$6 path=$7
mount --make-rprivate /
mount --bind "$project" "$root/work"
mount -t proc proc "$root/proc"
# With its pseudo terminals.
mount --rbind /dev "$root/dev"
for mirror in $mirrors; do mkdir -p "$root$mirror"; mount --bind -o ro "$mirror" "$root$mirror"; done
# /tmp of its own, and a home with git's settings.
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/tmp/home"
if [ -n "$folder" ]; then mkdir -p "$root$place"; mount --bind "$folder" "$root$place"; fi
git config --list --includes -z | while IFS= read -r -d '' entry; do
  key=${entry%%$'\n'*}
  case $key in url.*) git config -f "$root/tmp/home/.gitconfig" --add "$key" "${entry#*$'\n'}" ;; esac
done
git config -f "$root/tmp/home/.gitconfig" --add safe.directory '*'
exec chroot "$root" /usr/bin/env -i PATH="$path" HOME=/tmp/home TMPDIR=/tmp LANG=C.UTF-8 \
  bash -c "cd /work && $command"
INSIDE
}

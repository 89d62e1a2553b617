#!/usr/bin/env bash
# Installs what the build and its checks need and is missing: libi2c, libgpiod and libyaml, tmux, the C and C++ libraries to compile
# and link with, and Swift where Debian has it. With `oracles` also what the checks are held against, and skip where it is
# missing: gpsd with its decoder and gpsfake, GeographicLib's GeodSolve, the grid of the geoid, a D-Bus, bluetoothd, librsvg's
# rsvg-convert with SQLite's library, Chromium, a validator of JSON; the programs that read the protocols of `lodestone serve`; and
# debootstrap, for a fresh Debian.
# Says one line and fails where it cannot.
set -euo pipefail

packages=()
[ -e /usr/include/i2c/smbus.h ] || packages+=(libi2c-dev)
[ -e /usr/include/gpiod.h ] || packages+=(libgpiod-dev)
[ -e /usr/include/yaml.h ] || packages+=(libyaml-dev)
command -v tmux >/dev/null || packages+=(tmux)
# Swift links by gcc and imports the C++ library. Debian's swiftlang depends on gcc, and only recommends what a compiler needs
# of libraries; g++ brings both, libc6-dev and libstdc++-dev, in the version of that gcc.
has() { compgen -G "$1" >/dev/null || compgen -G "${2:-$1}" >/dev/null; }
has '/usr/lib*/Scrt1.o' '/usr/lib/*/Scrt1.o' && has '/usr/include/c++/*/atomic' || packages+=(g++)
if [ "${1:-}" = oracles ]; then
  [ -x /usr/sbin/gpsd ] || packages+=(gpsd)
  command -v gpsdecode >/dev/null && command -v gpsfake >/dev/null || packages+=(gpsd-clients)
  command -v GeodSolve >/dev/null || packages+=(geographiclib-tools)
  [ -e /usr/share/proj/egm96_15.gtx ] || packages+=(proj-data)
  command -v dbus-daemon >/dev/null || packages+=(dbus)
  command -v bluetoothctl >/dev/null || packages+=(bluez)
  command -v chromium >/dev/null || packages+=(chromium)
  [ -x /usr/sbin/debootstrap ] || packages+=(debootstrap)
  command -v rsvg-convert >/dev/null || packages+=(librsvg2-bin)
  python3 -c "import jsonschema" 2>/dev/null || packages+=(python3-jsonschema)
  ldconfig -p 2>/dev/null | grep -q 'libsqlite3\.so\.0' || packages+=(libsqlite3-0)
  # Peers of the protocols, as Tests/peers/all.py lists them. Debian's own Python has the bindings.
  [ -x /usr/sbin/mosquitto ] || packages+=(mosquitto)
  command -v mosquitto_sub >/dev/null || packages+=(mosquitto-clients)
  command -v openssl >/dev/null || packages+=(openssl)
  command -v candump >/dev/null || packages+=(can-utils)
  /usr/bin/python3 -c "import gps" 2>/dev/null || packages+=(python3-gps)
  /usr/bin/python3 -c "import gi" 2>/dev/null || packages+=(python3-gi)
  command -v gdbus >/dev/null || packages+=(libglib2.0-bin)
  [ -x /usr/sbin/avahi-daemon ] || packages+=(avahi-daemon)
  command -v avahi-browse >/dev/null || packages+=(avahi-utils)
  command -v monitor-sensor >/dev/null || packages+=(iio-sensor-proxy)
  [ -x /usr/libexec/geoclue ] || packages+=(geoclue-2.0)
  [ -x /usr/libexec/geoclue-2.0/demos/where-am-i ] || packages+=(geoclue-2-demo)
  python3 -c "import ensurepip, venv" 2>/dev/null || packages+=(python3-venv)
fi
if ! command -v swift >/dev/null; then
  # Debian 13 and Raspberry Pi OS on it carry Swift 6.0.3; apt-cache knows only after an update.
  command -v apt-get >/dev/null && packages+=(swiftlang)
fi
# Those of PyPI, once the packages are there.
peers() {
  [ "${1:-}" != oracles ] || "$(dirname "$0")/../Tests/peers/setup.sh" >/dev/null
}
[ "${#packages[@]}" -gt 0 ] || { peers "$@"; exit; }

if ! command -v apt-get >/dev/null; then
  echo "lodestone: please install by hand: ${packages[*]} (this system has no apt-get)" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "lodestone: run as root once, or install sudo: apt-get install ${packages[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
size=
[[ " ${packages[*]} " != *" swiftlang "* ]] || size=", about 600 MB to download and 3 GB on the disk"
echo "lodestone: installing ${packages[*]}$size"
"${as_root[@]}" apt-get update -qq
if [[ " ${packages[*]} " == *" swiftlang "* ]] && ! apt-cache show swiftlang >/dev/null 2>&1; then
  echo "lodestone: this system's packages have no Swift (Debian 13 has): install 6.0.3 or later from swift.org/install" >&2
  exit 1
fi
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
peers "$@"

"""A CAN bus on a machine whose kernel has none, and what a device at it holds, as the peers of drive_peers.py.

Not a check by itself: drive.py uses it. The bus is a socket of this program. A small library between the daemon and libc gives it to the
daemon as an interface that is up; frames look as the kernel's do. What only a kernel does (an interface that goes down, a controller that is
bus-off, filters) is tried in User-Mode Linux: Tests/Hardware/uml/guest/vcan.py.
"""
import calendar
import math
import shutil
import socket
import struct
import subprocess

from drive_peers import Peer

INTERFACE = "rig0"
EXTENDED = 0x80000000
HEADING, POSITION, TIME = 127250, 129025, 126992
# Degrees of the widest 95 % interval with which a heading is on the bus: there is no field for it (Documentation/protocols.md).
WIDEST = 20.0

LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
enum { INDEX = 77 };
static volatile int bus = -1;
int socket(int domain, int type, int protocol) {
  int (*next)(int, int, int) = dlsym(RTLD_NEXT, "socket");
  const char *path = getenv("RIG_CAN");
  if (domain != PF_CAN || !path) return next(domain, type, protocol);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int file = next(AF_UNIX, SOCK_SEQPACKET | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0);
  if (file < 0) return file;
  if (connect(file, (struct sockaddr *)&address, sizeof address) < 0) {
    close(file);
    errno = ENODEV;
    return -1;
  }
  return bus = file;
}
int bind(int file, const struct sockaddr *address, socklen_t length) {
  int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
  return address && address->sa_family == AF_CAN ? 0 : next(file, address, length);
}
int setsockopt(int file, int level, int name, const void *value, socklen_t length) {
  int (*next)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
  return level == SOL_CAN_RAW ? 0 : next(file, level, name, value, length);
}
int getsockname(int file, struct sockaddr *address, socklen_t *length) {
  int (*next)(int, struct sockaddr *, socklen_t *) = dlsym(RTLD_NEXT, "getsockname");
  struct sockaddr_can can = {.can_family = AF_CAN, .can_ifindex = INDEX};
  if (file != bus || *length < sizeof can) return next(file, address, length);
  memcpy(address, &can, *length = sizeof can);
  return 0;
}
int ioctl(int file, unsigned long request, ...) {
  int (*next)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
  va_list list;
  va_start(list, request);
  struct ifreq *argument = va_arg(list, struct ifreq *);
  va_end(list);
  if (file != bus) return next(file, request, argument);
  switch (request) {
  case SIOCGIFINDEX: argument->ifr_ifindex = INDEX; return 0;
  case SIOCGIFHWADDR: argument->ifr_hwaddr.sa_family = ARPHRD_CAN; return 0;
  case SIOCGIFFLAGS: argument->ifr_flags = IFF_UP | IFF_RUNNING; return 0;
  default: return next(file, request, argument);
  }
}
"""


class NMEA2000(Peer):
    """NMEA 2000 by PyPI's nmea2000: headings of 127250 against true north, positions of 129025. "Not available" takes back; nothing expires.
    Positions have no bar on the bus, and headings that of the widest interval."""
    name = "NMEA 2000"
    barred = ("heading",)

    def __init__(self, rig):
        super().__init__()
        self.listener, self.path = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), rig.folder / "can"
        self.listener.bind(str(self.path))
        self.listener.listen()

    @staticmethod
    def is_possible():
        return bool(compiler())

    @staticmethod
    def load():
        import can
        import nmea2000
        return can, nmea2000

    @classmethod
    def attach(cls, rig):
        """Gives a bus to the programs of a rig that are started from here on. Returns the device at it: none without a C compiler."""
        if not cls.is_possible():
            return []
        cls.load()
        device = cls(rig)
        source, library = rig.folder / "can.c", rig.folder / "can.so"
        source.write_text(LIBRARY)
        subprocess.run([compiler(), "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
        rig.libraries.append(str(library))
        rig.more["RIG_CAN"] = str(device.path)
        return [device]

    def listen(self):
        can, nmea2000 = self.load()
        bus = self.listener.accept()[0]
        with nmea2000.NMEA2000Decoder() as decoder:
            while frame := bus.recv(64):
                self.messages += 1
                identifier, length = struct.unpack_from("=IB", frame)
                if not identifier & EXTENDED or identifier >> 8 & 0x3FFFF not in (HEADING, POSITION, TIME):
                    continue
                message = decoder.decode(
                    can.Message(arbitration_id=identifier & 0x1FFFFFFF, is_extended_id=True, data=frame[8:8 + length]))
                if message:
                    self.take(message.PGN, {field.id: field.value for field in message.fields})

    def take(self, group, fields):
        if group == HEADING:
            is_there = fields["heading"] is not None and fields["reference"] == "True"
            self.tell("heading", *((math.degrees(fields["heading"]), WIDEST) if is_there else ()))
        elif group == POSITION:
            place = fields["latitude"], fields["longitude"]
            self.tell("position", *((*place, None) if None not in place else ()))
        elif fields["date"] and fields["time"]:
            self.date(calendar.timegm((*fields["date"].timetuple()[:3], fields["time"].hour, fields["time"].minute, fields["time"].second)))


def compiler():
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

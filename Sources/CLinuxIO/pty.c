#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static int open_peer(const char *path) {
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int lodestone_pty_clear(const char *path) {
  int fd = open_peer(path);
  if (fd < 0) return fd;
  struct termios settings;
  int result = tcgetattr(fd, &settings);
  if (result == 0) {
    cfmakeraw(&settings);
    // Drops what nobody has read.
    result = tcsetattr(fd, TCSAFLUSH, &settings);
  }
  if (result == 0) result = tcflush(fd, TCIOFLUSH);
  // What a reader has kept for himself is everybody's again.
  if (result == 0) result = ioctl(fd, TIOCNXCL);
  int error = errno;
  close(fd);
  return result < 0 ? -error : 0;
}

int lodestone_pty_open(char path[64], unsigned mode, int64_t group) {
  int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  int result = grantpt(fd) < 0 || unlockpt(fd) < 0 ? -errno : 0;
  // glibc's returns the error, others set it.
  if (result == 0) {
    int code = ptsname_r(fd, path, 64);
    if (code != 0) result = code > 0 ? -code : -errno;
  }
  if (result == 0 && group >= 0) result = chown(path, (uid_t)-1, (gid_t)group) < 0 ? -errno : 0;
  if (result == 0) result = chmod(path, mode & 0777) < 0 ? -errno : 0;
  // The end that was opened and closed once is reported as hung up until somebody opens it.
  if (result == 0) result = lodestone_pty_clear(path);
  if (result < 0) {
    close(fd);
    return result;
  }
  return fd;
}

int lodestone_pty_unread(const char *path) {
  int fd = open_peer(path);
  if (fd < 0) return fd;
  int count = 0;
  int result = ioctl(fd, FIONREAD, &count) < 0 ? -errno : count;
  close(fd);
  return result;
}

int lodestone_serial_unsent(int fd) {
  int count = 0;
  return ioctl(fd, TIOCOUTQ, &count) < 0 ? -errno : count;
}

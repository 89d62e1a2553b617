#include "CLinuxIO.h"

// termios2 knows any rate; its header and <termios.h> cannot stand in one file.
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <asm/ioctls.h>
#include <unistd.h>

int lodestone_serial_rate(int fd, unsigned rate) {
  struct termios2 settings;
  if (ioctl(fd, TCGETS2, &settings) < 0) return -errno;
  settings.c_iflag = 0;
  settings.c_oflag = 0;
  settings.c_lflag = 0;
  settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | (BOTHER << IBSHIFT);
  settings.c_ispeed = rate;
  settings.c_ospeed = rate;
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  // TCSETSF2 drops what has not been read: bytes of the old rate mean nothing at the new one.
  return ioctl(fd, TCSETSF2, &settings) < 0 ? -errno : 0;
}

int lodestone_serial_open(const char *path, unsigned rate) {
  int fd;
  do {
    fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  // TIOCEXCL keeps others out but not root; the lock keeps out whoever asks for it, so two of us.
  int result = lodestone_lock(fd);
  if (result == -EWOULDBLOCK) result = -EBUSY;
  if (result == 0) result = ioctl(fd, TIOCEXCL) < 0 ? -errno : lodestone_serial_rate(fd, rate);
  if (result < 0) {
    close(fd);
    return result;
  }
  return fd;
}

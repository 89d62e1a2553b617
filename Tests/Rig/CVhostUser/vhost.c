#define _GNU_SOURCE
#include "CVhostUser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// More than any message of the protocol brings (8 memory regions).
enum { FILES = 8 };

int twin_receive(int socket, void *data, size_t count, int *files, int capacity, int *received) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FILES * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = data, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  *received = 0;
  ssize_t result;
  do {
    result = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t there = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < there; index++) {
      int file;
      memcpy(&file, CMSG_DATA(head) + index * sizeof file, sizeof file);
      if (*received < capacity)
        files[(*received)++] = file;
      else
        close(file);
    }
  }
  return (int)result;
}

int twin_accept(int socket) {
  int file;
  do {
    file = accept4(socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (file < 0 && errno == EINTR);
  return file < 0 ? -errno : file;
}

uint16_t twin_load_acquire(const uint16_t *value) { return __atomic_load_n(value, __ATOMIC_ACQUIRE); }

void twin_store_release(uint16_t *value, uint16_t next) { __atomic_store_n(value, next, __ATOMIC_RELEASE); }

void twin_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

int twin_terminal_open(char path[64]) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (master < 0) return -errno;
  int slave = -1;
  struct termios settings;
  if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, path, 64) == 0)
    slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  int result = slave < 0 || tcgetattr(slave, &settings) < 0 ? -errno : 0;
  if (result == 0) {
    cfmakeraw(&settings);
    if (tcsetattr(slave, TCSANOW, &settings) < 0) result = -errno;
  }
  // Opened and closed once, the master tells by a hang-up that nobody holds the other end.
  if (slave >= 0) close(slave);
  if (result == 0) return master;
  close(master);
  return result;
}

int twin_wait(struct pollfd *entries, unsigned count, int64_t nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int result = ppoll(entries, count, &time, NULL);
  return result < 0 ? -errno : result;
}

int twin_signals_open(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR) return -errno;
  int file = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return file < 0 ? -errno : file;
}

void twin_wake_exactly(void) { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

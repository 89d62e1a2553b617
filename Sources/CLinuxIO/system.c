#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

int lodestone_lock(const char *path, int *owner) {
  *owner = 0;
  int fd;
  do {
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  char text[32] = {0};
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
    int error = errno;
    if (pread(fd, text, sizeof text - 1, 0) > 0) *owner = atoi(text);
    close(fd);
    return -error;
  }
  int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
  // The number only names the owner in another's message: a lock that cannot hold it is a lock still.
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) < 0) errno = 0;
  return fd;
}

int lodestone_clock_is_set(void) {
  struct timex clock = {0};
  // Reads only. TIME_ERROR: never set, or not for so long that it may be wrong by 16 s.
  int state = adjtimex(&clock);
  return state >= 0 && state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}

int64_t lodestone_monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int lodestone_wake_open(void) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int lodestone_wait(struct pollfd *entries, unsigned count, int64_t nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int result = ppoll(entries, count, &time, NULL);
  return result < 0 ? -errno : result;
}

void lodestone_name_thread(const char *name) {
  char text[16] = {0};
  strncpy(text, name, sizeof text - 1);
  pthread_setname_np(pthread_self(), text);
}

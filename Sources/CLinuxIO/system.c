#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <link.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

int lodestone_lock(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int lodestone_inode(const char *path, unsigned *major_number, unsigned *minor_number, uint64_t *inode) {
  struct stat status;
  if (stat(path, &status) < 0) return -errno;
  *major_number = major(status.st_dev);
  *minor_number = minor(status.st_dev);
  *inode = status.st_ino;
  return 0;
}

int lodestone_device_number(const char *path, uint64_t *number) {
  struct stat status;
  if (stat(path, &status) < 0) return -errno;
  if (!S_ISCHR(status.st_mode)) return -ENODEV;
  // As the kernel packs it into 32 bits (proc(5), tty_nr): minor 31...20 and 7...0, major 15...8.
  unsigned long large = major(status.st_rdev), small = minor(status.st_rdev);
  *number = (small & 0xFF) | ((large & 0xFF) << 8) | ((small & 0xFFF00) << 12);
  return 0;
}

int lodestone_clock_is_set(void) {
  struct timex clock = {0};
  // Reads only. TIME_ERROR: never set, or not for so long that it may be wrong by 16 s.
  int state = adjtimex(&clock);
  return state >= 0 && state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}

void lodestone_limit_arenas(int most) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, most);
#endif
}

static int release_segments(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size, (void)context;
  // The kernel's own pages, which it maps into each process, are not in a file.
  if (strncmp(object->dlpi_name, "linux-", 6) == 0) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    // What can be written has values of this process. Code is as in its file.
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || (segment->p_flags & PF_W)) continue;
    uintptr_t begin = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
    // Locked pages stay, which is right.
    (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  return 0;
}

void lodestone_release_code(void) { dl_iterate_phdr(release_segments, NULL); }

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

// Calls that change files, in place of the C library's: see the header. Linked into one test program only.
#define _GNU_SOURCE
#include "CSaveCut.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most = 64, descriptors = 256 };
enum kind { none, created, renamed, removed, folder_made };

// What has changed in folders since each was last forced to the disk.
static struct change {
  enum kind kind;
  char path[PATH_MAX], new_path[PATH_MAX], saved[PATH_MAX];
} changes[most];
static int change_count, saved_count;

// Files with data that is not on the disk yet.
static char dirty[most][PATH_MAX];
static int dirty_count;

static char opened[descriptors][PATH_MAX];
static int armed, lies;
static long calls, last_call;
static enum cut_loss loss;
static char scratch[PATH_MAX];

void cut_arm(long call, enum cut_loss what, const char *folder) {
  armed = 1;
  calls = 0;
  last_call = call;
  loss = what;
  snprintf(scratch, sizeof scratch, "%s", folder);
}

void cut_lie(void) { lies = 1; }
long cut_calls(void) { return calls; }
int cut_fork(void) { return fork(); }
void cut_exit(int status) { _exit(status); }

int cut_wait(int child) {
  int status;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void lose(void) {
  if (loss >= cut_data) {
    for (int i = 0; i < dirty_count; i++) syscall(SYS_truncate, dirty[i], 0);
  }
  if (loss >= cut_data_and_names) {
    while (change_count > 0) {
      struct change *c = &changes[--change_count];
      switch (c->kind) {
        case created: syscall(SYS_unlinkat, AT_FDCWD, c->path, 0); break;
        case renamed: syscall(SYS_renameat2, AT_FDCWD, c->new_path, AT_FDCWD, c->path, 0); break;
        case folder_made: syscall(SYS_unlinkat, AT_FDCWD, c->path, AT_REMOVEDIR); break;
        default: break;
      }
      if (c->saved[0])
        syscall(
            SYS_renameat2, AT_FDCWD, c->saved, AT_FDCWD,
            c->kind == renamed ? c->new_path : c->path, 0);
    }
  }
  _exit(CUT_STATUS);
}

// Counts a call; the one that was chosen never happens.
static int is_last(void) { return armed && ++calls == last_call; }

static struct change *note(enum kind kind, const char *path) {
  if (!armed) return NULL;
  if (change_count == most) abort();
  struct change *c = &changes[change_count++];
  c->kind = kind;
  snprintf(c->path, sizeof c->path, "%s", path);
  c->new_path[0] = c->saved[0] = 0;
  return c;
}

// Another name for a file that is about to lose its own.
static void keep(struct change *c, const char *path) {
  if (!c) return;
  snprintf(c->saved, sizeof c->saved, "%.3000s/saved-%d", scratch, saved_count++);
  if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, c->saved, 0) != 0) c->saved[0] = 0;
}

static int is_in(const char *path, const char *folder) {
  const char *slash = strrchr(path, '/');
  return slash && (size_t)(slash - path) == strlen(folder)
      && strncmp(path, folder, strlen(folder)) == 0;
}

static void clean(const char *path) {
  for (int i = 0; i < dirty_count; i++)
    if (strcmp(dirty[i], path) == 0) strcpy(dirty[i--], dirty[--dirty_count]);
}

static void soil(const char *path) {
  clean(path);
  if (dirty_count == most) abort();
  strcpy(dirty[dirty_count++], path);
}

int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, mode_t);
    va_end(list);
  }
  // What only reads changes nothing: there is nothing to cut.
  if ((flags & O_ACCMODE) != O_RDONLY && is_last()) lose();
  int is_new = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (descriptor >= 0 && descriptor < descriptors) {
    snprintf(opened[descriptor], PATH_MAX, "%s", path);
    size_t length = strlen(opened[descriptor]);
    if (length > 1 && opened[descriptor][length - 1] == '/') opened[descriptor][length - 1] = 0;
    if (is_new) note(created, path);
  }
  return descriptor;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (descriptor > 2 && descriptor < descriptors && armed) {
    soil(opened[descriptor]);
    if (is_last()) {
      syscall(SYS_write, descriptor, bytes, count / 2);
      lose();
    }
  }
  return syscall(SYS_write, descriptor, bytes, count);
}

int fsync(int descriptor) {
  if (is_last()) lose();
  if (lies) return 0;
  if (armed && descriptor < descriptors) {
    const char *path = opened[descriptor];
    clean(path);
    int kept = 0;
    for (int i = 0; i < change_count; i++)
      if (!is_in(changes[i].path, path)) changes[kept++] = changes[i];
    change_count = kept;
  }
  // The disk itself is not what is tried here, and it is slow.
  return 0;
}

int close(int descriptor) {
  if (descriptor > 2 && is_last()) lose();
  return (int)syscall(SYS_close, descriptor);
}

int rename(const char *old, const char *new) {
  if (is_last()) lose();
  struct change *c = note(renamed, old);
  if (c) snprintf(c->new_path, sizeof c->new_path, "%s", new);
  keep(c, new);
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
  if (result != 0 && c) change_count--;
  if (result == 0) {
    for (int i = 0; i < dirty_count; i++)
      if (strcmp(dirty[i], old) == 0) {
        clean(new);
        soil(new);
        clean(old);
        break;
      }
  }
  return result;
}

int mkdir(const char *path, mode_t mode) {
  if (is_last()) lose();
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0) note(folder_made, path);
  return result;
}

int unlink(const char *path) {
  if (is_last()) lose();
  struct change *c = note(removed, path);
  keep(c, path);
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result != 0 && c) change_count--;
  if (result == 0) clean(path);
  return result;
}

int flock(int descriptor, int operation) {
  if (is_last()) lose();
  return (int)syscall(SYS_flock, descriptor, operation);
}

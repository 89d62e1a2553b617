#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int failure(int fd) {
  int error = errno;
  close(fd);
  return -error;
}

int lodestone_listen_path(const char *path, unsigned mode) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  // Before it is bound a socket's mode becomes that of its file: nobody can come in between.
  if (fchmod(fd, mode) < 0) return failure(fd);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return failure(fd);
  // What the file creation mask has taken away.
  if (chmod(path, mode) < 0 || listen(fd, 512) < 0) {
    int error = errno;
    unlink(path);
    errno = error;
    return failure(fd);
  }
  return fd;
}

int lodestone_adopt_listener(int fd) {
  int domain = 0, listens = 0, flags = fcntl(fd, F_GETFL);
  socklen_t size = sizeof domain;
  if (flags < 0) return -errno;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) return -EINVAL;
  size = sizeof listens;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0) return -EINVAL;
  if (domain != AF_UNIX || !listens) return -EINVAL;
  if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  return 0;
}

int lodestone_send_datagram(const char *path, const char *text, size_t count) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
  memcpy(address.sun_path, path, length);
  // A name in the abstract namespace is written with an @.
  if (path[0] == '@') address.sun_path[0] = 0;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  struct timeval patience = {.tv_sec = 1};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  socklen_t size = offsetof(struct sockaddr_un, sun_path) + length;
  ssize_t sent = sendto(fd, text, count, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
  int result = sent < 0 ? -errno : 0;
  close(fd);
  return result;
}

int lodestone_datagram_open(void) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return fd < 0 ? -errno : fd;
}

int lodestone_datagram_send(int fd, const char *path, const void *bytes, size_t count) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  ssize_t sent = sendto(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address);
  return sent < 0 ? -errno : 0;
}

int lodestone_accept(int fd) {
  int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return connection < 0 ? -errno : connection;
}

int lodestone_receive(int fd, void *bytes, size_t count) {
  ssize_t received = recv(fd, bytes, count, MSG_DONTWAIT);
  return received < 0 ? -errno : (int)received;
}

int lodestone_peer(int fd, struct lodestone_peer *peer) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return -errno;
  peer->process = credentials.pid;
  peer->user = credentials.uid;
  peer->group = credentials.gid;
  return 0;
}

int lodestone_peer_process(int fd, int32_t process) {
  int descriptor = -1;
  socklen_t size = sizeof descriptor;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &size) == 0) return descriptor;
  // A kernel that knows the option and has no handle says that the process has ended.
  if (errno != ENOPROTOOPT) return -errno;
  descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  return descriptor < 0 ? -errno : descriptor;
}

int lodestone_process_runs(int fd) {
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  int count = poll(&entry, 1, 0);
  return count < 0 ? -errno : count == 0;
}

int lodestone_poller_open(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int lodestone_poller_set(int poller, int fd, uint64_t token, int events, int is_new) {
  struct epoll_event event = {.data.u64 = token};
  if (events & LODESTONE_READABLE) event.events |= EPOLLIN;
  if (events & LODESTONE_WRITABLE) event.events |= EPOLLOUT;
  int result = epoll_ctl(poller, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  return result < 0 ? -errno : 0;
}

int lodestone_poller_remove(int poller, int fd) {
  return epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL) < 0 ? -errno : 0;
}

int lodestone_poller_wait(int poller, struct lodestone_ready *ready, unsigned count, int64_t nanoseconds) {
  struct epoll_event events[64];
  if (count > 64) count = 64;
  // Rounded up, or the last millisecond would be spent asking.
  int64_t milliseconds = nanoseconds <= 0 ? 0 : (nanoseconds + 999999) / 1000000;
  if (milliseconds > 60000) milliseconds = 60000;
  int found = epoll_wait(poller, events, (int)count, (int)milliseconds);
  if (found < 0) return errno == EINTR ? 0 : -errno;
  for (int index = 0; index < found; index++) {
    uint32_t bits = events[index].events;
    ready[index].token = events[index].data.u64;
    ready[index].events = (bits & EPOLLIN ? LODESTONE_READABLE : 0) | (bits & EPOLLOUT ? LODESTONE_WRITABLE : 0)
                          | (bits & (EPOLLHUP | EPOLLERR) ? LODESTONE_HUNG_UP : 0);
  }
  return found;
}

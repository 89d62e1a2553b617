#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct question {
  int answer;
  char host[256];
  char port[8];
};

// A name server may take its time: it is asked on a thread that nobody waits for.
static void *resolve(void *argument) {
  struct question *question = argument;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  struct lodestone_address addresses[LODESTONE_ADDRESSES];
  memset(addresses, 0, sizeof addresses);
  size_t count = 0;
  if (getaddrinfo(question->host, question->port, &hints, &found) == 0) {
    for (struct addrinfo *each = found; each && count < LODESTONE_ADDRESSES; each = each->ai_next) {
      if (each->ai_addrlen > sizeof addresses[count].data) continue;
      addresses[count].length = each->ai_addrlen;
      memcpy(addresses[count].data, each->ai_addr, each->ai_addrlen);
      count++;
    }
    freeaddrinfo(found);
  }
  // Nobody may be there any more to hear it. No address is one message as well, of one byte.
  size_t size = count ? count * sizeof addresses[0] : 1;
  send(question->answer, addresses, size, MSG_NOSIGNAL);
  close(question->answer);
  free(question);
  return NULL;
}

int lodestone_resolve_start(const char *host, uint16_t port) {
  struct question *question = calloc(1, sizeof *question);
  if (!question) return -ENOMEM;
  snprintf(question->host, sizeof question->host, "%s", host);
  snprintf(question->port, sizeof question->port, "%u", port);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    int error = errno;
    free(question);
    return -error;
  }
  question->answer = ends[1];
  pthread_t thread;
  int error = pthread_create(&thread, NULL, resolve, question);
  if (error) {
    close(ends[0]);
    close(ends[1]);
    free(question);
    return -error;
  }
  pthread_detach(thread);
  return ends[0];
}

int lodestone_resolve_take(int fd, struct lodestone_address *addresses) {
  size_t size = LODESTONE_ADDRESSES * sizeof *addresses;
  ssize_t count = recv(fd, addresses, size, MSG_DONTWAIT);
  if (count < 0) return -errno;
  return (int)((size_t)count / sizeof *addresses);
}

static int start(const struct sockaddr *address, socklen_t length) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  if (connect(fd, address, length) == 0 || errno == EINPROGRESS) return fd;
  int error = errno;
  close(fd);
  return -error;
}

int lodestone_connect(const struct lodestone_address *address) {
  struct sockaddr_storage storage;
  memcpy(&storage, address->data, sizeof storage);
  return start((struct sockaddr *)&storage, address->length);
}

int lodestone_connect_path(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  return start((struct sockaddr *)&address, sizeof address);
}

int lodestone_connected(int fd) {
  struct pollfd entry = {.fd = fd, .events = POLLOUT};
  if (poll(&entry, 1, 0) <= 0) return 0;
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) return -errno;
  return error ? -error : 1;
}

int lodestone_send(int fd, const void *bytes, size_t count) {
  ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? -errno : (int)sent;
}

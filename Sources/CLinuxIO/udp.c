#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_INTERFACES = 64 };

static int failure(int fd, int error) {
  close(fd);
  return -error;
}

static int is_group(const struct sockaddr_storage *address) {
  if (address->ss_family == AF_INET) {
    return IN_MULTICAST(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
  }
  return IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

// A boat's network has no default route: the group is joined on every interface, not on the one that the kernel would choose.
static int join(int fd, const struct sockaddr_storage *address) {
  struct if_nameindex *interfaces = if_nameindex();
  if (!interfaces) return -errno;
  int joined = 0;
  for (int index = 0; index < MOST_INTERFACES && interfaces[index].if_index; index++) {
    int result;
    if (address->ss_family == AF_INET) {
      struct ip_mreqn request = {.imr_multiaddr = ((const struct sockaddr_in *)address)->sin_addr,
                                 .imr_ifindex = (int)interfaces[index].if_index};
      result = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
    } else {
      struct ipv6_mreq request = {.ipv6mr_multiaddr = ((const struct sockaddr_in6 *)address)->sin6_addr,
                                  .ipv6mr_interface = interfaces[index].if_index};
      result = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
    }
    if (result == 0) joined++;
  }
  if_freenameindex(interfaces);
  return joined ? 0 : -ENODEV;
}

static int open_port(const struct sockaddr_storage *address, socklen_t length) {
  int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  int on = 1, off = 0;
  if (address->ss_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  // Every program of a machine may hear a group. Two at one port otherwise would take each other's datagrams.
  int hears_group = is_group(address);
  if (hears_group && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) return failure(fd, errno);
  if (bind(fd, (const struct sockaddr *)address, length) < 0) return failure(fd, errno);
  int result = hears_group ? join(fd, address) : 0;
  return result < 0 ? failure(fd, -result) : fd;
}

int lodestone_udp_open(const char *address, uint16_t port) {
  struct sockaddr_storage storage;
  memset(&storage, 0, sizeof storage);
  if (address) {
    char number[8];
    snprintf(number, sizeof number, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(address, number, &hints, &found) != 0) return -EINVAL;
    socklen_t length = found->ai_addrlen;
    int fits = length <= sizeof storage;
    if (fits) memcpy(&storage, found->ai_addr, length);
    freeaddrinfo(found);
    return fits ? open_port(&storage, length) : -EINVAL;
  }
  struct sockaddr_in6 *both = (struct sockaddr_in6 *)&storage;
  both->sin6_family = AF_INET6;
  both->sin6_port = htons(port);
  int fd = open_port(&storage, sizeof *both);
  if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL) return fd;
  // A kernel without IPv6.
  memset(&storage, 0, sizeof storage);
  struct sockaddr_in *old = (struct sockaddr_in *)&storage;
  old->sin_family = AF_INET;
  old->sin_port = htons(port);
  return open_port(&storage, sizeof *old);
}

int lodestone_udp_receive(int fd, void *bytes, size_t size, struct lodestone_sender *sender) {
  struct sockaddr_storage storage;
  memset(&storage, 0, sizeof storage);
  socklen_t length = sizeof storage;
  ssize_t count = recvfrom(fd, bytes, size, MSG_DONTWAIT, (struct sockaddr *)&storage, &length);
  if (count < 0) return -errno;
  memset(sender, 0, sizeof *sender);
  if (storage.ss_family == AF_INET6) {
    const struct sockaddr_in6 *from = (const struct sockaddr_in6 *)&storage;
    memcpy(sender->address, &from->sin6_addr, 16);
    sender->port = ntohs(from->sin6_port);
  } else {
    const struct sockaddr_in *from = (const struct sockaddr_in *)&storage;
    sender->address[10] = sender->address[11] = 0xFF;
    memcpy(sender->address + 12, &from->sin_addr, 4);
    sender->port = ntohs(from->sin_port);
  }
  return (int)count;
}

void lodestone_sender_name(const struct lodestone_sender *sender, char name[64]) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  int is_old = memcmp(sender->address, mapped, sizeof mapped) == 0;
  if (!inet_ntop(is_old ? AF_INET : AF_INET6, sender->address + (is_old ? 12 : 0), name, 64)) strcpy(name, "?");
}

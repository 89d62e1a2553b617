// Whose program is at the other end of a TCP connection, if it is one of this machine.

#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The state of a connection that both ends have (include/net/tcp_states.h of the kernel). Only then has its socket an owner.
enum { ESTABLISHED = 1 };

struct end {
  int family;
  uint16_t port;
  uint32_t address[4];
};

// IPv4 within IPv6 (::ffff:0:0/96) is IPv4: that is what the other end's socket has.
static int read_end(const struct sockaddr_storage *name, struct end *end) {
  memset(end, 0, sizeof *end);
  if (name->ss_family == AF_INET) {
    const struct sockaddr_in *plain = (const struct sockaddr_in *)name;
    *end = (struct end){.family = AF_INET, .port = plain->sin_port, .address = {plain->sin_addr.s_addr}};
    return 0;
  }
  if (name->ss_family != AF_INET6) return -EAFNOSUPPORT;
  const struct sockaddr_in6 *wide = (const struct sockaddr_in6 *)name;
  end->port = wide->sin6_port;
  if (IN6_IS_ADDR_V4MAPPED(&wide->sin6_addr)) {
    end->family = AF_INET;
    memcpy(end->address, wide->sin6_addr.s6_addr + 12, 4);
  } else {
    end->family = AF_INET6;
    memcpy(end->address, wide->sin6_addr.s6_addr, 16);
  }
  return 0;
}

static int ask(int fd, const struct end *near, const struct end *far, uint32_t *user) {
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
  } question = {
      .header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
      .request = {.sdiag_family = (uint8_t)far->family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u},
  };
  // The socket that is looked for is that of the other end: its own address is the far one.
  question.request.id.idiag_sport = far->port;
  question.request.id.idiag_dport = near->port;
  memcpy(question.request.id.idiag_src, far->address, 16);
  memcpy(question.request.id.idiag_dst, near->address, 16);
  question.request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  question.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  if (sendto(fd, &question, sizeof question, MSG_DONTWAIT, (const struct sockaddr *)&kernel, sizeof kernel) < 0) {
    return -errno;
  }
  union {
    struct nlmsghdr header;
    char bytes[4096];
  } answer;
  // The kernel has answered before the call above has returned.
  ssize_t count = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
  if (count < 0) return -errno;
  if (!NLMSG_OK(&answer.header, (size_t)count)) return -EPROTO;
  if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return -ENOENT;
  if (answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg))) return -EPROTO;
  struct inet_diag_msg found;
  memcpy(&found, NLMSG_DATA(&answer.header), sizeof found);
  // Without such a connection a listener of this port is found, which has nothing to do with it.
  if (found.idiag_state != ESTABLISHED || found.id.idiag_dport != near->port) return -ENOENT;
  *user = found.idiag_uid;
  return 0;
}

int lodestone_connection_user(int fd, uint32_t *user) {
  struct sockaddr_storage name;
  struct end near, far;
  socklen_t size = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &size) < 0) return -errno;
  int result = read_end(&name, &near);
  if (result < 0) return result;
  size = sizeof name;
  if (getpeername(fd, (struct sockaddr *)&name, &size) < 0) return -errno;
  result = read_end(&name, &far);
  if (result < 0) return result;
  int diagnosis = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
  if (diagnosis < 0) return -errno;
  result = ask(diagnosis, &near, &far, user);
  close(diagnosis);
  return result;
}

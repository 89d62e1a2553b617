#include "CLinuxIO.h"

#include <errno.h>
#include <linux/can.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int failure(int fd, int error) {
  close(fd);
  return -error;
}

static int named(struct ifreq *request, const char *name) {
  memset(request, 0, sizeof *request);
  size_t length = strlen(name);
  if (length == 0 || length >= sizeof request->ifr_name) return -EINVAL;
  memcpy(request->ifr_name, name, length);
  return 0;
}

int lodestone_can_open(const char *name) {
  struct ifreq request;
  int result = named(&request, name);
  if (result < 0) return result;
  int fd = socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, CAN_RAW);
  if (fd < 0) return -errno;
  if (ioctl(fd, SIOCGIFINDEX, &request) < 0) return failure(fd, errno);
  struct sockaddr_can address;
  memset(&address, 0, sizeof address);
  address.can_family = AF_CAN;
  address.can_ifindex = request.ifr_ifindex;
  // The index and the type share the request's memory.
  if (ioctl(fd, SIOCGIFHWADDR, &request) < 0) return failure(fd, errno);
  if (request.ifr_hwaddr.sa_family != ARPHRD_CAN) return failure(fd, EPROTOTYPE);
  // No filter takes no frame: somebody has to ask for some first.
  if (setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, NULL, 0) < 0) return failure(fd, errno);
  can_err_mask_t errors = CAN_ERR_BUSOFF | CAN_ERR_RESTARTED | CAN_ERR_CRTL | CAN_ERR_ACK | CAN_ERR_TX_TIMEOUT;
  if (setsockopt(fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, &errors, sizeof errors) < 0) return failure(fd, errno);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return failure(fd, errno);
  return fd;
}

int lodestone_can_filter(int fd, const uint32_t *identifiers, const uint32_t *masks, unsigned count) {
  struct can_filter filters[LODESTONE_CAN_FILTERS];
  if (count > LODESTONE_CAN_FILTERS) return -EINVAL;
  for (unsigned index = 0; index < count; index++) {
    // Data frames with identifiers of 29 bits.
    filters[index].can_id = (identifiers[index] & CAN_EFF_MASK) | CAN_EFF_FLAG;
    filters[index].can_mask = (masks[index] & CAN_EFF_MASK) | CAN_EFF_FLAG | CAN_RTR_FLAG;
  }
  return setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, filters, count * sizeof filters[0]) < 0 ? -errno : 0;
}

int lodestone_can_send(int fd, const struct lodestone_can_frame *frame) {
  struct can_frame raw;
  if (frame->count > sizeof raw.data || frame->identifier > CAN_EFF_MASK) return -EINVAL;
  memset(&raw, 0, sizeof raw);
  raw.can_id = frame->identifier | CAN_EFF_FLAG;
  raw.can_dlc = frame->count;
  memcpy(raw.data, frame->data, frame->count);
  ssize_t sent = send(fd, &raw, sizeof raw, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? -errno : 0;
}

// The state that a controller has reported, or 0.
static uint32_t reported(const struct can_frame *raw) {
  uint32_t events = 0;
  if (raw->can_id & CAN_ERR_BUSOFF) events |= LODESTONE_CAN_BUS_OFF;
  if (raw->can_id & CAN_ERR_RESTARTED) events |= LODESTONE_CAN_RESTARTED;
  if (raw->can_id & (CAN_ERR_ACK | CAN_ERR_TX_TIMEOUT)) events |= LODESTONE_CAN_UNHEARD;
  if (raw->can_id & CAN_ERR_CRTL && raw->can_dlc > 1) {
    if (raw->data[1] & (CAN_ERR_CRTL_TX_PASSIVE | CAN_ERR_CRTL_RX_PASSIVE)) events |= LODESTONE_CAN_PASSIVE;
    if (raw->data[1] & CAN_ERR_CRTL_ACTIVE) events |= LODESTONE_CAN_ACTIVE;
  }
  return events;
}

int lodestone_can_receive(int fd, struct lodestone_can_frame *frame) {
  struct can_frame raw;
  ssize_t size = recv(fd, &raw, sizeof raw, MSG_DONTWAIT);
  if (size < 0) return -errno;
  memset(frame, 0, sizeof *frame);
  if (size != sizeof raw || raw.can_dlc > sizeof raw.data) return LODESTONE_CAN_OTHER;
  if (raw.can_id & CAN_ERR_FLAG) {
    frame->events = reported(&raw);
    return LODESTONE_CAN_ERROR;
  }
  if (!(raw.can_id & CAN_EFF_FLAG) || raw.can_id & CAN_RTR_FLAG) return LODESTONE_CAN_OTHER;
  frame->identifier = raw.can_id & CAN_EFF_MASK;
  frame->count = raw.can_dlc;
  memcpy(frame->data, raw.data, raw.can_dlc);
  return LODESTONE_CAN_DATA;
}

int lodestone_can_state(int fd, const char *name) {
  struct ifreq request;
  int result = named(&request, name);
  if (result < 0) return result;
  if (ioctl(fd, SIOCGIFINDEX, &request) < 0) return -errno;
  struct sockaddr_can address;
  memset(&address, 0, sizeof address);
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
  // An interface that was unplugged and plugged in again has its name again and is another one.
  if (address.can_ifindex != request.ifr_ifindex) return -ENODEV;
  if (ioctl(fd, SIOCGIFFLAGS, &request) < 0) return -errno;
  if (!(request.ifr_flags & IFF_UP)) return LODESTONE_CAN_DOWN;
  // A driver takes the carrier away when its controller is bus-off.
  return request.ifr_flags & IFF_RUNNING ? LODESTONE_CAN_UP : LODESTONE_CAN_SILENT;
}

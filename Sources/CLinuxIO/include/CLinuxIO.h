// The Linux calls that Swift cannot make by itself: ioctl macros, libi2c's inline functions, libgpiod in
// both of its versions, termios2. Every function returns zero or more on success and -errno on failure;
// none waits without a bound, none keeps state of its own.
#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

// I2C -----------------------------------------------------------------------------------------------

/// Opens an adapter's node and sets the time a transfer may take. Returns a file descriptor.
int lodestone_i2c_open(const char *path, int timeout_ms);
/// What the adapter can do (I2C_FUNCS): bit 0 plain I2C, bit 1 SMBus byte data, bit 2 SMBus I2C blocks.
int lodestone_i2c_abilities(int fd);
/// Writes the sub-address and reads after a repeated start, in one I2C_RDWR.
int lodestone_i2c_read(int fd, uint8_t address, uint8_t reg, uint8_t *data, uint16_t count);
/// Reads without writing a sub-address before.
int lodestone_i2c_listen(int fd, uint8_t address, uint8_t *data, uint16_t count);
/// Writes sub-address and data (254 bytes at most) in one message.
int lodestone_i2c_write(int fd, uint8_t address, uint8_t reg, const uint8_t *data, uint16_t count);
/// The same by SMBus transfers of libi2c, for an adapter that knows no others.
int lodestone_smbus_read(int fd, int abilities, uint8_t address, uint8_t reg, uint8_t *data, uint16_t count);
int lodestone_smbus_write(int fd, int abilities, uint8_t address, uint8_t reg, const uint8_t *data, uint16_t count);

#define LODESTONE_I2C_PLAIN 1
#define LODESTONE_I2C_BYTE 2
#define LODESTONE_I2C_BLOCK 4

// Serial ---------------------------------------------------------------------------------------------

/// Opens a port raw and exclusively (TIOCEXCL), not blocking, at any rate. Returns a file descriptor.
int lodestone_serial_open(const char *path, unsigned rate);
/// Changes the rate and drops what has not been read.
int lodestone_serial_rate(int fd, unsigned rate);
/// How many bytes the kernel holds that were not sent yet.
int lodestone_serial_unsent(int fd);

// Pseudo terminals -----------------------------------------------------------------------------------

/// Makes a pseudo terminal whose other end is at `path`, raw, of this mode and group (-1: as it comes), not waiting. Returns the file
/// descriptor of this end. poll(2) reports it as hung up while nobody has the other end open.
int lodestone_pty_open(char path[64], unsigned mode, int64_t group);
/// Makes the other end raw again, drops what nobody has read, and lets everybody in again.
int lodestone_pty_clear(const char *path);
/// How many bytes nobody has read yet, up to 4096, without those on their way. -EBUSY where a reader keeps all others out.
int lodestone_pty_unread(const char *path);

// CAN ------------------------------------------------------------------------------------------------

#define LODESTONE_CAN_FILTERS 16
/// A frame with an identifier of 29 bits, or what a controller says of itself.
struct lodestone_can_frame {
  uint32_t identifier;
  uint32_t events;
  uint8_t count;
  uint8_t data[8];
};
/// What a controller says of itself: it has left the bus, is on it again, nobody acknowledges, it has many errors, and few again.
#define LODESTONE_CAN_BUS_OFF 1
#define LODESTONE_CAN_RESTARTED 2
#define LODESTONE_CAN_UNHEARD 4
#define LODESTONE_CAN_PASSIVE 8
#define LODESTONE_CAN_ACTIVE 16

/// Opens a raw socket at an interface, not waiting, which takes no frames yet. Returns a file descriptor. -EAFNOSUPPORT from a kernel
/// without CAN, -ENODEV without the interface, -EPROTOTYPE for one that is no CAN interface.
int lodestone_can_open(const char *name);
/// Takes the data frames whose identifier is one of `identifiers` in the bits of its mask, and no others.
int lodestone_can_filter(int fd, const uint32_t *identifiers, const uint32_t *masks, unsigned count);
/// Sends a frame. -ENOBUFS or -EAGAIN where there is no room for it, -ENETDOWN at an interface that is down.
int lodestone_can_send(int fd, const struct lodestone_can_frame *frame);
/// Takes what has arrived: one of the three kinds, or -EAGAIN.
int lodestone_can_receive(int fd, struct lodestone_can_frame *frame);
#define LODESTONE_CAN_OTHER 0
#define LODESTONE_CAN_DATA 1
#define LODESTONE_CAN_ERROR 2
/// The state of the interface: down, up, or up without a bus (bus-off). -ENODEV where it is not the one any more that was opened.
int lodestone_can_state(int fd, const char *name);
#define LODESTONE_CAN_DOWN 0
#define LODESTONE_CAN_UP 1
#define LODESTONE_CAN_SILENT 2

// Sockets --------------------------------------------------------------------------------------------

#define LODESTONE_ADDRESSES 8
/// An address of a host; `data` is a sockaddr.
struct lodestone_address {
  uint32_t length;
  uint8_t data[128];
};
/// Asks for a host's addresses, on a thread of its own. Returns a descriptor that becomes readable with the answer.
int lodestone_resolve_start(const char *host, uint16_t port);
/// Takes the answer, LODESTONE_ADDRESSES at most. Returns how many there are, 0 for an unknown name, -EAGAIN for now.
int lodestone_resolve_take(int fd, struct lodestone_address *addresses);
/// Begins to connect, not waiting. Returns a file descriptor.
int lodestone_connect(const struct lodestone_address *address);
int lodestone_connect_path(const char *path);
/// Whether it is connected: 1, 0 for not yet, -errno for never.
int lodestone_connected(int fd);
/// Sends what there is room for; a server that has gone is an error and no signal.
int lodestone_send(int fd, const void *bytes, size_t count);

// Encrypted connections ------------------------------------------------------------------------------

struct lodestone_tls;
/// Begins the client's side of TLS 1.2 or newer, by libssl, which is loaded for it. The server's certificate must be of `host`, a name
/// or an address, and signed by an authority of the file `authorities` (PEM), or of the system's store if that is NULL. -ENOSYS without
/// the library, -ENOENT without a store or a certificate in the file; what is wrong goes to `error`. It has no socket: the caller brings
/// and takes the network's bytes. One thread uses it.
int lodestone_tls_open(const char *host, const char *authorities, struct lodestone_tls **result, char *error, size_t size);
void lodestone_tls_close(struct lodestone_tls *tls);
/// Takes bytes from the network.
int lodestone_tls_feed(struct lodestone_tls *tls, const void *bytes, size_t count);
/// Gives bytes for the network. Returns how many.
int lodestone_tls_take(struct lodestone_tls *tls, void *bytes, size_t count);
/// Goes on with the handshake: 1 once it is done, 0 while more bytes are needed, -EIO if it has failed.
int lodestone_tls_handshake(struct lodestone_tls *tls, char *error, size_t size);
/// Decrypts what has arrived. Returns how many bytes, 0 while more are needed, -EPIPE once the server has ended the connection.
int lodestone_tls_read(struct lodestone_tls *tls, void *bytes, size_t count, char *error, size_t size);
/// Encrypts bytes for the network.
int lodestone_tls_write(struct lodestone_tls *tls, const void *bytes, size_t count);
/// Opens a UDP port, which does not wait. Without an address (a number of IPv4 or IPv6) it hears what is sent to any address of
/// this machine; a multicast group is joined on every interface. Returns a file descriptor, or -ENODEV where no interface can
/// join the group.
int lodestone_udp_open(const char *address, uint16_t port);
/// Who has sent a datagram: an address of IPv6, or one of IPv4 mapped into it (::ffff:192.0.2.1).
struct lodestone_sender {
  uint8_t address[16];
  uint16_t port;
};
/// Takes a datagram. Returns how many bytes, or -EAGAIN if there is none. What is longer than `size` loses its end.
int lodestone_udp_receive(int fd, void *bytes, size_t size, struct lodestone_sender *sender);
/// A sender's address as text, without its port.
void lodestone_sender_name(const struct lodestone_sender *sender, char name[64]);

// Local sockets --------------------------------------------------------------------------------------

/// Makes a socket's file with this mode and listens at it, not waiting. -EADDRINUSE if there is a file of this name.
int lodestone_listen_path(const char *path, unsigned mode);
/// Makes a listening local socket that another process has opened one that does not wait. -EINVAL if it is something else.
int lodestone_adopt_listener(int fd);
/// Sends a message to a local datagram socket, by its path or by its name in the abstract namespace after an @. Waits a second at most.
int lodestone_send_datagram(const char *path, const char *text, size_t count);
/// A local datagram socket without a name, to send with. Returns a file descriptor.
int lodestone_datagram_open(void);
/// Sends a datagram to a local socket by its path, not waiting: -EAGAIN where its program has no room for it.
int lodestone_datagram_send(int fd, const char *path, const void *bytes, size_t count);
/// Takes a connection. Returns its file descriptor, which does not wait, or -EAGAIN if there is none.
int lodestone_accept(int fd);
/// Takes what has arrived. Returns how many bytes, 0 at the end of the connection.
int lodestone_receive(int fd, void *bytes, size_t count);
/// Who has connected a socket, as the kernel knows it.
struct lodestone_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};
int lodestone_peer(int fd, struct lodestone_peer *peer);
/// A descriptor of the process that has connected a socket (pidfd): it is of no other process, whoever gets the number next.
int lodestone_peer_process(int fd, int32_t process);
/// Whether the process of such a descriptor still runs: 1 or 0.
int lodestone_process_runs(int fd);
/// The user of the program at the other end of a TCP connection, if it is one of this machine (sock_diag(7)). Returns -ENOENT if the kernel
/// knows none, as for a program of another machine or of another network namespace.
int lodestone_connection_user(int fd, uint32_t *user);

#define LODESTONE_READABLE 1
#define LODESTONE_WRITABLE 2
/// The other end has gone; always told.
#define LODESTONE_HUNG_UP 4
/// Waits for any of many descriptors (epoll), each with a token of its own. Returns a file descriptor.
int lodestone_poller_open(void);
int lodestone_poller_set(int poller, int fd, uint64_t token, int events, int is_new);
int lodestone_poller_remove(int poller, int fd);
struct lodestone_ready {
  uint64_t token;
  int events;
};
/// Waits `nanoseconds` at most. Returns how many are ready, 64 at most.
int lodestone_poller_wait(int poller, struct lodestone_ready *ready, unsigned count, int64_t nanoseconds);

// GPIO -----------------------------------------------------------------------------------------------

struct lodestone_line;
/// Requests a line for rising edges with CLOCK_MONOTONIC times. The chip by label, name or path, the line
/// by name or decimal offset.
int lodestone_line_open(const char *chip, const char *line, struct lodestone_line **result);
/// The descriptor that becomes readable at an edge.
int lodestone_line_fd(struct lodestone_line *line);
/// Takes all waiting edges; the newest one's time goes to `nanoseconds`. Returns how many there were.
int lodestone_line_take(struct lodestone_line *line, int64_t *nanoseconds);
/// 1 while the line is high, else 0.
int lodestone_line_level(struct lodestone_line *line);
void lodestone_line_close(struct lodestone_line *line);
/// The version of libgpiod this was compiled against: 1 or 2.
int lodestone_gpiod_version(void);

// D-Bus ----------------------------------------------------------------------------------------------

struct lodestone_bus;
struct lodestone_message;
/// Connects to a bus by libsystemd, which is loaded for it; -ENOSYS where there is none. A bus is used by one thread.
int lodestone_bus_open(const char *address, int timeout_ms, struct lodestone_bus **result);
void lodestone_bus_close(struct lodestone_bus *bus);
/// The descriptor that becomes readable with a message.
int lodestone_bus_fd(struct lodestone_bus *bus);
/// Waits until there is something to process, `nanoseconds` at most.
int lodestone_bus_wait(struct lodestone_bus *bus, int64_t nanoseconds);
/// Does one thing. Returns 0 where there is nothing to do; `message` is the caller's, and often none.
int lodestone_bus_process(struct lodestone_bus *bus, struct lodestone_message **message);
/// Calls a method and waits for the reply; where that is an error its name and text go to `error`.
int lodestone_bus_call(
    struct lodestone_bus *bus, struct lodestone_message *message, int timeout_ms, struct lodestone_message **reply,
    char *error, size_t size);
int lodestone_message_new(
    struct lodestone_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
    struct lodestone_message **result);
/// Becomes the owner of a name; -EEXIST where another program is.
int lodestone_bus_claim(struct lodestone_bus *bus, const char *name);
/// Makes the reply to a call, an error that is the reply, and a signal. `lodestone_bus_send` sends them, and waits for nothing.
int lodestone_message_reply(struct lodestone_message *call, struct lodestone_message **result);
int lodestone_message_refuse(
    struct lodestone_message *call, const char *name, const char *text, struct lodestone_message **result);
int lodestone_message_signal(
    struct lodestone_bus *bus, const char *path, const char *interface, const char *member,
    struct lodestone_message **result);
int lodestone_bus_send(struct lodestone_bus *bus, struct lodestone_message *message);
void lodestone_message_close(struct lodestone_message *message);
int lodestone_message_is_signal(struct lodestone_message *message);
int lodestone_message_is_call(struct lodestone_message *message);
/// What a message's head says: each lives as long as the message, and may be NULL.
const char *lodestone_message_sender(struct lodestone_message *message);
const char *lodestone_message_path(struct lodestone_message *message);
const char *lodestone_message_interface(struct lodestone_message *message);
const char *lodestone_message_member(struct lodestone_message *message);
/// Write and read by types of the D-Bus specification, as sd_bus_message_append_basic(3) and its kin.
int lodestone_message_append(struct lodestone_message *message, char type, const void *value);
int lodestone_message_begin(struct lodestone_message *message, char type, const char *contents);
int lodestone_message_end(struct lodestone_message *message);
int lodestone_message_peek(struct lodestone_message *message, char *type, const char **contents);
int lodestone_message_enter(struct lodestone_message *message, char type, const char *contents);
int lodestone_message_exit(struct lodestone_message *message);
int lodestone_message_read(struct lodestone_message *message, char type, void *value);
int lodestone_message_bytes(struct lodestone_message *message, const void **bytes, size_t *count);
int lodestone_message_skip(struct lodestone_message *message, const char *types);

// Locks, clocks, threads -----------------------------------------------------------------------------

/// Locks an open node (flock), so that no other opening of it can be locked; does not wait. -EWOULDBLOCK if another one is.
/// The lock ends when the last copy of the descriptor is closed, however the process ends.
int lodestone_lock(int fd);
/// A file as /proc/locks names it: the device that it lies on, and its inode. Links are followed.
int lodestone_inode(const char *path, unsigned *major_number, unsigned *minor_number, uint64_t *inode);
/// The number of a character device, as /proc/PID/stat has that of a terminal. -ENODEV for another file.
int lodestone_device_number(const char *path, uint64_t *number);
int64_t lodestone_monotonic(void);
/// Limits the number of malloc's arenas, before the process has threads. Does nothing with another C library than glibc.
void lodestone_limit_arenas(int most);
/// Gives back the pages of code that are mapped. Those that run again are mapped anew.
void lodestone_release_code(void);
/// Whether the kernel's clock is kept by somebody who knows the time: 1 or 0.
int lodestone_clock_is_set(void);
/// An eventfd, not blocking: written to end another thread's wait.
int lodestone_wake_open(void);
/// Waits for any of the descriptors, `nanoseconds` at most. Returns how many are ready.
int lodestone_wait(struct pollfd *entries, unsigned count, int64_t nanoseconds);

// What Swift cannot say of vhost-user and of a rig's files: file descriptors that arrive with a message,
// loads and stores with an order, calls that its C library's module leaves out. Every function returns zero
// or more on success and -errno on failure; none waits without a bound, none keeps state of its own.
#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/// Receives at most `count` bytes without waiting, and the file descriptors that came with them, `capacity`
/// at most: the kernel closes the rest. Returns the number of bytes; 0 when the peer has gone.
int twin_receive(int socket, void *data, size_t count, int *files, int capacity, int *received);
/// Accepts a connection without waiting; it is not blocking.
int twin_accept(int socket);

/// Loads an index that another processor stores: what it stored before is then seen as well.
uint16_t twin_load_acquire(const uint16_t *value);
/// Stores an index that another processor loads: what was stored before is then seen there as well.
void twin_store_release(uint16_t *value, uint16_t next);
/// Orders every store before against every load after.
void twin_fence(void);

/// Opens a pseudo terminal whose other end is raw. Returns the master, not blocking; `path` is the slave's.
int twin_terminal_open(char path[64]);
/// Waits for any of the descriptors, `nanoseconds` at most. Returns how many are ready.
int twin_wait(struct pollfd *entries, unsigned count, int64_t nanoseconds);
/// Keeps SIGTERM and SIGINT from ending this thread; the descriptor becomes readable at one. SIGPIPE is ignored.
int twin_signals_open(void);
/// Lets this thread's waits end on time: the kernel adds 50 microseconds otherwise.
void twin_wake_exactly(void);

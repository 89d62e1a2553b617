// What tests need from C: a pseudo terminal, a thread's name, and a count of this thread's allocations.
#pragma once

#include <stdint.h>

/// Opens the receiver's side of a pseudo terminal; the path of the port's side goes to `path`.
int test_pty_open(char path[64]);
/// The calling thread's name.
void test_thread_name(char name[16]);
/// Allocations of the calling thread since it began.
uint64_t test_allocations(void);

/// From now on the file at `path` is an I2C adapter that can do `functions` (I2C_FUNC_...), with one chip of
/// 256 registers (each holding its own number at first) at `address`. One at a time.
void test_adapter_begin(const char *path, unsigned long functions, uint8_t address);
void test_adapter_end(void);
/// Every transfer fails with this errno; 0 ends that.
void test_adapter_fail(int error);
/// Transfers of several messages answer with one message too few, as virtio adapters do.
void test_adapter_answer_short(void);
uint8_t test_adapter_register(uint8_t index);
/// What the adapter was told by I2C_TIMEOUT, in 10 ms.
unsigned long test_adapter_timeout(void);
/// What was transferred since the last call, a line each.
void test_adapter_take_log(char *text, unsigned long size);

struct lodestone_bus;
struct lodestone_message;
/// Takes a name on a bus, as a service does. -ENOSYS without libsystemd.
int test_bus_claim(struct lodestone_bus *bus, const char *name);
/// Makes the reply to a call, or the error of that name.
int test_bus_reply(struct lodestone_message *call, struct lodestone_message **reply);
int test_bus_refuse(struct lodestone_message *call, const char *name, struct lodestone_message **reply);
int test_bus_signal(
    struct lodestone_bus *bus, const char *path, const char *interface, const char *member,
    struct lodestone_message **signal);
int test_bus_send(struct lodestone_bus *bus, struct lodestone_message *message);

// What tests need from C: a pseudo terminal, a thread's name, and a count of this thread's allocations.
#pragma once

#include <stdint.h>

/// Opens the receiver's side of a pseudo terminal; the path of the port's side goes to `path`.
int test_pty_open(char path[64]);
/// The calling thread's name.
void test_thread_name(char name[16]);
/// Allocations of the calling thread since it began.
uint64_t test_allocations(void);

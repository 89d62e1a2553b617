// Shows the thread sanitizer the waits of Swift's Mutex.
//
// The short way of a Mutex, where nobody else has it, is compiled into its callers, and the sanitizer sees it. Where two
// threads meet, the library does the rest, and that is not compiled for the sanitizer: each value behind a mutex would be
// a race. These functions stand in the place of the library's, call them, and say what they mean. In a build without
// the sanitizer there are none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include "mutex.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall, no_sanitize("thread")))
#define SELF __attribute__((swift_context)) void *self

typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) bool try_function(SELF);
typedef __attribute__((swiftcall)) void unlock_function(SELF);

SWIFT void sanitized_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool sanitized_try(SELF) __asm__(TRY_LOCK);
SWIFT void sanitized_unlock(SELF) __asm__(UNLOCK);

SWIFT void sanitized_lock(uint32_t thread, SELF) {
  ((lock_function *)dlsym(RTLD_NEXT, LOCK))(thread, self);
  __tsan_acquire(self);
}

SWIFT bool sanitized_try(SELF) {
  if (!((try_function *)dlsym(RTLD_NEXT, TRY_LOCK))(self)) return false;
  __tsan_acquire(self);
  return true;
}

SWIFT void sanitized_unlock(SELF) {
  __tsan_release(self);
  ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK))(self);
}

#endif
#endif

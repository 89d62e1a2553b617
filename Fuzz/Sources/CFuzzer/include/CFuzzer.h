// The fuzzer's driver, from the compiler's library.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

// Attacks `callback` as the arguments say; its answer is the process's exit code.
static inline int fuzz(
    int argc, char **argv, int (*callback)(const uint8_t *data, size_t size)) {
  return LLVMFuzzerRunDriver(&argc, &argv, callback);
}

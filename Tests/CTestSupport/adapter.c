// An I2C adapter as the kernel's i2c-dev presents one, behind the system call itself: whoever calls ioctl
// on the file that stands for it is answered here, libi2c included. Written from the kernel's
// Documentation/i2c/dev-interface.rst and include/uapi/linux/i2c.h.

#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  ino_t inode;
  unsigned long functions;
  unsigned long timeout, retries;
  unsigned char address, selected;
  unsigned char registers[256];
  int fail_with, answer_short;
  char log[4096];
} adapter;

static void note(const char *format, ...) {
  size_t used = strlen(adapter.log);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(adapter.log + used, sizeof adapter.log - used, format, arguments);
  va_end(arguments);
}

void test_adapter_begin(const char *path, unsigned long functions, uint8_t address) {
  struct stat status;
  pthread_mutex_lock(&lock);
  memset(&adapter, 0, sizeof adapter);
  adapter.inode = stat(path, &status) == 0 ? status.st_ino : 0;
  adapter.functions = functions;
  adapter.address = address;
  for (int index = 0; index < 256; index++) adapter.registers[index] = (unsigned char)index;
  pthread_mutex_unlock(&lock);
}

void test_adapter_end(void) { adapter.inode = 0; }
void test_adapter_fail(int error) { adapter.fail_with = error; }
void test_adapter_answer_short(void) { adapter.answer_short = 1; }
uint8_t test_adapter_register(uint8_t index) { return adapter.registers[index]; }
unsigned long test_adapter_timeout(void) { return adapter.timeout; }

void test_adapter_take_log(char *text, unsigned long size) {
  pthread_mutex_lock(&lock);
  snprintf(text, size, "%s", adapter.log);
  adapter.log[0] = 0;
  pthread_mutex_unlock(&lock);
}

// The address counter of the chip goes up with every byte, as sensors' do.
static int rdwr(struct i2c_rdwr_ioctl_data *data) {
  unsigned char reg = 0;
  note("rdwr");
  for (unsigned index = 0; index < data->nmsgs; index++) {
    struct i2c_msg *message = &data->msgs[index];
    note(" [%02x %s %u]", message->addr, message->flags & I2C_M_RD ? "r" : "w", message->len);
    if (message->flags & ~I2C_M_RD) return EINVAL;
    if (message->addr != adapter.address) return EREMOTEIO;
    if (message->flags & I2C_M_RD) {
      for (unsigned byte = 0; byte < message->len; byte++) message->buf[byte] = adapter.registers[reg++];
    } else if (message->len > 0) {
      reg = message->buf[0];
      for (unsigned byte = 1; byte < message->len; byte++) adapter.registers[reg++] = message->buf[byte];
    }
  }
  note("\n");
  return 0;
}

static int smbus(struct i2c_smbus_ioctl_data *call) {
  int reads = call->read_write == I2C_SMBUS_READ;
  if (adapter.selected != adapter.address) return ENXIO;
  switch (call->size) {
  case I2C_SMBUS_BYTE:
    note("smbus byte %s %02x\n", reads ? "r" : "w", call->command);
    return adapter.functions & I2C_FUNC_SMBUS_WRITE_BYTE ? 0 : EOPNOTSUPP;
  case I2C_SMBUS_BYTE_DATA:
    note("smbus byte-data %s %02x\n", reads ? "r" : "w", call->command);
    if (!(adapter.functions & I2C_FUNC_SMBUS_BYTE_DATA)) return EOPNOTSUPP;
    if (reads) call->data->byte = adapter.registers[call->command];
    else adapter.registers[call->command] = call->data->byte;
    return 0;
  // The kernel's own translation (i2c-dev.c): the old number means a read of 32, and libi2c uses it for that.
  case I2C_SMBUS_I2C_BLOCK_BROKEN:
    if (reads) call->data->block[0] = I2C_SMBUS_BLOCK_MAX;
    // fall through
  case I2C_SMBUS_I2C_BLOCK_DATA: {
    unsigned count = call->data->block[0];
    note("smbus block %s %02x %u\n", reads ? "r" : "w", call->command, count);
    if (!(adapter.functions & I2C_FUNC_SMBUS_I2C_BLOCK)) return EOPNOTSUPP;
    if (count == 0 || count > I2C_SMBUS_BLOCK_MAX) return EINVAL;
    for (unsigned byte = 0; byte < count; byte++) {
      unsigned char *slot = &adapter.registers[(unsigned char)(call->command + byte)];
      if (reads) call->data->block[1 + byte] = *slot;
      else *slot = call->data->block[1 + byte];
    }
    return 0;
  }
  default:
    return EOPNOTSUPP;
  }
}

static int answer(unsigned long request, void *argument) {
  int error = 0;
  switch (request) {
  case I2C_FUNCS: *(unsigned long *)argument = adapter.functions; return 0;
  case I2C_TIMEOUT: adapter.timeout = (unsigned long)argument; return 0;
  case I2C_RETRIES: adapter.retries = (unsigned long)argument; return 0;
  case I2C_SLAVE: adapter.selected = (unsigned char)(unsigned long)argument; return 0;
  case I2C_RDWR:
    if (!(adapter.functions & I2C_FUNC_I2C)) { error = EOPNOTSUPP; break; }
    error = adapter.fail_with ? adapter.fail_with : rdwr(argument);
    if (!error) {
      int count = (int)((struct i2c_rdwr_ioctl_data *)argument)->nmsgs;
      return adapter.answer_short ? count - 1 : count;
    }
    break;
  case I2C_SMBUS: error = adapter.fail_with ? adapter.fail_with : smbus(argument); break;
  default: error = ENOTTY;
  }
  if (!error) return 0;
  errno = error;
  return -1;
}

// In place of libc's: everything that is not for the adapter goes straight to the kernel.
int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  struct stat status;
  if (adapter.inode && fstat(fd, &status) == 0 && status.st_ino == adapter.inode) {
    pthread_mutex_lock(&lock);
    int result = answer(request, argument);
    pthread_mutex_unlock(&lock);
    return result;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}

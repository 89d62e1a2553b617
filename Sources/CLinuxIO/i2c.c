#include "CLinuxIO.h"

#include <errno.h>
#include <fcntl.h>
#include <i2c/smbus.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int lodestone_i2c_open(const char *path, int timeout_ms) {
  int fd;
  do {
    fd = open(path, O_RDWR | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  // Units of 10 ms. Retries are counted above, so the kernel does none of its own. An adapter that
  // refuses either keeps its default, which is bounded as well.
  ioctl(fd, I2C_TIMEOUT, (unsigned long)(timeout_ms + 9) / 10);
  ioctl(fd, I2C_RETRIES, 0UL);
  return fd;
}

int lodestone_i2c_abilities(int fd) {
  unsigned long functions = 0;
  if (ioctl(fd, I2C_FUNCS, &functions) < 0) return -errno;
  int abilities = 0;
  if (functions & I2C_FUNC_I2C) abilities |= LODESTONE_I2C_PLAIN;
  if ((functions & I2C_FUNC_SMBUS_BYTE_DATA) == I2C_FUNC_SMBUS_BYTE_DATA)
    abilities |= LODESTONE_I2C_BYTE;
  if ((functions & I2C_FUNC_SMBUS_I2C_BLOCK) == I2C_FUNC_SMBUS_I2C_BLOCK)
    abilities |= LODESTONE_I2C_BLOCK;
  return abilities;
}

static int transfer(int fd, struct i2c_msg *messages, unsigned count) {
  struct i2c_rdwr_ioctl_data data = {.msgs = messages, .nmsgs = count};
  int result;
  do {
    result = ioctl(fd, I2C_RDWR, &data);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  // Some adapters (virtio) answer with the number of messages that went through instead of an error.
  return (unsigned)result == count ? 0 : -ENXIO;
}

int lodestone_i2c_read(int fd, uint8_t address, uint8_t reg, uint8_t *data, uint16_t count) {
  struct i2c_msg messages[2] = {
      {.addr = address, .flags = 0, .len = 1, .buf = &reg},
      {.addr = address, .flags = I2C_M_RD, .len = count, .buf = data},
  };
  return transfer(fd, messages, 2);
}

int lodestone_i2c_listen(int fd, uint8_t address, uint8_t *data, uint16_t count) {
  struct i2c_msg message = {.addr = address, .flags = I2C_M_RD, .len = count, .buf = data};
  return transfer(fd, &message, 1);
}

int lodestone_i2c_write(int fd, uint8_t address, uint8_t reg, const uint8_t *data, uint16_t count) {
  uint8_t buffer[256];
  if (count > sizeof buffer - 1) return -EINVAL;
  buffer[0] = reg;
  if (count > 0) memcpy(buffer + 1, data, count);
  struct i2c_msg message = {.addr = address, .flags = 0, .len = count + 1, .buf = buffer};
  return transfer(fd, &message, 1);
}

static int select_chip(int fd, uint8_t address) {
  return ioctl(fd, I2C_SLAVE, (unsigned long)address) < 0 ? -errno : 0;
}

int lodestone_smbus_read(int fd, int abilities, uint8_t address, uint8_t reg, uint8_t *data, uint16_t count) {
  int result = select_chip(fd, address);
  if (result < 0) return result;
  // One register at a time tears a sample, so blocks come first wherever the adapter has them.
  if (abilities & LODESTONE_I2C_BLOCK) {
    for (uint16_t done = 0; done < count;) {
      uint8_t part = count - done > I2C_SMBUS_BLOCK_MAX ? I2C_SMBUS_BLOCK_MAX : count - done;
      int32_t got = i2c_smbus_read_i2c_block_data(fd, (uint8_t)(reg + done), part, data + done);
      if (got < 0) return got;
      if (got != part) return -EIO;
      done += part;
    }
    return 0;
  }
  if (!(abilities & LODESTONE_I2C_BYTE)) return -EOPNOTSUPP;
  for (uint16_t done = 0; done < count; done++) {
    int32_t got = i2c_smbus_read_byte_data(fd, (uint8_t)(reg + done));
    if (got < 0) return got;
    data[done] = (uint8_t)got;
  }
  return 0;
}

int lodestone_smbus_write(int fd, int abilities, uint8_t address, uint8_t reg, const uint8_t *data, uint16_t count) {
  int result = select_chip(fd, address);
  if (result < 0) return result;
  if (count == 0) return i2c_smbus_write_byte(fd, reg);
  if (count == 1 && abilities & LODESTONE_I2C_BYTE) return i2c_smbus_write_byte_data(fd, reg, data[0]);
  if (abilities & LODESTONE_I2C_BLOCK && count <= I2C_SMBUS_BLOCK_MAX)
    return i2c_smbus_write_i2c_block_data(fd, reg, (uint8_t)count, data);
  if (!(abilities & LODESTONE_I2C_BYTE)) return -EOPNOTSUPP;
  for (uint16_t done = 0; done < count; done++) {
    result = i2c_smbus_write_byte_data(fd, (uint8_t)(reg + done), data[done]);
    if (result < 0) return result;
  }
  return 0;
}

import CLinuxIO

/// The calls to the kernel that an I2C bus is made of; a test puts its own in their place.
///
/// Each returns zero or more, or a negative error number.
protocol I2CCalls: Sendable {
  func open(_ path: String, timeoutMilliseconds: Int32) -> Int32
  func abilities(_ descriptor: Int32) -> Int32
  func read(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32
  func canListen(_ abilities: Int32) -> Bool
  func listen(
    _ descriptor: Int32, address: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32
  func write(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    from bytes: UnsafeRawBufferPointer
  ) -> Int32
}

/// The real ones: one I2C_RDWR a transfer where the adapter can, else SMBus.
struct KernelI2C: I2CCalls {
  func open(_ path: String, timeoutMilliseconds: Int32) -> Int32 {
    lodestone_i2c_open(path, timeoutMilliseconds)
  }

  func abilities(_ descriptor: Int32) -> Int32 { lodestone_i2c_abilities(descriptor) }

  func read(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    let data = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let count = UInt16(clamping: buffer.count)
    return abilities & LODESTONE_I2C_PLAIN != 0
      ? lodestone_i2c_read(descriptor, address, register, data, count)
      : lodestone_smbus_read(descriptor, abilities, address, register, data, count)
  }

  func canListen(_ abilities: Int32) -> Bool { abilities & LODESTONE_I2C_PLAIN != 0 }

  func listen(
    _ descriptor: Int32, address: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    lodestone_i2c_listen(
      descriptor, address, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
      UInt16(clamping: buffer.count))
  }

  func write(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    from bytes: UnsafeRawBufferPointer
  ) -> Int32 {
    let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let count = UInt16(clamping: bytes.count)
    return abilities & LODESTONE_I2C_PLAIN != 0
      ? lodestone_i2c_write(descriptor, address, register, data, count)
      : lodestone_smbus_write(descriptor, abilities, address, register, data, count)
  }
}

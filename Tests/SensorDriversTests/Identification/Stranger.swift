import SensorBus

/// A chip that the catalogue lacks: some registers hold `registers`, all others read as `rest`.
final class Stranger: RegisterDevice {
  private let rest: UInt8
  private let registers: [UInt8: UInt8]

  init(rest: UInt8, registers: [UInt8: UInt8]) { (self.rest, self.registers) = (rest, registers) }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    for index in buffer.indices {
      buffer[index] = registers[register &+ UInt8(truncatingIfNeeded: index)] ?? rest
    }
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try read(0x00, into: buffer)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
}

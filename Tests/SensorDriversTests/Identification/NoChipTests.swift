// Port expanders, displays, converters, clocks and noise are not taken for a chip of the catalogue.

import SensorBus
import SensorDrivers
import SimulatedDevices
import Testing

/// A port expander (PCF8574): whatever is written are its outputs, whatever is read its pins, of which one changes.
/// With two ports (PCF8575) they take turns.
private final class Expander: RegisterDevice {
  private(set) var writes = 0
  private let toggles: Bool
  private let ports: [UInt8]

  init(toggles: Bool, ports: [UInt8]) { (self.toggles, self.ports) = (toggles, ports) }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    writes += 1
    try listen(into: buffer)
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    for index in buffer.indices {
      buffer[index] = ports[index % ports.count] | (toggles && index % 3 == 0 ? 0x80 : 0)
    }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) { writes += 1 }
}

@Suite struct NoChipTests {
  @Test(
    "a port expander's outputs do not move, and it is not known", arguments: [false, true],
    [[0x22], [0x22, 0x5D], [0x00, 0x7F]] as [[UInt8]])
  func expander(toggles: Bool, ports: [UInt8]) throws {
    for address: UInt8 in [0x20, 0x21, 0x22, 0x23, 0x3C] {
      let device = Expander(toggles: toggles, ports: ports)
      let found = try ChipCatalog.identify(device, at: address) { _ in }
      #expect(device.writes == 0)
      #expect(!found.isEmpty && found.allSatisfy { !$0.isTold })
      #expect(found.allSatisfy { $0.evidence.contains("port expander") })
    }
    // An adapter that cannot listen: no register is named either.
    #expect(try ChipCatalog.identify(ScriptedDevice([]), at: 0x20).map(\.isTold) == [false])
    // A display gives its status to every read: SSD1306, on and off; SH1106, which also says busy; and what would be a
    // QMC6310's identity.
    for status: UInt8 in [0x03, 0x43, 0x08, 0x48, 0x88, 0xC8, 0x80] {
      let display = Stranger(rest: status, registers: [:])
      let found = try ChipCatalog.identify(display, at: 0x3C) { _ in }
      #expect(!found.isEmpty && found.allSatisfy { !$0.isTold }, "\(status)")
    }
  }

  /// What stands at an address without being any chip: the same answer from any register, as far as it goes.
  private final class Noise: RegisterDevice {
    /// What a read brings from a register on, and after so many bytes that were read before.
    private let byte: (_ register: UInt8, _ count: Int) -> UInt8
    private var count = 0

    init(_ byte: @escaping (_ register: UInt8, _ count: Int) -> UInt8) { self.byte = byte }

    func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      for index in buffer.indices {
        buffer[index] = byte(register &+ UInt8(truncatingIfNeeded: index), count)
        count += 1
      }
    }

    func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      try read(0x00, into: buffer)
    }

    func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
  }

  private func names(_ device: Noise, at address: UInt8) throws -> [String] {
    try ChipCatalog.identify(device, at: address) { _ in }.filter(\.isTold).map(\.chip)
  }

  @Test("of 1000 register files of noise at an address, one at the most is given a name")
  func noise() throws {
    var sum = 0
    for address in ChipCatalog.addresses {
      var told: [String] = []
      for index in 0..<1000 {
        var random = SeededGenerator(
          seed: 2027, stream: UInt64(address), index: UInt64(index))
        let file = (0..<256).map { _ in UInt8(random.next() >> 56) }
        told += try names(Noise { register, _ in file[Int(register)] }, at: address).prefix(1)
      }
      #expect(told.count <= 1, "\(hexadecimal(address)): \(told)")
      sum += told.count
    }
    print("noise: \(sum) of \(1000 * ChipCatalog.addresses.count) files are named")
  }

  @Test("one byte from every register, two in turn, and a counter are no chip")
  func monotony() throws {
    for address in ChipCatalog.addresses {
      for value in UInt8.min...(.max) {
        let lower = value ^ 0x5A
        for device in [
          Noise { _, _ in value }, Noise { register, _ in register % 2 == 0 ? value : lower },
          Noise { _, count in value &+ UInt8(truncatingIfNeeded: count) },
        ] {
          let names = try names(device, at: address)
          #expect(names == [], "\(hexadecimal(address)): \(hexadecimal(value))")
        }
      }
    }
  }

  /// A converter with one result gives its high byte first, whatever register is named, then the low one.
  private final class Word: RegisterDevice {
    private let high: UInt8

    init(_ high: UInt8) { self.high = high }

    func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      for index in buffer.indices { buffer[index] = index == 0 ? high : 0x9C }
    }

    func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
      try read(0x00, into: buffer)
    }

    func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
  }

  @Test("light and voltages are no chip, whatever they are")
  func words() throws {
    // BH1750, INA219 and INA226, MCP342x and ADS1115, PCF8591 and AD5245, and any other.
    for address in ChipCatalog.addresses {
      for high in UInt8.min...(.max) {
        let told = try ChipCatalog.identify(Word(high), at: address) { _ in }.filter(\.isTold)
        #expect(told == [], "\(hexadecimal(address)): \(high)")
      }
    }
  }

  @Test("a servo driver in its reset state, and a clock that is stopped, are no chips")
  func others() throws {
    // PCA9685 (rev. 4, table 4): MODE1 0x11, MODE2 0x04, addresses, then four registers a channel with "full off".
    var servo: [UInt8: UInt8] = [0x00: 0x11, 0x01: 0x04, 0x02: 0xE2, 0x03: 0xE4, 0x04: 0xE8]
    servo[0x05] = 0xE0
    for channel in 0..<16 { servo[0x09 + 4 * UInt8(channel)] = 0x10 }
    servo[0xFE] = 0x1E
    for address: UInt8 in [0x5C, 0x5D, 0x68, 0x69, 0x6A, 0x6B, 0x76, 0x77] {
      let found = try ChipCatalog.identify(Stranger(rest: 0, registers: servo), at: address) { _ in
      }
      #expect(found.allSatisfy { !$0.isTold }, "\(found)")
    }
    // DS1307: 64 bytes, again and again; CH is bit 7 of the seconds, 51 of them are 0xD1.
    for (minutes, hours) in [(0x02, 0x11), (0x00, 0x00), (0x59, 0x23)] as [(UInt8, UInt8)] {
      for day in UInt8(1)...7 {
        let clock: [UInt8] = [0xD1, minutes, hours, day, 0x17, 0x11, 0x26, 0x03]
        let device = Noise { register, _ in
          let place = Int(register % 64)
          return place < clock.count ? clock[place] : 0
        }
        #expect(try names(device, at: 0x68) == [])
      }
    }
  }
}

import Glibc
import SensorBus
import Synchronization
import Testing

@testable import LinuxIO

/// An adapter whose every answer the test decides.
private final class ScriptedI2C: I2CCalls {
  let results: Mutex<[Int32]>
  let calls = Mutex<[String]>([])
  let ability: Int32

  init(_ results: [Int32], ability: Int32 = 1) {
    self.results = Mutex(results)
    self.ability = ability
  }

  private func answer(_ call: String) -> Int32 {
    calls.withLock { $0.append(call) }
    return results.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
  }

  func open(_ path: String, timeoutMilliseconds: Int32) -> Int32 {
    // A real descriptor, because it will be closed.
    let result = answer("open \(path) \(timeoutMilliseconds)")
    return result < 0 ? result : Glibc.open("/dev/null", O_RDWR)
  }

  func abilities(_ descriptor: Int32) -> Int32 { ability }

  func read(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    let result = answer("read \(address) \(register) \(buffer.count)")
    if result >= 0 { for index in buffer.indices { buffer[index] = UInt8(index + 1) } }
    return result
  }

  func canListen(_ abilities: Int32) -> Bool { abilities & 1 != 0 }

  func listen(
    _ descriptor: Int32, address: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    answer("listen \(address) \(buffer.count)")
  }

  func write(
    _ descriptor: Int32, abilities: Int32, address: UInt8, register: UInt8,
    from bytes: UnsafeRawBufferPointer
  ) -> Int32 {
    answer("write \(address) \(register) \(Array(bytes))")
  }
}

struct I2CBusTests {
  private func provider(_ script: ScriptedI2C) -> LinuxBusProvider {
    LinuxBusProvider(calls: script, lockFolder: "/tmp")
  }

  private func bus() -> String { "/dev/test-\(UInt32.random(in: 0...UInt32.max))" }

  @Test("a lock file that cannot be made is named, beside the bus and not in its place")
  func lockFile() throws {
    let name = bus()
    let folder = "/proc/\(UInt32.random(in: 0...UInt32.max))"
    let provider = LinuxBusProvider(calls: ScriptedI2C([]), lockFolder: folder)
    #expect {
      try provider.registerDevice(bus: name, address: 0x20)
    } throws: { error in
      guard var error = error as? BusError, error.bus == name else { return false }
      // The place is said anew by who asks.
      error.bus = "/dev/i2c-1"
      return error.description.contains("\(folder)/lodestone-dev-test") && error.errno == ENOENT
    }
  }

  @Test("a bus listens without a word, where its adapter can")
  func listening() throws {
    let name = bus()
    let script = ScriptedI2C([])
    let device = try provider(script).registerDevice(bus: name, address: 0x20)
    var bytes = [UInt8](repeating: 0, count: 3)
    try bytes.withUnsafeMutableBytes { try device.listen(into: $0) }
    #expect(script.calls.withLock { $0.last } == "listen 32 3")
    let simple = ScriptedI2C([], ability: 2)
    let other = try provider(simple).registerDevice(bus: bus(), address: 0x20)
    #expect(throws: BusError.self) {
      try bytes.withUnsafeMutableBytes { try other.listen(into: $0) }
    }
    #expect(simple.calls.withLock { !$0.contains { $0.hasPrefix("listen") } })
  }

  @Test("a register is read and written in one call each")
  func transfers() throws {
    let script = ScriptedI2C([])
    let name = bus()
    let device = try provider(script).registerDevice(bus: name, address: 0x1C)
    var data: (UInt8, UInt8, UInt8) = (0, 0, 0)
    try withUnsafeMutableBytes(of: &data) { (bytes) throws(BusError) in
      try device.read(0x28, into: bytes)
    }
    #expect(data == (1, 2, 3))
    let value: UInt8 = 0x70
    try withUnsafeBytes(of: value) { (bytes) throws(BusError) in try device.write(0x20, from: bytes)
    }
    #expect(
      script.calls.withLock { $0 } == ["open \(name) 100", "read 28 40 3", "write 28 32 [112]"])
  }

  static let mapping: [(Int32, BusError.Reason, Int)] = [
    (EREMOTEIO, .noAnswer, 1), (ENXIO, .noAnswer, 1), (EBUSY, .ownedByKernel(driver: nil), 1),
    (ETIMEDOUT, .timedOut, 1), (EAGAIN, .arbitrationLost, 3), (EIO, .system, 3),
    (ENODEV, .disconnected, 1), (EACCES, .permissionDenied(group: "i2c"), 1),
    (EOPNOTSUPP, .unsupported("this kind of transfer"), 1), (EINVAL, .system, 1),
  ]

  @Test(
    "every error number has its reason, its place, and a bounded number of attempts",
    arguments: mapping)
  func errors(errno: Int32, reason: BusError.Reason, attempts: Int) throws {
    let script = ScriptedI2C([0] + Array(repeating: -errno, count: 10))
    let name = bus()
    let device = try provider(script).registerDevice(bus: name, address: 0x77)
    var byte: UInt8 = 0
    #expect {
      try withUnsafeMutableBytes(of: &byte) { try device.read(0xD0, into: $0) }
    } throws: { error in
      (error as? BusError)
        == BusError(reason, bus: name, address: 0x77, register: 0xD0, errno: errno)
    }
    #expect(script.calls.withLock { $0.count } == 1 + attempts)
  }

  @Test("a disturbed transfer is tried again and goes through")
  func retry() throws {
    let script = ScriptedI2C([0, -EAGAIN, -EIO, 0])
    let device = try provider(script).registerDevice(bus: bus(), address: 0x77)
    var byte: UInt8 = 0
    try withUnsafeMutableBytes(of: &byte) { (bytes) throws(BusError) in
      try device.read(0, into: bytes)
    }
    #expect(byte == 1)
  }

  @Test("one owner a bus: a second one is told who has it")
  func owner() throws {
    let name = bus()
    let device = try provider(ScriptedI2C([])).registerDevice(bus: name, address: 0x1C)
    #expect {
      _ = try provider(ScriptedI2C([])).registerDevice(bus: name, address: 0x1C)
    } throws: { error in
      guard case .inUse(let owner) = (error as? BusError)?.reason else { return false }
      return owner.contains("process \(getpid())")
    }
    withExtendedLifetime(device) {}
  }

  @Test("an adapter that can do nothing, and a node that is not there, are errors")
  func opening() {
    #expect(throws: BusError.self) {
      _ = try provider(ScriptedI2C([], ability: 0)).registerDevice(bus: bus(), address: 1)
    }
    let name = bus()
    #expect {
      _ = try provider(ScriptedI2C([-ENOENT])).registerDevice(bus: name, address: 1)
    } throws: { error in
      (error as? BusError) == BusError(.notFound, bus: name, errno: ENOENT)
    }
  }
}

import CLinuxIO
import Foundation
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
    let result = answer("open \(path) \(timeoutMilliseconds)")
    // A real descriptor of a real file, because it will be locked and closed.
    return result < 0 ? result : Glibc.open(path, O_RDWR | O_CLOEXEC)
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

/// A file in place of a bus's node, in a folder of its own.
private final class Node {
  let folder: URL
  var path: String { folder.appending(path: "i2c-1").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "lodestone-bus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: URL(filePath: path))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
  }
}

struct I2CBusTests {
  private let node: Node

  init() throws { node = try Node() }

  private func provider(_ script: ScriptedI2C = ScriptedI2C([])) -> LinuxBusProvider {
    LinuxBusProvider(calls: script)
  }

  private func bus() -> String { node.path }

  /// Why the bus cannot be had now; `nil` if it can.
  private func refusal() -> BusError.Reason? {
    do {
      _ = try provider().registerDevice(bus: node.path, address: 0x1C)
      return nil
    } catch {
      return error.reason
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
    let second = try Node()
    let other = try provider(simple).registerDevice(bus: second.path, address: 0x20)
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

  @Test("a disturbed transfer is tried again, goes through and is counted for its chip alone")
  func retry() throws {
    let script = ScriptedI2C([0, -EAGAIN, -EIO, 0, -EREMOTEIO, -EIO, -EIO, -EIO])
    let provider = provider(script)
    let device = try provider.registerDevice(bus: bus(), address: 0x77)
    let other = try provider.registerDevice(bus: bus(), address: 0x1C)
    #expect(try device.byte(0) == 1)
    #expect(device.retries == 2)
    // Nobody answers: that is not tried again.
    #expect(throws: BusError.self) { try device.byte(0) }
    #expect(device.retries == 2)
    #expect(throws: BusError.self) { try device.byte(0) }
    #expect(device.retries == 4 && SharedDevice(device).retries == 4)
    #expect(other.retries == 0)
  }

  @Test("one owner a bus: a second one is told who has it, and has it when the first has let go")
  func owner() throws {
    var device: (any RegisterDevice)? = try provider().registerDevice(bus: node.path, address: 0x1C)
    guard case .inUse(let owner) = refusal() else {
      Issue.record("opened twice")
      return
    }
    #expect(owner.hasSuffix("(process \(getpid()))"))
    // Chips of one provider share the bus.
    withExtendedLifetime(device) {}
    device = nil
    #expect(refusal() == nil)
  }

  @Test(
    "another program that has locked the node is named as the kernel knows it",
    arguments: [
      ("flock", ["-n", "-o", "NODE", "-c", "echo ready; read -r line"]),
      // A child takes the lock and ends; the lock stays with whoever has the descriptor.
      ("bash", ["-c", "exec 9<>$0; flock -n 9 && echo ready; read -r line", "NODE"]),
    ])
  func otherProcess(program: String, arguments: [String]) throws {
    let holder = Process()
    holder.executableURL = URL(filePath: "/usr/bin/\(program)")
    // Holds the node locked until its input ends.
    holder.arguments = arguments.map { $0 == "NODE" ? node.path : $0 }
    let (input, ready) = (Pipe(), Pipe())
    holder.standardInput = input
    holder.standardOutput = ready
    try holder.run()
    // Said once the lock is held; the line may come in parts.
    try #require(isReadable(ready.fileHandleForReading.fileDescriptor))
    #expect(ready.fileHandleForReading.availableData.first == UInt8(ascii: "r"))
    let named = "\(program) (process \(holder.processIdentifier))"
    #expect(refusal() == .inUse(by: named))
    #expect(PortHolder.find(node.path) == [named])
    try input.fileHandleForWriting.close()
    holder.waitUntilExit()
    #expect(refusal() == nil)
  }

  // As earlier versions made them: anybody could make one, and what it said was believed.
  @Test("files that somebody has made, locked and filled with a number keep nobody out")
  func foreignFiles() throws {
    let name = node.path.split(separator: "/").joined(separator: "-")
    let files = ["/tmp", "/run/lock"].map { "\($0)/lodestone-\(name).lock" }
    var descriptors: [Int32] = []
    for file in files {
      let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { continue }
      descriptors.append(descriptor)
      _ = posixWrite(descriptor, "1\n", 2)
      #expect(lodestone_lock(descriptor) == 0)
    }
    defer {
      for descriptor in descriptors { close(descriptor) }
      for file in files { unlink(file) }
    }
    try #require(!descriptors.isEmpty)
    #expect(refusal() == nil)
  }

  @Test("a run leaves nothing behind, whoever's it was")
  func nothingLeft() throws {
    let device = try provider().registerDevice(bus: node.path, address: 0x1C)
    #expect(try node.names == ["i2c-1"])
    let left = ["/tmp", "/run/lock"].flatMap(PortHolder.entries).filter {
      $0.contains(node.folder.lastPathComponent) && $0 != node.folder.lastPathComponent
    }
    #expect(left.isEmpty)
    withExtendedLifetime(device) {}
  }

  @Test(
    "of the kernel's locks only those of this file count, and not who waits for one",
    arguments: [
      ("1: FLOCK  ADVISORY  WRITE 812 00:06:342 0 EOF\n", Int32(812)),
      ("17: FLOCK  ADVISORY  READ  9 00:06:342 0 EOF\n", 9),
      ("1: -> FLOCK  ADVISORY  WRITE 900 00:06:342 0 EOF\n", nil),
      ("1: POSIX  ADVISORY  WRITE 812 00:06:342 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE 812 00:06:343 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE 812 00:05:342 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE 812 fe:06:342 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE 0 00:06:342 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE -1 00:06:342 0 EOF\n", nil),
      ("1: FLOCK  ADVISORY  WRITE\n", nil), ("", nil), ("1: FLOCK a b 1 2 3", nil),
    ])
  func locks(line: String, process: Int32?) {
    #expect(PortHolder.locker(line, major: 0, minor: 6, inode: 342) == process)
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

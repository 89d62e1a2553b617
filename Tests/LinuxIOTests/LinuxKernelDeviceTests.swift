import Foundation
import SensorBus
import SensorTypes
import Synchronization
import Testing

@testable import LinuxIO

/// A chip's folder and its IIO device's node, both ordinary files.
struct LinuxKernelDeviceTests {
  private final class Folder {
    let root = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-iio-\(UUID().uuidString)")
    let provider: LinuxBusProvider

    init() throws {
      let chip = root.appending(path: "devices/1-001c")
      try FileManager.default.createDirectory(
        at: chip.appending(path: "iio:device3/buffer"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: chip.appending(path: "driver").path,
        withDestinationPath: "../../../bus/i2c/drivers/st-magn-i2c")
      provider = LinuxBusProvider(
        calls: KernelI2C(), devices: root.appending(path: "devices").path,
        nodes: root.path)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func put(_ path: String, _ text: String) throws {
      try Data(text.utf8).write(to: root.appending(path: path))
    }

    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    func device() throws -> any KernelDevice {
      try provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    }
  }

  private func reason(_ body: () throws -> Void) -> BusError.Reason? {
    do { try body() } catch { return (error as? BusError)?.reason }
    return nil
  }

  @Test("attributes are read and set as text, folders listed")
  func attributes() throws {
    let folder = try Folder()
    try folder.put("devices/1-001c/iio:device3/name", "lis3mdl\n")
    try folder.put("devices/1-001c/iio:device3/empty", "")
    try folder.put("devices/1-001c/iio:device3/sampling_frequency", "1\n")
    let device = try folder.device()
    #expect(Set(try device.names(in: "")) == ["driver", "iio:device3"])
    #expect(
      Set(try device.names(in: "iio:device3")) == ["name", "empty", "sampling_frequency", "buffer"])
    #expect(try device.read("iio:device3/name") == "lis3mdl")
    #expect(try device.read("iio:device3/empty") == "")
    try device.write("iio:device3/sampling_frequency", "80")
    #expect(try folder.text("devices/1-001c/iio:device3/sampling_frequency").hasPrefix("80"))
    #expect(reason { _ = try device.read("iio:device3/in_magn_x_raw") } == .notFound)
    #expect(reason { _ = try device.names(in: "iio:device4") } == .notFound)
    #expect(reason { try device.write("iio:device3/none", "1") } == .notFound)
  }

  @Test("an address that no driver of the kernel has is not found")
  func unbound() throws {
    let folder = try Folder()
    #expect(
      reason { _ = try folder.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x77) } == .notFound
    )
    #expect(
      reason { _ = try folder.provider.registerDevice(bus: "/dev/i2c-1", address: 0x1C) }
        == .ownedByKernel(driver: "st-magn-i2c"))
  }

  @Test("a buffer brings what is there, nothing at its end, and is switched off when it goes")
  func buffer() throws {
    let folder = try Folder()
    try folder.put("devices/1-001c/iio:device3/buffer/enable", "1")
    try folder.put("iio:device3", "0123456789")
    let device = try folder.device()
    var buffer: (any ByteSource)? = try device.buffer(of: "iio:device3")
    var bytes = [UInt8](repeating: 0, count: 8)
    var counts: [Int] = []
    for _ in 0..<3 {
      let count = try bytes.withUnsafeMutableBytes { try buffer?.read(into: $0) }
      counts.append(count ?? -1)
    }
    #expect(counts == [8, 2, 0])
    buffer = nil
    #expect(try folder.text("devices/1-001c/iio:device3/buffer/enable") == "0")
    #expect(reason { _ = try device.buffer(of: "iio:device9") } == .notFound)
  }

  /// Waits, without sleeping, for a thread that reads; ten seconds at most.
  private func round(_ source: any ByteSource) throws -> [Substring] {
    let end = ContinuousClock.now.advanced(by: .seconds(10))
    var bytes = [UInt8](repeating: 0, count: longestPolledRound)
    while ContinuousClock.now < end {
      let count = try bytes.withUnsafeMutableBytes { try source.read(into: $0) }
      if count > 0 {
        return String(decoding: bytes[..<count], as: UTF8.self)
          .split(separator: "\n", omittingEmptySubsequences: false)
      }
      sched_yield()
    }
    return []
  }

  @Test("a round has its times and what each attribute says now; a file that goes is an error")
  func rounds() throws {
    let folder = try Folder()
    let path = "devices/1-001c/iio:device3/in_magn_x_raw"
    try folder.put(path, "-12\n")
    try folder.put("devices/1-001c/iio:device3/in_magn_y_raw", "")
    let device = try folder.device()
    let before = folder.provider.now().nanoseconds
    let source = try device.poll(
      ["iio:device3/in_magn_x_raw", "iio:device3/in_magn_y_raw"], every: 0.001)
    let lines = try round(source)
    let after = folder.provider.now().nanoseconds
    try #require(lines.count == 5)
    let begin = try #require(Int64(lines[0]))
    let end = try #require(Int64(lines[1]))
    #expect(before <= begin && begin <= end && end <= after)
    #expect(lines[2] == "-12" && lines[3] == "" && lines[4] == "")
    // The first reader may be at work just now; then there is no other.
    let late = ContinuousClock.now.advanced(by: .seconds(10))
    var other: (any ByteSource)?
    while other == nil, ContinuousClock.now < late {
      other = try? device.poll(["iio:device3/in_magn_z_raw"], every: 0.001)
      sched_yield()
    }
    let missing = try #require(other)
    #expect(reason { _ = try round(missing) } == .notFound)
  }

  @Test("where the kernel does not answer an old reader there is no new one")
  func hung() throws {
    let folder = try Folder()
    let path = folder.root.appending(path: "devices/1-001c/iio:device3/in_magn_x_raw").path
    // Opening a pipe that nobody writes to waits, as a read of a chip that holds the bus does.
    try #require(mkfifo(path, 0o600) == 0)
    let device = try folder.device()
    var first: (any ByteSource)? = try device.poll(["iio:device3/in_magn_x_raw"], every: 0.001)
    let end = ContinuousClock.now.advanced(by: .seconds(10))
    var second: BusError.Reason?
    while second == nil, ContinuousClock.now < end {
      sched_yield()
      second = reason { _ = try device.poll(["iio:device3/in_magn_x_raw"], every: 0.001) }
    }
    #expect(second == .timedOut)
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(try bytes.withUnsafeMutableBytes { try first?.read(into: $0) } == 0)
    first = nil
    // The readers go on, and end.
    let writer = open(path, O_RDWR | O_NONBLOCK)
    close(writer)
  }
}

import CTestSupport
import Foundation
import SensorBus
import Testing

@testable import LinuxIO

/// The real calls against an adapter that answers behind ioctl, by the kernel's own structures.
@Suite(.serialized)
struct KernelI2CTests {
  // include/uapi/linux/i2c.h
  private static let plain: UInt = 0x0000_0001
  private static let quickAndByte: UInt = 0x0001_0000 | 0x0002_0000 | 0x0004_0000
  private static let byteData: UInt = 0x0008_0000 | 0x0010_0000
  private static let block: UInt = 0x0400_0000 | 0x0800_0000

  private final class Adapter {
    let path: String
    let device: any RegisterDevice

    init(_ functions: UInt, chip: UInt8 = 0x1C, asking address: UInt8 = 0x1C) throws {
      path =
        FileManager.default.temporaryDirectory
        .appending(path: "lodestone-adapter-\(UUID().uuidString)").path
      try Data().write(to: URL(filePath: path))
      test_adapter_begin(path, functions, chip)
      device = try LinuxBusProvider(calls: KernelI2C())
        .registerDevice(bus: path, address: address)
    }

    deinit {
      test_adapter_end()
      try? FileManager.default.removeItem(atPath: path)
    }

    var log: [String] {
      var text = [CChar](repeating: 0, count: 4_096)
      test_adapter_take_log(&text, UInt(text.count))
      return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    }

    func read(_ register: UInt8, count: Int) throws(BusError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0xEE, count: count)
      let result: Result<Void, BusError> = bytes.withUnsafeMutableBytes { buffer in
        do throws(BusError) { return .success(try device.read(register, into: buffer)) } catch {
          return .failure(error)
        }
      }
      try result.get()
      return bytes
    }

    func write(_ register: UInt8, _ bytes: [UInt8]) throws(BusError) {
      let result: Result<Void, BusError> = bytes.withUnsafeBytes { buffer in
        do throws(BusError) { return .success(try device.write(register, from: buffer)) } catch {
          return .failure(error)
        }
      }
      try result.get()
    }
  }

  @Test("plain I2C: a read is one combined transfer with a repeated start, a write one message")
  func combined() throws {
    let adapter = try Adapter(Self.plain | Self.byteData | Self.block)
    #expect(test_adapter_timeout() == 10)
    #expect(try adapter.read(0, count: 255) == (0..<255).map(UInt8.init))
    #expect(adapter.log == ["rdwr [1c w 1] [1c r 255]"])
    #expect(try adapter.read(0x28, count: 6) == [0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x2D])
    try adapter.write(0x20, [0x70, 0x71])
    try adapter.write(0x0F, [])
    #expect(adapter.log == ["rdwr [1c w 1] [1c r 6]", "rdwr [1c w 3]", "rdwr [1c w 1]"])
    #expect(test_adapter_register(0x20) == 0x70 && test_adapter_register(0x21) == 0x71)
  }

  @Test("an adapter that answers with too few messages has met nobody")
  func short() throws {
    let adapter = try Adapter(Self.plain)
    test_adapter_answer_short()
    #expect {
      try adapter.read(0x0F, count: 1)
    } throws: { error in
      (error as? BusError)?.reason == .noAnswer && (error as? BusError)?.register == 0x0F
    }
  }

  @Test("SMBus with blocks: reads and writes of any length in blocks of 32 at most")
  func blocks() throws {
    let adapter = try Adapter(Self.quickAndByte | Self.byteData | Self.block)
    #expect(try adapter.read(0x10, count: 6) == [0x10, 0x11, 0x12, 0x13, 0x14, 0x15])
    #expect(try adapter.read(0x40, count: 70) == (0x40..<(0x40 + 70)).map(UInt8.init))
    try adapter.write(0x20, [0x70])
    try adapter.write(0x21, [1, 2, 3])
    try adapter.write(0x0F, [])
    #expect(
      adapter.log == [
        "smbus block r 10 6", "smbus block r 40 32", "smbus block r 60 32", "smbus block r 80 6",
        "smbus byte-data w 20", "smbus block w 21 3", "smbus byte w 0f",
      ])
    #expect((0x20..<0x24).map { test_adapter_register($0) } == [0x70, 1, 2, 3])
  }

  @Test("SMBus with bytes alone: register by register")
  func bytes() throws {
    let adapter = try Adapter(Self.quickAndByte | Self.byteData)
    #expect(try adapter.read(0x10, count: 3) == [0x10, 0x11, 0x12])
    try adapter.write(0x21, [5, 6])
    #expect(
      adapter.log == [
        "smbus byte-data r 10", "smbus byte-data r 11", "smbus byte-data r 12",
        "smbus byte-data w 21", "smbus byte-data w 22",
      ])
    #expect(test_adapter_register(0x21) == 5 && test_adapter_register(0x22) == 6)
  }

  @Test(
    "nobody at the address is said, whatever the adapter can",
    arguments: [plain, byteData | block, byteData])
  func nobody(functions: UInt) throws {
    let adapter = try Adapter(functions, chip: 0x1C, asking: 0x1E)
    #expect {
      try adapter.read(0x0F, count: 1)
    } throws: { error in
      (error as? BusError)?.reason == .noAnswer && (error as? BusError)?.address == 0x1E
    }
  }

  @Test(
    "errors of the kernel keep their number and get their reason",
    arguments: [
      (ETIMEDOUT, BusError.Reason.timedOut), (EAGAIN, .arbitrationLost),
      (EBUSY, .ownedByKernel(driver: nil)),
      (EREMOTEIO, .noAnswer), (ENODEV, .disconnected),
    ] as [(Int32, BusError.Reason)])
  func errors(number: Int32, reason: BusError.Reason) throws {
    for functions in [Self.plain, Self.byteData | Self.block, Self.byteData] {
      let adapter = try Adapter(functions)
      test_adapter_fail(number)
      #expect {
        try adapter.read(0x0F, count: 2)
      } throws: { error in
        (error as? BusError)?.reason == reason && (error as? BusError)?.errno == number
      }
      #expect(throws: BusError.self) { try adapter.write(0x20, [1]) }
    }
  }

  @Test("an adapter that knows neither kind is refused with that reason")
  func neither() {
    #expect {
      _ = try Adapter(Self.quickAndByte)
    } throws: { error in
      if case .unsupported = (error as? BusError)?.reason { true } else { false }
    }
  }
}

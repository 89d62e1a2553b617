// QST's magnetometers against scripted transfers. Register numbers are the datasheets', restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct QMC5883LTests {
  /// 100 Hz, 8 gauss, 512 samples, continuous; the pin on; set and reset as recommended.
  static let image: [(UInt8, UInt8)] = [(0x0B, 0x01), (0x0A, 0x00), (0x09, 0x19)]

  static func start(identity: UInt8 = 0xFF) -> [Transfer] {
    [.read(0x00, [0, 0, 0, 0, 0, 0]), .read(0x0D, [identity]), .write(0x0A, [0x80])]
      + written(image)
  }

  @Test("start asks for the identity, resets, configures, reads back", arguments: [0xFF, 0xE8])
  func startOrder(identity: UInt8) throws {
    let device = ScriptedDevice(Self.start(identity: identity))
    var chip = RegisterDriver(device, QMC5883L(outputRate: 60))
    #expect(try startUp(&chip) == [0.002])
    #expect(chip.outputRate == 100)
    device.then([
      .read(0x06, [0x04]), .read(0x06, [0x01]), .read(0x00, [0xB8, 0x0B, 0x48, 0xF4, 0, 0]),
      .write(0x09, [0x00]),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .magneticField(Vector3(100, -100, 0)))
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "what a scan calls a QMC5883L starts, or the scan says what it takes",
    arguments: [
      (UInt8(0xFF), ChipIdentification.Confidence.likely, true), (0xE8, .possible, true),
      (0x10, .possible, false), (0x00, .possible, false),
    ])
  func copies(
    identity: UInt8, confidence: ChipIdentification.Confidence, starts: Bool
  ) throws {
    let bench = ContractBench(address: 0x0D) { QMC5883LTwin(TwinCore(source: $0)) }
    bench.begin(.wrongIdentity(identity))
    let found = try ChipCatalog.identify(bench.device, at: 0x0D)
    #expect(found.map(\.chip) == ["QMC5883L"])
    #expect(found.first?.confidence == confidence)
    let evidence = try #require(found.first?.evidence)
    #expect(evidence.contains("0x0d is \(hexadecimal(identity))"))
    #expect(evidence.contains("identity: unchecked") == !starts)
    let driver = BoxedDriver(RegisterDriver(bench.device, QMC5883L(outputRate: 50)))
    #expect(
      failure { () throws(DriverError) in try bench.start(driver) }
        == (starts
          ? nil
          : .wrongIdentity(chip: "QMC5883L", register: 0x0D, expected: 0xFF, found: identity)))
    // What it takes.
    let unchecked = BoxedDriver(
      RegisterDriver(
        bench.device, QMC5883L(outputRate: 50), checks: DriverChecks(identity: false)))
    try bench.start(unchecked)
    #expect(try bench.nextReading(unchecked) != nil)
  }

  @Test("the setting of the datasheet's example (7.1): 512 samples, 8 gauss, 200 Hz, continuous")
  func example() {
    #expect(QMC5883L(outputRate: 200).registerImage.last == RegisterSetting(0x09, 0x1D))
  }

  @Test(
    "one gauss is the datasheet's number of counts, and the end of the range is the last value",
    arguments: [(QMC5883L.Range.gauss2, 12_000, 24_000), (.gauss8, 3_000, 24_000)])
  func scale(range: QMC5883L.Range, counts: Int, end: Int) throws {
    func bytes(_ x: Int) -> RegisterBlock { block([UInt8(x & 0xFF), UInt8(x >> 8 & 0xFF)]) }
    #expect(near(try QMC5883L.field(bytes(counts), range: range), Vector3(100, 0, 0), 1e-9))
    let last = try QMC5883L.field(bytes(end), range: range)
    #expect(near(last, Vector3(100 * range.gauss, 0, 0), 1e-9))
    for beyond in [end + 1, 0x7FFF, 0x8000] {
      #expect(
        failure { () throws(DriverError) in try QMC5883L.field(bytes(beyond), range: range) }
          == .overflow)
    }
  }
}

@Suite struct QMC5883PTests {
  @Test("start resets and ends the reset, gives the axes their signs, configures, reads back")
  func startOrder() throws {
    let image: [(UInt8, UInt8)] = [(0x0B, 0x08), (0x0A, 0x09)]
    let device = ScriptedDevice(
      [.read(0x00, [0x80]), .write(0x0B, [0x80]), .write(0x0B, [0x00]), .write(0x29, [0x06])]
        + written(image))
    var chip = RegisterDriver(device, QMC5883P(outputRate: 100))
    #expect(try startUp(&chip) == [0.002])
    device.then([
      .read(0x09, [0x00]), .read(0x09, [0x01]),
      .read(0x01, [0xA6, 0x0E, 0x5A, 0xF1, 0x00, 0x00]), .write(0x0A, [0x00]),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .magneticField(Vector3(100, -100, 0)))
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "one gauss is the datasheet's number of counts, 30000 counts are the last value",
    arguments: [
      (QMC5883P.Range.gauss30, 1_000), (.gauss12, 2_500), (.gauss8, 3_750), (.gauss2, 15_000),
    ])
  func scale(range: QMC5883P.Range, counts: Int) throws {
    func bytes(_ z: Int) -> RegisterBlock {
      block([0, 0, 0, 0, UInt8(z & 0xFF), UInt8(z >> 8 & 0xFF)])
    }
    #expect(near(try QMC5883P.field(bytes(counts), range: range), Vector3(0, 0, 100), 1e-9))
    _ = try QMC5883P.field(bytes(30_000), range: range)
    for beyond in [30_001, 0x7FFF, 0x8000] {
      #expect(
        failure { () throws(DriverError) in try QMC5883P.field(bytes(beyond), range: range) }
          == .overflow)
    }
  }
}

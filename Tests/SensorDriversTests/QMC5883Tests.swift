// QST's magnetometers: worked numbers, and what a scan calls one.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct QMC5883LTests {
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

// The MMC5983MA's driver against scripted transfers and its twin. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct MMC5983MATests {
  static func start(_ bandwidth: UInt8, _ rate: UInt8) -> [Transfer] {
    [
      .read(0x2F, [0x30]), .write(0x0A, [0x80]), .write(0x09, [0x0C]), .write(0x0A, [bandwidth]),
      .write(0x09, [0x04]), .write(0x0B, [0x08 | rate]), .read(0x2F, [0x30]),
    ]
  }

  /// A conversion with so many counts from the middle on X, and none on Y and Z.
  static func conversion(_ counts: Int) -> [Transfer] {
    let x = 131_072 + counts
    return [
      .read(0x08, [0x11]), .write(0x08, [0x01]),
      .read(
        0x00,
        [UInt8(x >> 10), UInt8(x >> 2 & 0xFF), 0x80, 0x00, 0x80, 0x00, UInt8(x & 3) << 6]),
    ]
  }

  @Test(
    "the next rate at or above the wanted one is taken, with the bandwidth that both tables allow",
    arguments: [
      (0.1, 1.0, UInt8(0), UInt8(1), 0.004), (5, 10, 0, 2, 0.004), (20, 20, 0, 3, 0.004),
      (50, 50, 0, 4, 0.004), (51, 100, 1, 5, 0.002), (101, 200, 1, 6, 0.002),
      (.nan, 1000, 3, 7, 0.00025),
    ])
  func rates(
    wanted: Double, rate: Double, bandwidth: UInt8, code: UInt8, latency: Double
  ) throws {
    let device = ScriptedDevice(Self.start(bandwidth, code))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: wanted))
    #expect(try startUp(&chip) == [0.01, 0.001])
    #expect(chip.outputRate == rate)
    #expect(near(chip.latency, latency, 1e-9))
    device.expectDone()
  }

  // Rev. A: 131072 counts without a field, 16384 a gauss; the lowest two bits of X, Y and Z in bits 7:6, 5:4, 3:2.
  @Test("each axis has its bytes, and its lowest bits in the last one")
  func axes() throws {
    let output = try MemsicConversion.output18(
      block([0x90, 0x00, 0x70, 0x00, 0x80, 0x00, 0b01_10_11_00]))
    #expect(
      near(output, Vector3(100 + 100 / 16384.0, -100 + 200 / 16384.0, 300 / 16384.0), 1e-9))
  }

  @Test("an output at either end is an overflow")
  func overflow() {
    for bytes: [UInt8] in [
      [0xFF, 0xFF, 0x80, 0x00, 0x80, 0x00, 0xC0], [0x80, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00],
    ] {
      #expect(
        failure { () throws(DriverError) in try MemsicConversion.output18(block(bytes)) }
          == .overflow)
    }
  }

  @Test("the offset is measured with RESET and SET, and taken away")
  func offset() throws {
    let device = ScriptedDevice(Self.start(1, 5))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: 100))
    _ = try startUp(&chip)
    // 16384 counts of field, 1600 of offset.
    device.then(
      Self.conversion(17984) + [.write(0x09, [0x14])] + Self.conversion(500)
        + Self.conversion(-14784) + [.write(0x09, [0x0C])] + Self.conversion(501)
        + Self.conversion(17985) + Self.conversion(17986))
    var found: [Reading?] = []
    for _ in 0..<6 { found.append(try chip.poll()) }
    #expect(found[0] == nil)
    #expect(found[1] == nil)
    #expect(found[2] == .magneticField(Vector3(100, 0, 0)))
    #expect(found[3] == nil)
    for reading in found[4...] {
      guard case .magneticField(let field) = reading else {
        Issue.record("no field")
        return
      }
      #expect(near(field, Vector3(100, 0, 0), 2 * 100 / 16384.0))
    }
    device.expectDone()
  }

  @Test("a SET or RESET that failed is followed by a SET, and nothing is believed meanwhile")
  func turnFails() throws {
    let device = ScriptedDevice(Self.start(1, 5))
    var chip = RegisterDriver(device, MMC5983MA(outputRate: 100))
    _ = try startUp(&chip)
    device.then(
      Self.conversion(17984) + [.writeFails(0x09, [0x14], .noAnswer)] + Self.conversion(1)
        + [.write(0x09, [0x0C])] + Self.conversion(2) + Self.conversion(17985)
        + [.write(0x09, [0x14])])
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.noAnswer, 0x09)))
    for _ in 0..<3 { #expect(try chip.poll() == nil) }
    device.expectDone()
  }

  @Test("the offset is followed while the chip warms up, and a turning board does not spoil it")
  func drift() throws {
    let bench = ContractBench(address: 0x30) {
      MMC5983MATwin(TwinCore(source: $0, seed: 1))
    }
    let driver = BoxedDriver(RegisterDriver(bench.device, MMC5983MA(outputRate: 20)))
    try bench.start(driver)
    var worst = 0.0
    var readings = 0
    // 20 minutes, in which the chip warms up by 40 kelvin: 6 microtesla of offset.
    for step in 0..<24_000 {
      let angle = Double(max(0, step % 2000 - 1000)) * 0.05
      let field = Vector3(20 + 10 * angle, -5 * angle, 40)
      bench.source.set(
        Stimulus(magneticField: field, temperature: 25 + 40 * Double(step) / 24_000))
      guard let ready = bench.nextDataReady() else { break }
      bench.clock.advance(to: ready)
      guard case .magneticField(let found) = try driver.poll() else { continue }
      readings += 1
      for axis in 0..<3 { worst = max(worst, abs(found[axis] - field[axis])) }
    }
    // 1300 steps may pass without a measurement, in which the offset goes by 0.33 microtesla; one in which the board begins
    // to turn is off by 0.25 (a quarter of what it turns); and there is the noise of 72,000 values, 0.04 each.
    #expect(worst < 0.8, "\(worst)")
    #expect(readings > 23_700)
  }
}

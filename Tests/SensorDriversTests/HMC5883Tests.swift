// The HMC5883L and its kin, the LSM303DLHC's magnetometer: worked numbers, and what is a new conversion.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct HMC5883Tests {
  typealias Range = HMC5883.Range
  @Test(
    "one gauss is the datasheet's number of counts, another one on Z",
    arguments: [
      (Range.gauss1p3, 1100, 980), (.gauss1p9, 855, 760), (.gauss2p5, 670, 600),
      (.gauss4p0, 450, 400), (.gauss4p7, 400, 355), (.gauss5p6, 330, 295), (.gauss8p1, 230, 205),
    ])
  func gains(range: Range, xy: Int, z: Int) throws {
    // High byte first, in the order X, Z, Y.
    let bytes = [xy >> 8, xy & 0xFF, z >> 8, z & 0xFF, xy >> 8, xy & 0xFF].map(UInt8.init)
    let field = try HMC5883Conversion.field(block(bytes), .lsm303dlhc, range: range)
    #expect(near(field, Vector3(100, 100, 100), 1e-9))
  }

  @Test("the order is X, Z, Y and the sign is kept")
  func order() throws {
    // X = 855, Z = -760, Y = -2048 counts.
    let field = try HMC5883Conversion.field(
      block([0x03, 0x57, 0xFD, 0x08, 0xF8, 0x00]), .lsm303dlhc, range: .gauss1p9)
    #expect(near(field, Vector3(100, -204_800 / 855.0, -100), 1e-9))
  }

  @Test("-4096 on any axis, and anything beyond 12 bits, is an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xF0, 0x00], [0x08, 0x00], [0xF7, 0xFF]] {
      var bytes: [UInt8] = [0, 1, 0, 2, 0, 3]
      bytes.replaceSubrange(axis..<axis + 2, with: value)
      #expect(
        failure { () throws(DriverError) in
          try HMC5883Conversion.field(block(bytes), .hmc5883l, range: .gauss1p3)
        } == .overflow)
    }
  }

  @Test("a conversion that the chip made by itself, with another gain, is none", arguments: 1...3)
  func otherMode(mode: UInt8) throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, HMC5883(.lsm303dlhc, outputRate: 100))
    device.then([.read(0x09, [0x01]), .read(0x02, [mode, 0, 1, 0, 2, 0, 3])])
    #expect(try chip.poll() == nil)
    device.expectDone()
  }

  @Test("what the line tells of is another conversion, though it be like the one before")
  func announced() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, HMC5883(.lsm303dlhc, outputRate: 100))
    for _ in 0..<4 { device.then([.read(0x09, [0x01]), .read(0x02, [0, 0, 1, 0, 2, 0, 3])]) }
    var readings: [Reading?] = []
    for isAnnounced in [false, false, true, false] {
      if isAnnounced { chip.announce() }
      readings.append(try chip.poll())
    }
    #expect(readings.map { $0 != nil } == [true, false, true, false])
    #expect(readings[2] == readings[0])
    device.expectDone()
  }

  @Test(
    "one gauss of an HMC5883L is the datasheet's number of counts on every axis (table 9)",
    arguments: [
      (Range.gauss0p88, 1370), (.gauss1p3, 1090), (.gauss1p9, 820), (.gauss2p5, 660),
      (.gauss4p0, 440), (.gauss4p7, 390), (.gauss5p6, 330), (.gauss8p1, 230),
    ])
  func honeywell(range: Range, counts: Int) throws {
    let high = UInt8(counts >> 8)
    let low = UInt8(counts & 0xFF)
    let field = try HMC5883Conversion.field(
      block([high, low, high, low, high, low]), .hmc5883l, range: range)
    #expect(near(field, Vector3(100, 100, 100), 1e-9))
  }

  @Test("each model has its rates, its usual range, and no range that it lacks")
  func models() {
    let honeywell = HMC5883(.hmc5883l, outputRate: 100)
    #expect(honeywell.outputRate == 75)
    #expect(honeywell.range == .gauss2p5)
    #expect(honeywell.latency == 0.003)
    #expect(HMC5883(.lsm303dlhc, outputRate: 100).outputRate == 220)
    #expect(HMC5883(.lsm303dlhc, outputRate: 1, range: .gauss0p88).range == .gauss1p9)
    #expect(HMC5883(.hmc5883l, outputRate: 1, range: .gauss0p88).range == .gauss0p88)
  }
}

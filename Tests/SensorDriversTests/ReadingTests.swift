// What the bytes of a conversion mean: vectors of datasheets, and where the outputs end.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import Testing

/// One conversion of a chip, byte by byte from where its output begins.
struct ReadingLine: Sendable, CustomTestStringConvertible {
  let chip: any FlaggedChip
  let bytes: [UInt8]
  let expected: Reading

  init(_ chip: any FlaggedChip, _ bytes: [UInt8], _ expected: Reading) {
    (self.chip, self.bytes, self.expected) = (chip, bytes, expected)
  }

  var testDescription: String { chip.name }

  private static func motion(degrees: Vector3, g: Vector3) -> Reading {
    .inertial(angularRate: .pi / 180 * degrees, acceleration: standardGravity * g)
  }

  /// 100 degrees a second about X, 1 g along Z.
  private static let turning = motion(degrees: Vector3(100, 0, 0), g: Vector3(0, 0, 1))

  /// Of chips with accelerometer and gyro, in the ranges that the hub takes.
  static let inertial: [ReadingLine] = single + lsm6 + mpu

  private static let single: [ReadingLine] = [
    ReadingLine(BMI160(outputRate: 200), [0xD0, 0x0C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20], turning),
    // 8192 counts a g, 32 a degree a second.
    ReadingLine(QMI8658(outputRate: 208), [0, 0, 0, 0, 0, 0x20, 0x80, 0x0C, 0, 0, 0, 0], turning),
    ReadingLine(ICM20948(outputRate: 208), [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0], turning),
    ReadingLine(
      ICM42688P(outputRate: 200), [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0], turning),
    // 1000 counts of 70 mdps, and 500 along X and 8197 along Z of 0.122 mg. X is turned: the chip's own axes are
    // left-handed.
    ReadingLine(
      LSM9DS1(outputRate: 200, gathers: false),
      [0xE8, 0x03, 0, 0, 0, 0, 0xF4, 0x01, 0, 0, 0x05, 0x20],
      motion(degrees: Vector3(-70, 0, 0), g: Vector3(-0.061, 0, 1.000_034))),
  ]

  /// 2917 counts of 35 mdps, 8197 counts of 0.122 mg.
  private static let lsm6 = LSM6Variant.allCases.map { chip in
    ReadingLine(
      LSM6(chip, outputRate: 208), [0x65, 0x0B, 0, 0, 0, 0, 0, 0, 0, 0, 0x05, 0x20],
      motion(degrees: Vector3(102.095, 0, 0), g: Vector3(0, 0, 1.000_034)))
  }

  /// The temperature lies between both.
  private static let mpu = MPUVariant.allCases.map { chip in
    ReadingLine(
      MPU(chip: chip, outputRate: 208, gathers: false),
      [0, 0, 0, 0, 0x20, 0, 0x0F, 0, 0x0C, 0xD0, 0, 0, 0, 0], turning)
  }

  static let fields: [ReadingLine] = [
    // 1000, -1000 and 200 counts of 0.15; Z is turned: the chip's own axes are left-handed.
    ReadingLine(
      LIS2MDL(outputRate: 25), [0xE8, 0x03, 0x18, 0xFC, 0xC8, 0x00],
      .magneticField(Vector3(150, -150, -30))),
    ReadingLine(
      LIS3MDL(outputRate: 100), [0xBA, 0x1A, 0x46, 0xE5, 0x00, 0x00],
      .magneticField(Vector3(100, -100, 0))),
    ReadingLine(
      QMC5883L(outputRate: 60), [0xB8, 0x0B, 0x48, 0xF4, 0, 0],
      .magneticField(Vector3(100, -100, 0))),
    ReadingLine(
      QMC5883P(outputRate: 100), [0xA6, 0x0E, 0x5A, 0xF1, 0x00, 0x00],
      .magneticField(Vector3(100, -100, 0))),
    ReadingLine(
      RM3100(outputRate: 75), [0, 0, 75, 0, 0, 150, 0xFF, 0xFF, 0xB5],
      .magneticField(Vector3(1, 2, -1))),
    // 500 counts of 12 bits a g.
    ReadingLine(
      LIS3DH(.lsm303dlhc, outputRate: 100), [0x00, 0x00, 0xC0, 0xE0, 0x40, 0x1F],
      .acceleration(standardGravity * Vector3(0, -1, 1))),
  ]
}

@Suite struct ReadingTests {
  @Test("every accelerometer with a gyro has its line")
  func complete() {
    let inertial = ChipCatalog.chips.filter { $0.kind == .inertial }
    #expect(Set(ReadingLine.inertial.map(\.chip.name)) == Set(inertial.map(\.name)))
  }

  @Test("the vectors of the datasheets", arguments: ReadingLine.inertial + ReadingLine.fields)
  func vector(_ line: ReadingLine) throws {
    switch (try line.chip.reading(block(line.bytes)), line.expected) {
    case (.inertial(let rate, let force), .inertial(let otherRate, let otherForce)):
      #expect(near(rate, otherRate, 1e-12) && near(force, otherForce, 1e-9))
    case (.magneticField(let found), .magneticField(let expected)),
      (.acceleration(let found), .acceleration(let expected)):
      #expect(near(found, expected, 1e-9))
    case (let found, _): Issue.record("\(found)")
    }
  }

  @Test("an end of the 16 bits marks its axis, on any of the six", arguments: ReadingLine.inertial)
  func ends(_ line: ReadingLine) throws {
    let isBigEndian = line.chip.name.hasPrefix("ICM") || line.chip.name.hasPrefix("MPU")
    for end: [UInt8] in [[0xFF, 0x7F], [0x00, 0x80]] {
      var marked: Set<InertialClipping> = []
      for place in stride(from: 0, to: line.bytes.count, by: 2) {
        var bytes = line.bytes
        bytes.replaceSubrange(place..<place + 2, with: isBigEndian ? end.reversed() : end)
        switch try line.chip.reading(block(bytes)) {
        case .clippedInertial(_, _, let clipped):
          let (rate, force) = (clipped.angularRate.rawValue, clipped.acceleration.rawValue)
          #expect(rate.nonzeroBitCount + force.nonzeroBitCount == 1)
          marked.insert(clipped)
        case .inertial:
          // The temperature of an MPU ends nothing.
          #expect(line.bytes.count > 12 && place == 6)
        case let other: Issue.record("\(other)")
        }
      }
      #expect(marked.count == 6)
    }
  }
}

// What the steps of a self-test are made of: where the outputs are, what they may be, where a chip says what it found.

import LinearAlgebra
import SensorBus

extension DeflectionTest {
  /// Where a sensor's conversions are found.
  struct Output: Sendable {
    let statusRegister: UInt8
    /// The bit of the status that says that all three axes have something new.
    let ready: UInt8
    /// Six bytes from here, low byte first, with the transfer flag that the chip wants.
    let register: UInt8
    /// Conversions a second.
    let rate: Double
    /// The largest count that still is a measurement.
    let largestCount: Double
    /// High byte first.
    var isBigEndian = false
  }

  /// One sensor of a chip that has two.
  struct Half: Sendable {
    let output: Output
    /// What lets it measure alone, without its self-test.
    let on: [RegisterSetting]
    /// What switches its self-test on.
    let test: RegisterSetting
    let limits: DeflectionLimits
    /// Seconds that it takes to measure, and to measure with the self-test on.
    let settle: Double
    let testSettle: Double
  }

  /// The course of a chip with an accelerometer and a gyro: the one alone, then the other.
  static func inertial(
    chip: String, start: [DeflectionStep], _ linear: Half, _ angular: Half, end: [RegisterSetting]
  ) -> DeflectionTest {
    let halves = [linear, angular].flatMap { half -> [DeflectionStep] in
      [
        .write(half.on, settle: half.settle), .rest(half.output),
        .write([half.test], settle: half.testSettle), .deflected(half.output, half.limits),
      ]
    }
    return DeflectionTest(chip: chip, steps: start + halves + [.write(end, settle: 0)])
  }
}

/// What a chip says of itself.
struct SelfTestStatus: Sendable {
  let quantity: TestedQuantity
  /// So many bytes are read from here on.
  let register: UInt8
  var count = 1
  /// The bits of X, Y and Z, or the one of all three together, and in which of the bytes they are: 1 for what passed.
  let bits: [(byte: Int, mask: UInt8)]

  func axes(_ block: RegisterBlock) -> [AxisReport] {
    bits.enumerated().map { index, bit in
      AxisReport(
        quantity, bits.count == 1 ? nil : SelfTestReport.Direction.allCases[index],
        .verdict(passed: block[bit.byte] & bit.mask != 0))
    }
  }
}

/// What the datasheet allows.
struct DeflectionLimits: Sendable {
  let quantity: TestedQuantity
  let unit: SelfTestReport.Unit
  /// What a count of each axis is in `unit`, from all that `.trim` steps have read; `nil` when the trim is blank.
  let unitsPerCount: @Sendable (RegisterBlock) -> Vector3?
  let x: ClosedRange<Double>
  let y: ClosedRange<Double>
  let z: ClosedRange<Double>
  /// Whether the sign counts, else the limits are of the magnitude of a change.
  let isSigned: Bool

  init(
    quantity: TestedQuantity, unit: SelfTestReport.Unit, isSigned: Bool,
    x: ClosedRange<Double>, y: ClosedRange<Double>, z: ClosedRange<Double>,
    unitsPerCount: @escaping @Sendable (RegisterBlock) -> Vector3?
  ) {
    self.quantity = quantity
    self.unit = unit
    self.isSigned = isSigned
    self.unitsPerCount = unitsPerCount
    self.x = x
    self.y = y
    self.z = z
  }

  init(
    quantity: TestedQuantity, unit: SelfTestReport.Unit, unitPerCount: Double,
    x: ClosedRange<Double>, y: ClosedRange<Double>, z: ClosedRange<Double>
  ) {
    self.init(quantity: quantity, unit: unit, isSigned: false, x: x, y: y, z: z) { _ in
      Vector3(repeating: unitPerCount)
    }
  }

  /// Limits that are the same for all three axes.
  init(
    _ quantity: TestedQuantity, _ unit: SelfTestReport.Unit, unitPerCount: Double,
    all: ClosedRange<Double>
  ) {
    self.init(
      quantity: quantity, unit: unit, unitPerCount: unitPerCount, x: all, y: all, z: all)
  }

  /// The limits of all axes as shares of the change that the maker measured, in counts. An axis of which nothing is known
  /// is 0.
  init(
    quantity: TestedQuantity, percent: ClosedRange<Double>,
    of expected: @escaping @Sendable (RegisterBlock) -> Vector3
  ) {
    self.init(
      quantity: quantity, unit: .percentOfTrim, isSigned: true, x: percent, y: percent, z: percent
    ) { trim in
      let counts = expected(trim)
      guard counts.x != 0, counts.y != 0, counts.z != 0 else { return nil }
      return Vector3(100 / counts.x, 100 / counts.y, 100 / counts.z)
    }
  }

  /// What so many counts are; `nil` when the trim that they need is blank.
  func axes(_ counts: Vector3, trim: RegisterBlock) -> [AxisReport]? {
    guard let scale = unitsPerCount(trim) else { return nil }
    let ranges = [x, y, z]
    return SelfTestReport.Direction.allCases.enumerated().map { index, direction in
      let figure = SelfTestReport.Figure(
        counts[index] * scale[index], limits: ranges[index], unit)
      return AxisReport(
        quantity, direction, isSigned ? .value(figure) : .change(figure))
    }
  }
}

// The self-test of ST's chips: measure, let the chip move its own sensor, measure again.

import LinearAlgebra
public import SensorBus

/// A self-test by deflection: the chip adds a known force, rate or field to what it measures, and the
/// change of the outputs is held against the datasheet's limits.
///
/// ST's application notes have the same course for every chip: reset, configure, let the output settle,
/// drop one conversion, average five; switch the self-test on and do the same; switch it off. A chip is a
/// list of such steps, next to its driver.
public struct DeflectionTest: SelfTesting {
  /// One step of the course.
  enum Step: Sendable {
    /// The register must hold the value.
    case identify(register: UInt8, value: UInt8)
    /// The bit is set and must clear itself within 100 ms.
    case reset(register: UInt8, bit: UInt8)
    /// The settings are written in order and read back; then the chip gets time.
    case write([RegisterSetting], settle: Double)
    /// Five conversions are averaged, to compare with.
    case rest(Output)
    /// Five conversions are averaged, and the change since the rest is noted.
    case deflected(Output, Limits)
  }

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
  }

  /// What the datasheet allows.
  struct Limits: Sendable {
    let quantity: SelfTestReport.Quantity
    let unit: SelfTestReport.Unit
    let unitPerCount: Double
    let x: ClosedRange<Double>
    let y: ClosedRange<Double>
    let z: ClosedRange<Double>

    /// Limits that are the same for all three axes.
    init(
      _ quantity: SelfTestReport.Quantity, _ unit: SelfTestReport.Unit, unitPerCount: Double,
      all: ClosedRange<Double>
    ) {
      self.init(
        quantity: quantity, unit: unit, unitPerCount: unitPerCount, x: all, y: all, z: all)
    }

    init(
      quantity: SelfTestReport.Quantity, unit: SelfTestReport.Unit, unitPerCount: Double,
      x: ClosedRange<Double>, y: ClosedRange<Double>, z: ClosedRange<Double>
    ) {
      self.quantity = quantity
      self.unit = unit
      self.unitPerCount = unitPerCount
      self.x = x
      self.y = y
      self.z = z
    }
  }

  /// One sensor of a chip that has two.
  struct Half: Sendable {
    let output: Output
    /// What lets it measure alone, without its self-test.
    let on: [RegisterSetting]
    /// What switches its self-test on.
    let test: RegisterSetting
    let limits: Limits
    /// Seconds that it takes to measure, and to measure with the self-test on.
    let settle: Double
    let testSettle: Double
  }

  /// The course of a chip with an accelerometer and a gyro: the one alone, then the other.
  static func inertial(
    chip: String, start: [Step], _ linear: Half, _ angular: Half, end: [RegisterSetting]
  ) -> DeflectionTest {
    let halves = [linear, angular].flatMap { half -> [Step] in
      [
        .write(half.on, settle: half.settle), .rest(half.output),
        .write([half.test], settle: half.testSettle), .deflected(half.output, half.limits),
      ]
    }
    return DeflectionTest(chip: chip, steps: start + halves + [.write(end, settle: 0)])
  }

  private enum After { case again(seconds: Double), next(seconds: Double) }

  /// Conversions that are averaged.
  private static let samples = 5
  /// Looks at a conversion that does not come, a fifth of a period apart: four periods.
  private static let looks = 20
  private static let resetTime = 0.01

  /// How far it has come.
  private struct Run: Sendable {
    var step = 0
    /// Within the step: looks that found nothing, conversions that were read, and their sum in counts.
    var attempts = 0
    var conversions = 0
    var sum = Vector3.zero
    /// The mean of the rest, in counts.
    var rest = Vector3.zero
    var axes: [SelfTestReport.Axis] = []
  }

  /// The chip's name, as in a board file.
  public let chip: String
  private let steps: [Step]
  private var run = Run()

  init(chip: String, steps: [Step]) {
    self.chip = chip
    self.steps = steps
  }

  /// Takes the next step.
  public mutating func step<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> SelfTestProgress {
    var current = run
    // Whatever is thrown below leaves it at its beginning.
    run = Run()
    while current.step < steps.count {
      let pause: Double
      switch try perform(steps[current.step], of: &current, on: device) {
      case .again(let seconds): pause = seconds
      case .next(let seconds):
        pause = seconds
        current.step += 1
        current.attempts = 0
        current.conversions = 0
        current.sum = .zero
      }
      if pause > 0 {
        run = current
        return .wait(seconds: pause)
      }
    }
    return .done(SelfTestReport(chip: chip, axes: current.axes))
  }

  private func perform<Device: RegisterDevice & ~Copyable>(
    _ step: Step, of run: inout Run, on device: borrowing Device
  ) throws(DriverError) -> After {
    switch step {
    case .identify(let register, let value):
      try device.identify(chip, register, is: value)
      return .next(seconds: 0)
    case .reset(let register, let bit):
      if run.attempts == 0 {
        try device.put(register, bit)
      } else if try device.get(register) & bit == 0 {
        return .next(seconds: 0)
      }
      guard run.attempts < 10 else {
        throw .notReady("\(chip): the reset of its self-test does not end")
      }
      run.attempts += 1
      return .again(seconds: Self.resetTime)
    case .write(let settings, let settle):
      let image = RegisterImage(settings)
      try image.write(to: device)
      try image.readBack(from: device)
      return .next(seconds: settle)
    case .rest(let output):
      if let pause = try collect(output, of: &run, from: device) { return .again(seconds: pause) }
      run.rest = run.sum / Double(Self.samples)
      return .next(seconds: 0)
    case .deflected(let output, let limits):
      if let pause = try collect(output, of: &run, from: device) { return .again(seconds: pause) }
      let change = (run.sum / Double(Self.samples) - run.rest) * limits.unitPerCount
      let ranges = [limits.x, limits.y, limits.z]
      for (index, direction) in SelfTestReport.Direction.allCases.enumerated() {
        run.axes.append(
          SelfTestReport.Axis(
            limits.quantity, direction, change: change[index], limits: ranges[index],
            unit: limits.unit))
      }
      return .next(seconds: 0)
    }
  }

  /// Adds the next conversion, if there is one. Returns the pause before the next look, or `nil` when all
  /// are there. The first is dropped: it may have begun before the chip was as it is now.
  private func collect<Device: RegisterDevice & ~Copyable>(
    _ output: Output, of run: inout Run, from device: borrowing Device
  ) throws(DriverError) -> Double? {
    guard try device.get(output.statusRegister) & output.ready != 0 else {
      run.attempts += 1
      guard run.attempts < Self.looks else {
        throw .notReady("\(chip): no new conversion for four periods of its self-test")
      }
      return 0.2 / output.rate
    }
    let block = try device.get(output.register, count: 6)
    let counts = Vector3(
      Double(block.int16LittleEndian(0)), Double(block.int16LittleEndian(2)),
      Double(block.int16LittleEndian(4)))
    let largest = output.largestCount
    guard abs(counts.x) <= largest, abs(counts.y) <= largest, abs(counts.z) <= largest else {
      throw .overflow
    }
    run.attempts = 0
    run.conversions += 1
    if run.conversions > 1 { run.sum += counts }
    return run.conversions > Self.samples ? nil : 0.9 / output.rate
  }
}

// The self-tests that are a list of steps: measure, let the chip move its own sensor, measure again, or ask what it says.

import LinearAlgebra
package import SensorBus

/// A self-test by deflection: the chip adds a known force, rate or field to what it measures, and the
/// change of the outputs is held against the datasheet's limits.
///
/// ST's application notes (and InvenSense's, but for the numbers) have the same course for every chip: reset, configure, let the output settle,
/// drop one conversion, average five; switch the self-test on and do the same; switch it off. A chip is a
/// list of such steps, next to its driver. Where the chip measures or judges by itself, it is asked what it found.
package struct DeflectionTest: SelfTesting {
  private enum After { case again(seconds: Double), next(seconds: Double) }

  /// Conversions that are averaged.
  private static let samples = 5
  /// Looks at a conversion that does not come, a fifth of a period apart: four periods.
  private static let looks = 20

  /// How far it has come.
  private struct Run: Sendable {
    var step = 0
    /// Within the step: looks that found nothing, conversions that were read, and their sum in counts.
    var attempts = 0
    var conversions = 0
    var sum = Vector3.zero
    /// The mean of the rest, in counts.
    var rest = Vector3.zero
    var trim = RegisterBlock()
    var trimCount = 0
    var axes: [AxisReport] = []
  }

  /// The chip's name, as in a board file.
  package let chip: String
  private let steps: [DeflectionStep]
  private var run = Run()

  init(chip: String, steps: [DeflectionStep]) {
    self.chip = chip
    self.steps = steps
  }

  /// Takes the next step.
  package mutating func step<Device: RegisterDevice & ~Copyable>(
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
    _ step: DeflectionStep, of run: inout Run, on device: borrowing Device
  ) throws(DriverError) -> After {
    switch step {
    case .identify(let register, let value):
      try device.identify(chip, register, is: value)
      return .next(seconds: 0)
    case .identifyAny(let register, let values):
      let found = try device.get(register)
      guard let usual = values.first, !values.contains(found) else { return .next(seconds: 0) }
      throw .wrongIdentity(chip: chip, register: register, expected: usual, found: found)
    case .trim(let register, let count):
      let block = try device.get(register, count: count)
      for index in 0..<count { run.trim[run.trimCount + index] = block[index] }
      run.trimCount += count
      return .next(seconds: 0)
    case .check(let settings):
      try RegisterImage(settings).readBack(from: device)
      return .next(seconds: 0)
    case .reset(let register, let bit, let pause):
      if run.attempts == 0 {
        try device.put(register, bit)
      } else if try device.get(register) & bit == 0 {
        return .next(seconds: 0)
      }
      guard run.attempts < 10 else {
        throw .notReady("\(chip): the reset of its self-test does not end")
      }
      run.attempts += 1
      return .again(seconds: pause)
    case .await(let register, let mask, let value):
      if try device.get(register) & mask == value { return .next(seconds: 0) }
      run.attempts += 1
      guard run.attempts < 10 else {
        throw .notReady("\(chip): its self-test does not go on")
      }
      return .again(seconds: 0.01)
    case .write(let settings, let settle):
      let image = RegisterImage(settings)
      try image.write(to: device)
      try image.readBack(from: device)
      return .next(seconds: settle)
    case .send(let settings, let settle):
      for setting in settings { try device.put(setting.register, setting.value) }
      return .next(seconds: settle)
    case .rest(let output):
      if let pause = try collect(output, of: &run, from: device) { return .again(seconds: pause) }
      run.rest = run.sum / Double(Self.samples)
      return .next(seconds: 0)
    case .deflected(let output, let limits):
      if let pause = try collect(output, of: &run, from: device) { return .again(seconds: pause) }
      try note(run.sum / Double(Self.samples) - run.rest, limits, in: &run)
      return .next(seconds: 0)
    case .told(let register, let limits):
      let block = try device.get(register, count: 6)
      try note(AxisCounts.littleEndian(block, limit: InertialScale.largestCount), limits, in: &run)
      return .next(seconds: 0)
    case .verdict(let verdict):
      run.axes += verdict.axes(try device.get(verdict.register, count: verdict.count))
      return .next(seconds: 0)
    case .overflow(let register, let mask):
      guard try device.get(register) & mask == 0 else { throw .overflow }
      return .next(seconds: 0)
    }
  }

  /// Holds what was measured, in counts, against its limits.
  private func note(
    _ counts: Vector3, _ limits: DeflectionLimits, in run: inout Run
  ) throws(DriverError) {
    guard let axes = limits.axes(counts, trim: run.trim) else {
      throw .invalidTrim("\(chip): its self-test has none")
    }
    run.axes += axes
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
    let counts =
      output.isBigEndian
      ? try AxisCounts.bigEndian(block, limit: output.largestCount)
      : try AxisCounts.littleEndian(block, limit: output.largestCount)
    run.attempts = 0
    run.conversions += 1
    if run.conversions > 1 { run.sum += counts }
    return run.conversions > Self.samples ? nil : 0.9 / output.rate
  }
}

/// One step of the course.
enum DeflectionStep: Sendable {
  /// The register must hold the value.
  case identify(register: UInt8, value: UInt8)
  /// The register must hold one of the values, the first of which a chip from the shop has.
  case identifyAny(register: UInt8, values: [UInt8])
  /// The bit is set and must clear itself: it is looked at so many seconds later, ten times at the most.
  case reset(register: UInt8, bit: UInt8, pause: Double = 0.01)
  /// The bits of `mask` must become `value`: looked at every 10 ms, ten times at the most.
  case await(register: UInt8, mask: UInt8, value: UInt8)
  /// What the maker measured of this chip, and left in it, is read behind what was read before.
  case trim(register: UInt8, count: Int)
  /// The registers must still hold what was written: a chip that goes on converting after a dip in its supply would
  /// be taken for a sound one.
  case check([RegisterSetting])
  /// The settings are written in order and read back; then the chip gets time.
  case write([RegisterSetting], settle: Double)
  /// The settings are written in order and not read back: commands. Then the chip gets time.
  case send([RegisterSetting], settle: Double)
  /// Five conversions are averaged, to compare with.
  case rest(DeflectionTest.Output)
  /// Five conversions are averaged, and the change since the rest is noted.
  case deflected(DeflectionTest.Output, DeflectionLimits)
  /// The chip has measured by itself what the limits are of: six bytes from the register, low byte first.
  case told(register: UInt8, DeflectionLimits)
  /// The chip has judged by itself.
  case verdict(SelfTestStatus)
  /// None of these bits may be up: one says that what was measured is beyond the range.
  case overflow(register: UInt8, mask: UInt8)
}

// A chip's own test of itself: how it is run, and what it says.

package import SensorBus

/// How far the self-test of a chip has come.
package enum SelfTestProgress: Sendable, Hashable {
  /// Call `step` again after this many seconds: the chip needs the time.
  case wait(seconds: Double)
  /// It is over, and this came of it.
  case done(SelfTestReport)
}

/// The self-test that a chip has built in, as a procedure in steps.
///
/// Like a driver it is synchronous, has no thread, reads no clock and never waits: what takes time is a
/// state, entered by `step` returning `.wait`. It is bounded: a chip that has nothing new for four periods
/// ends it with `.notReady`. It is a value and owns no device, so that one list can hold those of many
/// chips.
///
/// The board must lie still meanwhile: what moves it is measured with the rest. The chip is reset at the
/// beginning, measures in ranges of the test's own and is switched off at the end: whatever came of it, an
/// error above all, nothing of the chip is as it was, and **its driver must be started anew** (`start`
/// resets it, which ends an interrupted self-test too).
///
/// A chip without a self-test has no value of this type (`ChipDescription.selfTest` is `nil`).
package protocol SelfTesting: Sendable {
  /// The chip's name, as in a board file.
  var chip: String { get }

  /// Takes the next step with the chip. Called from the beginning after every failure and every end.
  ///
  /// Throws what kept it from a result: a transfer that failed, another chip, a register that does not
  /// hold what was written, an output at its end stop (`.overflow`), no new conversion. A chip that answers
  /// and measures wrongly is a result and no error.
  mutating func step<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> SelfTestProgress
}

/// What a chip's self-test measured, against the limits of its datasheet.
package struct SelfTestReport: Sendable, Hashable {
  /// One of a sensor's axes.
  package enum Direction: String, Sendable, Hashable, CaseIterable {
    case x
    /// The second.
    case y
    case z
  }

  /// The unit of a datasheet's limits, which a report keeps so that they can be looked up.
  package enum Unit: String, Sendable, Hashable {
    /// 100 microtesla.
    case gauss
    /// A thousandth of 9.80665 m/s^2.
    case milliG = "mg"
    /// A degree a second.
    case degreesPerSecond = "dps"
    /// A hundredth of what the maker measured and left in the chip, 100 in a chip that is as it was.
    case percentOfTrim = "% of the trim"
    /// A step of the output, adjusted where the chip leaves that to the host.
    case counts
  }

  /// What was measured, and what it may be in a sound chip.
  package struct Figure: Sendable, Hashable {
    /// What was measured, in `unit`.
    package var value: Double
    /// What may be, in `unit`, both ends included.
    package var limits: ClosedRange<Double>
    /// The unit of `value` and `limits`.
    package var unit: Unit

    package init(_ value: Double, limits: ClosedRange<Double>, _ unit: Unit) {
      (self.value, self.limits, self.unit) = (value, limits, unit)
    }
  }

  /// The chip's name, as in a board file.
  package var chip: String
  /// Every axis that was tested.
  package var axes: [AxisReport]

  package init(chip: String, axes: [AxisReport]) {
    self.chip = chip
    self.axes = axes
  }

  /// Whether every axis passed; a report on nothing has not.
  package var passed: Bool { !axes.isEmpty && axes.allSatisfy(\.passed) }

  /// What it comes down to, in a few words: `within its datasheet's limits`; of a chip that failed with the axes:
  /// `beyond its datasheet's limits: acceleration x; failed by its own verdict: angular rate`.
  package var summary: String {
    let hasFigures = axes.contains { $0.finding.figure != nil }
    guard !passed else {
      return hasFigures ? "within its datasheet's limits" : "sound by its own verdict"
    }
    let failed = axes.filter { !$0.passed }
    func names(_ words: String, _ isMeasured: Bool) -> String? {
      let names = failed.filter { ($0.finding.figure != nil) == isMeasured }.map(\.name)
      return names.isEmpty ? nil : "\(words): \(names.joined(separator: ", "))"
    }
    return [
      names("beyond its datasheet's limits", true), names("failed by its own verdict", false),
    ].compactMap { $0 }.joined(separator: "; ")
  }
}

/// What a sensor of the chip measures.
package enum TestedQuantity: String, Sendable, Hashable {
  case magneticField = "magnetic field"
  case acceleration
  case angularRate = "angular rate"
}

/// What is known of an axis after the test.
package enum AxisResult: Sendable, Hashable {
  /// The output with the self-test on less the output without it: its magnitude must be within the limits, whichever way
  /// the output went.
  case change(SelfTestReport.Figure)
  /// What must be within the limits with its sign: the output while the self-test is on, or a share of a trim.
  case value(SelfTestReport.Figure)
  /// The chip judges by itself, and gives no figure.
  case verdict(passed: Bool)

  /// What was measured, or `nil` where the chip gives none.
  package var figure: SelfTestReport.Figure? {
    switch self {
    case .change(let figure), .value(let figure): figure
    case .verdict: nil
    }
  }
}

/// One axis of one sensor.
package struct AxisReport: Sendable, Hashable {
  package var quantity: TestedQuantity
  /// Which of the three it is, in the sensor's frame; `nil` where the chip judges all three together.
  package var direction: SelfTestReport.Direction?
  /// What came of its test.
  package var finding: AxisResult

  package init(
    _ quantity: TestedQuantity, _ direction: SelfTestReport.Direction?, _ finding: AxisResult
  ) {
    (self.quantity, self.direction, self.finding) = (quantity, direction, finding)
  }

  /// `acceleration x`; `angular rate` where the chip judges all three axes together.
  package var name: String {
    direction.map { "\(quantity.rawValue) \($0.rawValue)" } ?? quantity.rawValue
  }

  /// Whether what was measured is within the limits, or what the chip says itself.
  package var passed: Bool {
    switch finding {
    case .change(let figure): figure.limits.contains(figure.value.magnitude)
    case .value(let figure): figure.limits.contains(figure.value)
    case .verdict(let passed): passed
    }
  }
}

extension AxisReport: CustomStringConvertible {
  /// `acceleration x: 460.2 mg, limits 50.0 to 1700.0: passed`, or `magnetic field x: by the chip's own verdict: passed`.
  package var description: String {
    let found =
      finding.figure.map { figure in
        "\((figure.value * 1000).rounded() / 1000) \(figure.unit.rawValue), "
          + "limits \(figure.limits.lowerBound) to \(figure.limits.upperBound)"
      } ?? "by the chip's own verdict"
    return "\(name): \(found): \(passed ? "passed" : "failed")"
  }
}

extension SelfTestReport: CustomStringConvertible {
  /// The chip and its verdict, then a line an axis.
  package var description: String {
    "\(chip): self-test \(passed ? "passed" : "failed")"
      + axes.map { "\n  \($0)" }.joined()
  }
}

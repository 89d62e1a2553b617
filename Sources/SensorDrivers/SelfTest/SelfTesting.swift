// A chip's own test of itself: how it is run, and what it says.

public import SensorBus

/// How far the self-test of a chip has come.
public enum SelfTestProgress: Sendable, Hashable {
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
public protocol SelfTesting: Sendable {
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
public struct SelfTestReport: Sendable, Hashable {
  /// What a sensor of the chip measures.
  public enum Quantity: String, Sendable, Hashable {
    /// Of a magnetometer.
    case magneticField = "magnetic field"
    /// Of an accelerometer.
    case acceleration
    /// Of a gyro.
    case angularRate = "angular rate"
  }

  /// One of a sensor's axes.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    /// The first.
    case x
    /// The second.
    case y
    /// The third.
    case z
  }

  /// The unit of a datasheet's limits, which a report keeps so that they can be looked up.
  public enum Unit: String, Sendable, Hashable {
    /// 100 microtesla.
    case gauss
    /// A thousandth of 9.80665 m/s^2.
    case milliG = "mg"
    /// A degree a second.
    case degreesPerSecond = "dps"
    /// A hundredth of what the maker measured and left in the chip, 100 in a chip that is as it was; a change the other
    /// way is negative.
    case percentOfTrim = "% of the trim"
  }

  /// One axis of one sensor.
  public struct Axis: Sendable, Hashable {
    /// What it measures.
    public var quantity: Quantity
    /// Which of the three it is, in the sensor's frame.
    public var direction: Direction
    /// The output with the self-test on less the output without it, in `unit`.
    public var change: Double
    /// What the magnitude of `change` may be in a sound chip, in `unit`, both ends included.
    public var limits: ClosedRange<Double>
    /// The unit of `change` and `limits`.
    public var unit: Unit

    /// Makes an axis.
    public init(
      _ quantity: Quantity, _ direction: Direction, change: Double, limits: ClosedRange<Double>,
      unit: Unit
    ) {
      self.quantity = quantity
      self.direction = direction
      self.change = change
      self.limits = limits
      self.unit = unit
    }

    /// Whether the change is within the limits; the datasheets give them for its magnitude, but for that of a trim,
    /// which has a sign.
    public var passed: Bool {
      limits.contains(unit == .percentOfTrim ? change : change.magnitude)
    }
  }

  /// The chip's name, as in a board file.
  public var chip: String
  /// Every axis that was tested.
  public var axes: [Axis]

  /// Makes a report.
  public init(chip: String, axes: [Axis]) {
    self.chip = chip
    self.axes = axes
  }

  /// Whether every axis passed; a report on nothing has not.
  public var passed: Bool { !axes.isEmpty && axes.allSatisfy(\.passed) }
}

extension SelfTestReport.Axis: CustomStringConvertible {
  /// `acceleration x: 460.2 mg, limits 50.0 to 1700.0: passed`.
  public var description: String {
    let shown = (change * 1000).rounded() / 1000
    return "\(quantity.rawValue) \(direction.rawValue): \(shown) \(unit.rawValue), "
      + "limits \(limits.lowerBound) to \(limits.upperBound): \(passed ? "passed" : "failed")"
  }
}

extension SelfTestReport: CustomStringConvertible {
  /// The chip and its verdict, then a line an axis.
  public var description: String {
    "\(chip): self-test \(passed ? "passed" : "failed")"
      + axes.map { "\n  \($0)" }.joined()
  }
}

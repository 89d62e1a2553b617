// Self-tests by the names of board files.

public import SensorBus
public import SensorTypes

/// What became of the wish to have a chip test itself.
public enum SelfTestOutcome: Sendable, Hashable {
  /// The chip has no self-test: nothing was sent to it, and nothing is known of it.
  case noSelfTest
  /// It was run to its end; the report says whether the chip passed.
  case tested(SelfTestReport)
}

extension ChipDescription {
  /// The chip's own self-test at its beginning, or `nil` for a chip that has none.
  ///
  /// Without one are:
  /// - LSM303DLHC, both halves: the datasheet (DocID018771 rev. 2) knows none; the bits in which an
  ///   LSM303DLH (CTRL_REG4_A ST) and an HMC5883L (MS1:0 of its first register) have theirs must be 0.
  /// - BMP280, BME280: none in the register maps (BST-BMP280-DS001 rev. 1.23, 4.2; BST-BME280-DS002 rev.
  ///   1.6, 5.3). Bosch's driver once held the trim values against limits and withdrew that as not valid.
  /// - DPS310: none in the register map (datasheet rev. 1.2, section 7).
  /// - Receivers: they say how they are doing all the time.
  public var selfTest: (any SelfTesting)? {
    switch name {
    case "LIS3MDL": DeflectionTest.lis3mdl
    case "LSM6DSOX": DeflectionTest.lsm6dsox
    default: nil
    }
  }
}

extension ChipCatalog {
  /// How long a self-test may take as a whole, seconds. The longest takes 0.7.
  public static let selfTestLimit = 3.0

  /// Has the chip called `name` in board files test itself, on the caller's thread, which must be the only
  /// one to use the bus: before the hub is started, or after it was stopped.
  ///
  /// Whatever comes of it, the chip must be started anew afterwards (see `SelfTesting`); the hub does.
  ///
  /// - Parameters:
  ///   - name: The chip.
  ///   - bus: The I2C bus (`/dev/i2c-1`).
  ///   - address: Where on it the chip is.
  ///   - provider: Opens the bus and knows the time.
  ///   - wait: Lets this many seconds pass; it is never called with more than `selfTestLimit` leaves.
  /// - Throws: `.bus` with bus and address for a transfer that failed or a chip that is not in the
  ///   catalogue, `.notReady` when `selfTestLimit` is over, else what `SelfTesting.step` throws.
  public static func selfTest(
    chip name: String, bus: String, address: UInt8, with provider: any BusProvider,
    wait: (_ seconds: Double) -> Void
  ) throws(DriverError) -> SelfTestOutcome {
    guard let chip = chip(named: name) else {
      throw .bus(BusError(.unsupported("a chip called \(name)"), bus: bus, address: address))
    }
    guard chip.selfTest != nil else { return .noSelfTest }
    let device: any RegisterDevice
    do { device = try provider.registerDevice(bus: bus, address: address) } catch {
      throw .bus(error)
    }
    return try selfTest(
      chip, on: SharedDevice(device), now: { provider.now() }, wait: wait)
  }

  /// The same with a device that is open already.
  ///
  /// - Parameters:
  ///   - chip: The chip.
  ///   - device: The chip's place on its bus.
  ///   - now: The time that `wait` lets pass.
  ///   - wait: Lets this many seconds pass; it is never called with more than `selfTestLimit` leaves.
  public static func selfTest<Device: RegisterDevice & ~Copyable>(
    _ chip: ChipDescription, on device: borrowing Device, now: () -> Timestamp,
    wait: (_ seconds: Double) -> Void
  ) throws(DriverError) -> SelfTestOutcome {
    guard var test = chip.selfTest else { return .noSelfTest }
    let begin = now()
    while true {
      switch try test.step(device) {
      case .done(let report): return .tested(report)
      case .wait(let seconds):
        guard now().seconds(since: begin) + seconds <= selfTestLimit else {
          throw .notReady("\(chip.name): self-test not over after \(selfTestLimit) s")
        }
        wait(seconds)
      }
    }
  }
}

// Self-tests by the names of board files.

package import SensorBus
package import SensorTypes

/// What became of the wish to have a chip test itself.
package enum SelfTestOutcome: Sendable, Hashable {
  /// The chip has no self-test: nothing was sent to it, and nothing is known of it.
  case noSelfTest
  /// It was run to its end; the report says whether the chip passed.
  case tested(SelfTestReport)
}

extension ChipCatalog {
  /// How long a self-test may take as a whole, seconds. The longest, an LSM9DS1's, takes 2.3.
  package static let selfTestLimit = 3.0

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
  package static func selfTest(
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
  package static func selfTest<Device: RegisterDevice & ~Copyable>(
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

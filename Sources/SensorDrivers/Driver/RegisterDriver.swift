// The driver of every chip behind registers: identity, reset, configuration, read-back, then readings.

package import SensorBus
package import SensorTypes

/// A chip on its bus.
package struct RegisterDriver<Chip: RegisterChip, Device: RegisterDevice & ~Copyable>:
  ~Copyable, SensorDriver
{
  private let device: LeadIn<Device>
  private let checks: DriverChecks
  private var chip: Chip
  private var image: RegisterImage
  private var outputs: OutputChecks
  /// The step to take next, and how often it was taken in vain.
  private var next = 0
  private var looks = 0

  /// Takes the chip; nothing is sent before `start`.
  package init(_ device: consuming Device, _ chip: Chip, checks: DriverChecks = .all) {
    self.device = LeadIn(device, dropping: chip.dummyBytes)
    self.chip = chip
    self.checks = checks
    image = RegisterImage(chip.registerImage)
    outputs = OutputChecks(chip, checks)
  }

  /// Takes the chip's steps one after the other, up to the next that needs time.
  package mutating func start() throws(DriverError) -> StartProgress {
    do {
      return try takeSteps()
    } catch {
      throw checks.asksStrangers ? named(error) : error
    }
  }

  /// The same with the name of the chip that answers in its place, where the catalogue knows it.
  private func named(_ error: DriverError) -> DriverError {
    switch error {
    case .wrongIdentity(let chip, let register, let expected, let found, _):
      return .wrongIdentity(
        chip: chip, register: register, expected: expected, found: found,
        other: ChipCatalog.answering(device, insteadOf: chip))
    case .invalidTrim(let what):
      let others = ChipCatalog.answering(device, insteadOf: chip.name)
      return others.isEmpty
        ? error : .invalidTrim("\(what); what answers is \(others.joined(separator: " or "))")
    default: return error
    }
  }

  private mutating func takeSteps() throws(DriverError) -> StartProgress {
    let steps = chip.startSteps
    var (index, vain) = (next, looks)
    // Whatever is thrown below leaves it at its beginning.
    (next, looks) = (0, 0)
    while index < steps.count {
      let pause: Double?
      if case .await(let register, let mask, let value, let every, let most, let what) =
        steps[index], try device.get(register) & mask != value
      {
        vain += 1
        guard vain < most else { throw .notReady("\(chip.name): \(what)") }
        pause = every
      } else {
        pause = try take(steps[index])
        index += 1
        vain = 0
      }
      if let pause {
        (next, looks) = (index, vain)
        return .wait(seconds: pause)
      }
    }
    outputs = OutputChecks(chip, checks)
    return .ready
  }

  /// Takes a step; gives the time that the chip needs after it.
  private mutating func take(_ step: StartStep) throws(DriverError) -> Double? {
    switch step {
    case .identify(let register, let values):
      guard checks.identity, let usual = values.first else { return nil }
      let found = try device.get(register)
      guard values.contains(found) else {
        throw .wrongIdentity(
          chip: chip.name, register: register, expected: usual, found: found)
      }
    case .identifyAll(let register, let bytes):
      guard checks.identity else { return nil }
      let found = try device.get(register, count: bytes.count)
      for (index, byte) in bytes.enumerated() where found[index] != byte {
        throw .wrongIdentity(
          chip: chip.name, register: register + UInt8(index), expected: byte,
          found: found[index])
      }
    case .command(let command): try device.send(command)
    case .write(let settings):
      for setting in settings { try device.put(setting.register, setting.value) }
    case .resetUnanswered(let setting):
      do {
        try device.put(setting.register, setting.value)
      } catch {
        guard case .bus(let failure) = error, failure.reason == .noAnswer else { throw error }
      }
    case .keep(let settings):
      let image = RegisterImage(settings)
      try image.write(to: device)
      try image.readBack(from: device)
    case .wait(let seconds): return seconds
    case .await: break
    case .read(let register, let count):
      try chip.take(try device.get(register, count: count), from: register)
    case .discard(let register, let count):
      _ = try device.get(register, count: count)
    case .configure(let identifies): try configure(identifies: identifies && checks.identity)
    }
    return nil
  }

  private mutating func configure(identifies: Bool) throws(DriverError) {
    image = RegisterImage(chip.registerImage)
    try image.write(to: device)
    do {
      try image.readBack(from: device)
    } catch {
      guard identifies, case .configurationLost(let register, let expected, let found) = error
      else { throw error }
      throw .wrongIdentity(
        chip: chip.name, register: register, expected: expected, found: found)
    }
  }

  /// The newest conversion in the sensor frame, or `nil` while no new one is ready.
  package mutating func poll() throws(DriverError) -> Reading? {
    defer { outputs.isAnnounced = false }
    return try chip.poll(device, &outputs)
  }

  /// What the next `poll` finds is new.
  package mutating func announce() { outputs.isAnnounced = true }

  /// Checks one configuration register, the next one at the next call.
  package mutating func verify() throws(DriverError) { try image.verifyNext(on: device) }

  /// Takes the next wider range.
  package mutating func widen() -> Bool { chip.widen() }

  /// Puts the chip into its lowest power mode; registers are kept where the chip keeps them.
  package mutating func sleep() throws(DriverError) {
    (next, looks) = (0, 0)
    for setting in chip.sleepSettings { try device.put(setting.register, setting.value) }
  }

  /// Conversions that one look brings.
  package var batch: Int { chip.batch }

  /// Whether the interrupt pin rises for them.
  package var raisesPin: Bool { chip.raisesPin }

  /// Conversions after the newest reading that were read with it.
  package var backlog: Int { outputs.queue.count }

  /// Conversions a second.
  package var outputRate: Double { chip.outputRate }

  /// Seconds from the middle of a conversion to its data-ready edge.
  package var latency: Double { chip.latency }

  /// Seconds that a conversion takes which the chip was told to make.
  package var conversionTime: Double? { chip.conversionTime }
}

// What the twins of all chips that convert have in common: a world, a clock, errors, and a pin.

import LinearAlgebra
package import SensorTypes

/// What every converting twin stands on. It has no registers.
package struct TwinCore: Sendable {
  /// Faults that act inside the chip.
  package var tampering = Tampering()
  let source: any StimulusSource
  let errors: ChipErrors
  let seed: UInt64
  /// Nanoseconds; never runs backwards.
  var now: Int64 = 0
  var answersFrom: Int64 = 0
  var pin = InterruptPin()
  /// When it converts; a chip whose two sensors convert apart has schedules of its own.
  var schedule = ConversionSchedule()

  /// Makes a core for a chip in the world of `source`, whose noise follows from `seed`.
  package init(source: any StimulusSource, errors: ChipErrors = .init(), seed: UInt64 = 0) {
    self.source = source
    self.errors = errors
    self.seed = seed
  }

  /// Power came at `time`; the chip answers so many seconds later.
  mutating func power(at time: Timestamp, answersAfter delay: Double) {
    now = time.nanoseconds
    answersFrom = now &+ Int64(delay * 1e9)
    pin = InterruptPin()
  }

  /// A period of the chip's own clock, seconds, that should be `nominal`.
  func period(_ nominal: Double) -> Double { nominal / (1 + errors.rateError) }

  /// It converts every so many seconds, of its own clock, from now on, or no more (infinity: a rate of none); after a rest
  /// it settles first.
  mutating func convert(every seconds: Double, settling: Double = 0) {
    guard seconds < .infinity else { return schedule.stop() }
    let period = period(seconds)
    schedule.start(
      at: now, firstAfter: (schedule.isIdle ? settling : 0) + period, every: period)
  }

  /// What acts on the chip at a moment, faults included.
  func stimulus(at nanoseconds: Int64) -> Stimulus {
    tampering.applied(to: source.stimulus(at: Timestamp(nanoseconds: nanoseconds)))
  }

  /// The chance of one conversion of one of the chip's sensors.
  func random(stream: UInt64, _ done: Conversions) -> SeededGenerator {
    SeededGenerator(seed: seed, stream: stream, index: done.index)
  }

  /// What a magnetometer converts, microtesla: the field at that moment with the chip's errors and noise.
  func field(
    at nanoseconds: Int64, sigma: Vector3, stream: UInt64, _ done: Conversions
  ) -> Vector3 {
    axes(stimulus(at: nanoseconds), \.magneticField, errors.axes, sigma, stream, done)
  }

  /// What an accelerometer converts, m/s^2.
  func force(
    at nanoseconds: Int64, sigma: Double, stream: UInt64, _ done: Conversions
  ) -> Vector3 {
    axes(
      stimulus(at: nanoseconds), \.specificForce, errors.axes, Vector3(repeating: sigma), stream,
      done)
  }

  /// What a gyro converts, rad/s.
  func rate(
    at nanoseconds: Int64, sigma: Double, stream: UInt64, _ done: Conversions
  ) -> Vector3 {
    axes(
      stimulus(at: nanoseconds), \.angularRate, errors.gyroscope, Vector3(repeating: sigma), stream,
      done)
  }

  private func axes(
    _ stimulus: Stimulus, _ quantity: KeyPath<Stimulus, Vector3>, _ errors: AxisImperfections,
    _ sigma: Vector3, _ stream: UInt64, _ done: Conversions
  ) -> Vector3 {
    var random = random(stream: stream, done)
    return errors.applied(
      to: stimulus[keyPath: quantity], temperature: stimulus.temperature, sigma: sigma,
      random: &random)
  }
}

/// A chip that converts on its own clock, and may raise a pin.
package protocol ConvertingTwin: ChipTwin {
  /// What it stands on.
  var core: TwinCore { get set }

  /// Makes a chip that is not powered yet: call `powerOn`.
  init(_ core: TwinCore)

  /// Takes note of every conversion that is complete by `core.now`.
  mutating func finish()

  /// When the next conversion will be complete, nanoseconds; `.max` while the chip is idle.
  var nextConversion: Int64 { get }

  /// When the next conversion that raises the pin will be complete, nanoseconds; `.max` where none does.
  var nextRise: Int64 { get }
}

extension ConvertingTwin {
  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(source: any StimulusSource, errors: ChipErrors = .init(), seed: UInt64 = 0) {
    self.init(TwinCore(source: source, errors: errors, seed: seed))
  }

  /// Faults that act inside the chip.
  package var tampering: Tampering {
    get { core.tampering }
    set { core.tampering = newValue }
  }

  /// Whether the chip acknowledges its address: not while it starts up.
  package func answers(at now: Timestamp) -> Bool { now.nanoseconds >= core.answersFrom }

  /// Finishes every conversion that is complete by that time.
  package mutating func advance(to time: Timestamp) {
    core.now = max(core.now, time.nanoseconds)
    finish()
  }

  /// When the next conversion will be complete.
  package var nextConversion: Int64 { core.schedule.next }

  /// Any conversion raises the pin.
  package var nextRise: Int64 { nextConversion }

  /// When the next conversion will be complete, or `nil` while the chip is idle.
  package func nextDataReady(after now: Timestamp) -> Timestamp? {
    nextConversion == .max ? nil : Timestamp(nanoseconds: nextConversion)
  }

  /// Whether the chip drives its interrupt pin high.
  package var interruptLevel: Bool { core.pin.level }

  /// The newest rising edge of the interrupt pin since the last call.
  package mutating func takeEdge(at now: Timestamp) -> Timestamp? {
    advance(to: now)
    return core.pin.take()
  }

  /// When the interrupt pin will rise next, or `nil` if nothing can raise it.
  ///
  /// A pin that is still high makes no edge: data ready stays up until the data were read.
  package mutating func nextEdge(at now: Timestamp) -> Timestamp? {
    advance(to: now)
    if core.pin.isWaiting { return now }
    return core.pin.level || nextRise == .max ? nil : Timestamp(nanoseconds: nextRise)
  }
}

/// A chip that comes up with the registers that a reset leaves.
package protocol ResettingTwin: ConvertingTwin {
  /// Seconds from power to the first answer.
  var startUpTime: Double { get }

  /// Registers take their reset values; what goes on ends.
  mutating func reset()
}

extension ResettingTwin {
  /// Applies power: registers take their reset values and the start-up time begins.
  package mutating func powerOn(at time: Timestamp) {
    core.power(at: time, answersAfter: startUpTime)
    reset()
  }
}

/// A chip whose sub-address moves on where its most significant bit is set (ST's older chips).
package protocol FlagIncrementing {}

extension FlagIncrementing where Self: ChipTwin {
  /// The register that a sub-address names.
  package func firstRegister(_ subaddress: UInt8) -> UInt8 { subaddress & 0x7F }

  /// The register that follows in the same transfer.
  package func nextRegister(after register: UInt8, subaddress: UInt8) -> UInt8 {
    subaddress & 0x80 == 0 ? register : (register &+ 1) & 0x7F
  }
}

/// A chip to which a longer write comes as pairs of address and value (Bosch's barometers; BMP280 5.2.1).
package protocol PairWriting {}

extension PairWriting where Self: ChipTwin {
  /// Writes bytes in one transaction.
  package mutating func write(
    _ subaddress: UInt8, from bytes: UnsafeRawBufferPointer, now: Timestamp
  ) {
    advance(to: now)
    var register = subaddress
    for index in 0..<bytes.count {
      if index % 2 == 0 { writeByte(register, bytes[index]) } else { register = bytes[index] }
    }
  }
}

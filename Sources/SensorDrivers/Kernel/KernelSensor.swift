// The driver of every chip that a driver of the kernel owns: the same samples, through IIO.

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// A chip behind the kernel's own driver, whichever it is: by the buffer where there is one and a trigger, else by
/// polling the attributes.
///
/// A polled gyro is not used: rates that were measured one after the other, each by a conversion of its own, are
/// no rotation. Such a chip is an accelerometer.
package struct KernelSensor: SensorDriver {
  /// How often a first sample is looked for, seconds.
  private static let look = 0.02
  /// How long it is waited for, seconds; six periods where those are longer.
  private static let patience = 1.5

  private enum Source {
    case polled(KernelRounds)
    case buffered(KernelBuffers)
  }

  private let chip: any KernelDevice
  private let name: String
  private let kind: ChipKind
  private let wantedRate: Double
  private let checks: DriverChecks
  private let errata: KernelErrata
  private var setup: KernelSetup
  private var survey: KernelSurvey?
  private var scaling = KernelScaling()
  private var source: Source?
  private var waited = 0.0
  private var last = SIMD8<Double>(repeating: 0)
  private var repeats = 0
  private var nextWatched = 0
  /// Conversions a second: of the buffer as set, of polling as found.
  package private(set) var outputRate: Double
  /// When the newest reading was taken, as the kernel says; `nil` where it does not.
  package private(set) var sampleTime: Timestamp?

  /// Takes the chip; nothing is set before `start`.
  ///
  /// - Parameters:
  ///   - name: The name in board files.
  ///   - outputRate: Wanted samples a second; the next rate at or above it is taken.
  package init(
    _ chip: any KernelDevice, name: String, kind: ChipKind, outputRate: Double,
    checks: DriverChecks = .all
  ) {
    (self.chip, self.name, self.kind, self.checks) = (chip, name, kind, checks)
    wantedRate = outputRate
    self.outputRate = outputRate
    errata = KernelErrata(name)
    setup = KernelSetup(chip, name: name)
  }

  /// Zero: the time of a sample is the one at which it was true.
  package var latency: Double { 0 }

  /// It may be looked at whenever it pleases.
  package var conversionTime: Double? { nil }

  /// Polled, an inertial chip is an accelerometer.
  package var givesRate: Bool { if case .polled = source { false } else { true } }

  /// The samples' times come from the kernel.
  package var isSelfTimed: Bool { true }

  // MARK: Start

  /// Sets the devices up, then waits for a first sample; without one from a buffer the attributes are polled.
  package mutating func start() throws(DriverError) -> StartProgress {
    do throws(DriverError) {
      guard source != nil else {
        try open(buffered: true)
        return .wait(seconds: Self.look)
      }
      if try next() != nil {
        if case .polled(let rounds) = source {
          outputRate = min(outputRate, 1 / min(max(1e-3, rounds.duration), 1e3))
        }
        repeats = 0
        return .ready
      }
      waited += Self.look
      if waited > max(Self.patience, 6 / outputRate) {
        guard case .buffered = source else {
          throw .notReady("\(name): the kernel's driver gives no sample")
        }
        try close()
        try open(buffered: false)
      }
      return .wait(seconds: Self.look)
    } catch {
      source = nil
      throw error
    }
  }

  private mutating func open(buffered: Bool) throws(DriverError) {
    let survey: KernelSurvey
    do { survey = try KernelSurvey(chip) } catch { throw .bus(error) }
    self.survey = survey
    if let lack = survey.lack(of: kind) ?? errata.refusal { throw .notReady("\(name): \(lack)") }
    setup = KernelSetup(chip, name: name)
    (waited, nextWatched) = (0, 0)
    if buffered, let buffers = try buffers(survey) {
      source = .buffered(buffers)
    } else {
      source = .polled(try rounds(survey))
    }
  }

  /// Sets rate and range of what is wanted; gives the devices with their quantities, in the order of the lanes.
  private mutating func prepare(
    _ survey: KernelSurvey, polled: Bool
  ) throws(DriverError) -> [(device: IIODevice, quantities: [KernelQuantity])]? {
    var parts: [(device: IIODevice, quantities: [KernelQuantity])] = []
    for quantity in KernelQuantity.wanted(by: kind, polled: polled) {
      guard let device = survey.device(quantity) else { return nil }
      if let index = parts.firstIndex(where: { $0.device == device }) {
        parts[index].quantities.append(quantity)
      } else {
        parts.append((device, [quantity]))
      }
    }
    outputRate = wantedRate
    scaling = KernelScaling()
    var lane = 0
    for (device, quantities) in parts {
      if let rate = try setup.rate(device, quantities, wanted: wantedRate) {
        // A sensor that is polled needs no more than is wanted; one that is slower gives no more.
        outputRate = polled ? min(outputRate, rate) : rate
      }
      for quantity in quantities {
        try setup.scale(device, quantity, lane: lane, &scaling)
        lane += quantity.channels.count
      }
    }
    return parts
  }

  private mutating func buffers(_ survey: KernelSurvey) throws(DriverError) -> KernelBuffers? {
    guard let parts = try prepare(survey, polled: false), parts.count <= 2 else { return nil }
    var buffers: [KernelBuffer] = []
    var lane = 0
    for (device, quantities) in parts {
      let channels = quantities.flatMap(\.channels)
      let lanes = channels.enumerated().map { ($0.element, lane: lane + $0.offset) }
      lane += channels.count
      guard let buffer = try setup.buffer(device, lanes: lanes) else {
        for buffer in buffers { try setup.set("\(buffer.folder)/buffer/enable", "0") }
        return nil
      }
      buffers.append(buffer)
    }
    return KernelBuffers(buffers)
  }

  private mutating func rounds(_ survey: KernelSurvey) throws(DriverError) -> KernelRounds {
    let parts = try prepare(survey, polled: true) ?? []
    let attributes = parts.flatMap { device, quantities in
      quantities.flatMap(\.channels).map {
        "\(device.folder)/\($0)_" + (KernelSetup.isRaw(device, $0) ? "raw" : "input")
      }
    }
    do {
      return KernelRounds(
        try chip.poll(attributes, every: 1 / outputRate), lanes: attributes.count)
    } catch {
      throw .bus(error)
    }
  }

  private mutating func close() throws(DriverError) {
    if case .buffered(let buffers) = source {
      for buffer in buffers.all { try setup.set("\(buffer.folder)/buffer/enable", "0") }
    }
    source = nil
  }

  /// Lets the kernel's driver put the chip to sleep.
  package mutating func sleep() throws(DriverError) { try close() }

  // MARK: Samples

  /// The next sample in the sensor frame, or `nil` while there is none.
  package mutating func poll() throws(DriverError) -> Reading? {
    guard let frame = try next() else { return nil }
    sampleTime = frame.time
    let reading = try reading(frame.raw)
    repeats = frame.raw == last ? repeats + 1 : 0
    last = frame.raw
    if checks.change, repeats >= Int(min(50, max(3, 1.5 * outputRate))) {
      repeats = 0
      throw .stuck
    }
    return reading
  }

  private mutating func next() throws(DriverError) -> KernelFrame? {
    switch source {
    case .polled(var rounds):
      let frame = try rounds.next()
      source = .polled(rounds)
      return frame
    case .buffered(var buffers):
      var frame = try buffers.next(slack: 0.5 / outputRate)
      source = .buffered(buffers)
      // A conversion ends, on the average, half a period after it was true.
      if let time = frame?.time { frame?.time = time.advanced(bySeconds: -0.5 / outputRate) }
      return frame
    case nil: return nil
    }
  }

  /// Whether a gyro's and an accelerometer's values come together.
  private var hasInertialFrames: Bool {
    if case .buffered = source { kind == .inertial } else { false }
  }

  private func reading(_ raw: SIMD8<Double>) throws(DriverError) -> Reading {
    let isWithin = (raw .> scaling.low) .& (raw .< scaling.high)
    guard all(isWithin) || hasInertialFrames else { throw .overflow }
    let value = (raw + scaling.offset) * scaling.gain
    func vector(_ lane: Int) throws(DriverError) -> Vector3 {
      let vector = Vector3(value[lane], value[lane + 1], value[lane + 2])
      guard vector.isFinite else { throw .overflow }
      return vector
    }
    switch kind {
    case .magnetometer: return .magneticField(try vector(0))
    case .accelerometer: return .acceleration(try vector(0))
    case .inertial:
      guard hasInertialFrames else { return .acceleration(try vector(0)) }
      func clipped(_ lane: Int) -> ClippedAxes {
        var axes: ClippedAxes = []
        for axis in 0..<3 where !isWithin[lane + axis] { axes.insert(ClippedAxes(axis: axis)) }
        return axes
      }
      return try Reading(
        angularRate: try vector(0), acceleration: try vector(3),
        clipped: InertialClipping(angularRate: clipped(0), acceleration: clipped(3)))
    case .barometer:
      return try Self.air.reading(pressure: errata.pressure(value[0]), temperature: value[1])
    case .receiver: throw .notReady("\(name) is no chip of the kernel's")
    }
  }

  /// What any barometer is made for.
  private static let air = AirRange(
    pascals: 1_000...420_000, step: 0, degrees: -60...125, degreeStep: 0)

  /// Looks at one scale, the next one at the next call: another program may have changed it.
  package mutating func verify() throws(DriverError) {
    guard !setup.watched.isEmpty else { return }
    let (attribute, text) = setup.watched[nextWatched % setup.watched.count]
    nextWatched = (nextWatched + 1) % setup.watched.count
    let found = try setup.text(attribute)
    guard found == text else {
      throw .notReady("\(attribute) was \(text) and is \(found): another program sets it")
    }
  }

  /// Whose driver it is, how it is read, and what is not to be had so.
  package var note: String? {
    guard let survey, let source else { return nil }
    let rate = "\((outputRate * 10).rounded() / 10) Hz"
    var parts = ["read through the kernel's driver \(survey.summary)"]
    switch source {
    case .buffered: parts[0] += ", its buffer at \(rate)"
    case .polled: parts[0] += ", polled at \(rate)"
    }
    parts.append(KernelSurvey.losses)
    if case .polled = source, kind == .inertial {
      parts.append("its gyro is not used: that takes a trigger for the buffer")
    }
    if kind == .inertial, survey.hasMagnetometer {
      parts.append(
        "the kernel reads its magnetometer too (in_magn), which is not used and answers nobody else"
      )
    }
    if let remark = errata.remark { parts.append(remark) }
    if setup.isReadOnly {
      parts.append("this user may not set rate, range and buffer: they are as the kernel has them")
    }
    return parts.joined(separator: "; ")
  }
}

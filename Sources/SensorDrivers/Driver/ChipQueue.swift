// A chip's queue of samples (FIFO), read many at a time.

package import SensorBus
package import SensorTypes

/// How a chip's queue is read. At rates that a host has no time for one by one, it fetches what has gathered in one burst.
package struct ChipQueue: Sendable, Hashable {
  /// What lies in the queue.
  enum Form: Sendable, Hashable {
    /// Whole samples one after the other, as they stand in the output registers.
    case samples
    /// ST's words of a tag and six bytes: the gyro's (tag 1) and the accelerometer's (2) with the same count belong
    /// together.
    case tagged
    /// InvenSense's packets of a header, the accelerometer's six bytes, the gyro's, and what is of no use here.
    case headed
  }

  /// What the status is.
  enum Status: Sendable, Hashable {
    case oneByte
    /// Two bytes, low byte first.
    case littleEndian
    /// Two bytes, high byte first.
    case bigEndian
  }

  let form: Form
  /// Samples that have gathered when the pin rises, and that a host without a pin waits for.
  let batch: Int
  /// Whether the pin rises when they have; without that a host looks by time.
  var raisesPin = true
  /// Where it stands how many units are there and, where a bit says so, whether some were lost.
  let status: UInt8
  var statusForm = Status.littleEndian
  let level: UInt16
  var overrun: UInt16 = 0
  /// Units that it holds, where no bit says that it ran over: so many are there only when some were lost, or are about to
  /// be.
  var capacity = Int.max
  /// Bytes a unit of the level.
  let unit: Int
  /// Where the burst begins: the pointer stays there.
  let output: UInt8
  /// Bytes of one sample.
  let sample: Int
  /// What empties it and lets it go on.
  let restart: [RegisterSetting]

  /// Rates up to this (Hz) are read sample by sample, as before: nothing is late then.
  static let slowest = 210.0
  /// Times a second that a host looks at a queue.
  private static let looks = 104.0
  /// The longest burst, bytes: one byte of count is 255.
  private static let longest = 252

  /// Samples to gather at a rate (Hz), of so many bytes; 1 where there is no need to, or no wish.
  static func batch(_ rate: Double, bytes: Int, gathers: Bool) -> Int {
    rate <= slowest || !gathers ? 1 : min(Int((rate / looks).rounded()), longest / bytes)
  }

  /// Reads what there is. Throws `.samplesLost` when the queue ran over, and empties it then: what is in it is not of one
  /// piece.
  func fill<Device: RegisterDevice & ~Copyable>(
    _ outputs: inout OutputChecks, from device: borrowing Device
  ) throws(DriverError) {
    // What a burst that broke off has taken is lost, and where a sample begins is not known any more; and nothing is told
    // that is older than an error.
    let wasBroken = outputs.isBroken
    outputs.isBroken = true
    let flags = try flags(device)
    if wasBroken { return try empty(&outputs, device) }
    guard flags & overrun == 0, Int(flags & level) < capacity else {
      try empty(&outputs, device)
      throw .samplesLost
    }
    // Whole samples only; the rest is there the next time. All of them: what a host that was away for a while left behind
    // would be taken for newer than it is, and the pin rises no more while as many as a batch are left.
    let waiting = Int(flags & level) * unit
    var left = waiting - waiting % sample
    outputs.queue.clear()
    while left > 0 {
      let bytes = min(left, Self.longest - Self.longest % sample)
      left -= bytes
      var failure: BusError?
      withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 1) { buffer in
        do throws(BusError) {
          try device.read(output, into: buffer)
          outputs.queue.take(UnsafeRawBufferPointer(buffer), form, sample)
        } catch {
          failure = error
        }
      }
      if let failure {
        outputs.queue.clear()
        throw .bus(failure)
      }
    }
    outputs.isBroken = false
  }

  private func flags<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> UInt16 {
    switch statusForm {
    case .oneByte: UInt16(try device.get(status))
    case .littleEndian: try device.get(status, count: 2).uint16LittleEndian(0)
    case .bigEndian: try device.get(status, count: 2).uint16LittleEndian(0).byteSwapped
    }
  }

  private func empty<Device: RegisterDevice & ~Copyable>(
    _ outputs: inout OutputChecks, _ device: borrowing Device
  ) throws(DriverError) {
    outputs.queue = SampleQueue()
    for setting in restart { try device.put(setting.register, setting.value) }
    outputs.isBroken = false
  }
}

/// Samples that were read in one burst and are told one after the other.
struct SampleQueue: Sendable {
  private var samples: [RegisterBlock] = []
  private var next = 0
  /// A tagged word whose other half has not come yet.
  private var half: (tag: UInt8, block: RegisterBlock)?

  /// Samples that were read and not told.
  var count: Int { samples.count - next }

  mutating func first() -> RegisterBlock? {
    guard next < samples.count else { return nil }
    defer { next += 1 }
    return samples[next]
  }

  /// Drops what was told; a half waits on.
  mutating func clear() {
    samples.removeAll(keepingCapacity: true)
    next = 0
  }

  /// Takes a burst behind what is there.
  mutating func take(_ bytes: UnsafeRawBufferPointer, _ form: ChipQueue.Form, _ size: Int) {
    switch form {
    case .samples:
      for start in stride(from: 0, to: bytes.count, by: size) {
        var block = RegisterBlock()
        for index in 0..<size { block[index] = bytes[start + index] }
        samples.append(block)
      }
    case .tagged:
      for start in stride(from: 0, to: bytes.count - 6, by: 7) { take(word: bytes, at: start) }
    case .headed:
      // An empty queue's packet has its highest bit up, a sample's the next two: both sensors, 16 bits each.
      for start in stride(from: 0, to: bytes.count, by: size) where bytes[start] & 0xF0 == 0x60 {
        var block = RegisterBlock()
        for index in 0..<12 { block[index] = bytes[start + 1 + index] }
        samples.append(block)
      }
    }
  }

  /// A half without its other one is dropped.
  private mutating func take(word bytes: UnsafeRawBufferPointer, at start: Int) {
    let (sensor, count) = (bytes[start] >> 3, bytes[start] >> 1 & 3)
    guard sensor == 1 || sensor == 2 else { return }
    let isPair = half.map { $0.tag >> 1 & 3 == count && $0.tag >> 3 != sensor } ?? false
    var block = isPair ? half?.block ?? RegisterBlock() : RegisterBlock()
    for index in 0..<6 { block[(sensor == 1 ? 0 : 6) + index] = bytes[start + 1 + index] }
    if isPair {
      half = nil
      samples.append(block)
    } else {
      half = (bytes[start], block)
    }
  }
}

/// A chip that can queue its samples, and does so at rates above 208 Hz.
package protocol QueuedChip: FlaggedChip {
  /// How the queue is read; `nil` at rates at which each sample is fetched by itself.
  var queue: ChipQueue? { get }

  /// The newest sample, at rates at which each is fetched by itself.
  func pollOutputs<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading?
}

extension QueuedChip {
  /// The last step of a start: the queue begins empty.
  var queueSteps: [StartStep] { queue.map { [StartStep.write($0.restart)] } ?? [] }

  /// Samples that a look at the chip brings.
  package var batch: Int { queue?.batch ?? 1 }

  /// Whether the pin rises for what a look brings.
  package var raisesPin: Bool { queue?.raisesPin ?? true }

  /// The oldest sample that was not told yet; the queue is read when all were.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    if outputs.queue.count == 0 {
      guard let queue else { return try pollOutputs(device, &outputs) }
      try queue.fill(&outputs, from: device)
    }
    guard let block = outputs.queue.first() else { return nil }
    let reading = try reading(block)
    try outputs.check(block)
    return reading
  }
}

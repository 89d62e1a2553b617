// When conversions finish, what the interrupt pin does about it, and the output registers of ST's chips.

import SensorTypes

/// The conversions that were finished since the last look.
struct Conversions {
  /// When the first of them was complete, nanoseconds.
  var first: Int64
  /// When the last of them was complete, nanoseconds.
  var last: Int64
  /// How many they are, at least 1.
  var count: UInt64
  /// The number of the last one since power-on, for its noise.
  var index: UInt64
}

/// Periodic or single conversions on the chip's own clock.
struct ConversionSchedule: Sendable {
  /// When the next conversion is complete, nanoseconds; `.max` while idle.
  private(set) var next = Int64.max
  /// Nanoseconds between conversions; 0 for a single one.
  private(set) var period: Int64 = 0
  private var index: UInt64 = 0

  var isIdle: Bool { next == .max }

  /// Starts periodic conversions: the first `firstAfter` seconds from `now`, then each `every` seconds.
  mutating func start(at now: Int64, firstAfter: Double, every: Double) {
    next = now &+ max(1, Int64((firstAfter * 1e9).rounded()))
    period = max(1000, Int64((every * 1e9).rounded()))
  }

  /// Starts periodic conversions on the raster that `origin` and `every` span, not before
  /// `notBefore` seconds from `now`.
  mutating func start(at now: Int64, onRasterOf origin: Int64, notBefore: Double, every: Double) {
    period = max(1000, Int64((every * 1e9).rounded()))
    let earliest = now &+ max(0, Int64((notBefore * 1e9).rounded()))
    next = origin &+ ((earliest &- origin) / period &+ 1) &* period
  }

  /// Starts one conversion that takes `duration` seconds.
  mutating func single(at now: Int64, duration: Double) {
    next = now &+ max(1, Int64((duration * 1e9).rounded()))
    period = 0
  }

  /// Ends conversions; one in progress is lost.
  mutating func stop() {
    next = .max
  }

  /// Takes what is complete by `now`.
  mutating func take(until now: Int64) -> Conversions? {
    guard next <= now else { return nil }
    let first = next
    if period == 0 {
      next = .max
      index &+= 1
      return Conversions(first: first, last: first, count: 1, index: index)
    }
    let more = (now - first) / period
    let last = first + more * period
    next = last + period
    index &+= UInt64(more) &+ 1
    return Conversions(first: first, last: last, count: UInt64(more) + 1, index: index)
  }
}

/// The level of an interrupt output and its last rising edge.
struct InterruptPin: Sendable {
  private(set) var level = false
  private var edge: Int64?

  mutating func set(_ high: Bool, at time: Int64) {
    if high && !level { edge = time }
    level = high
  }

  /// A pulse too short to be seen as a level.
  mutating func pulse(at time: Int64) { edge = time }

  mutating func take() -> Timestamp? {
    defer { edge = nil }
    return edge.map { Timestamp(nanoseconds: $0) }
  }

  var isWaiting: Bool { edge != nil }
}

/// The six output registers of an ST three-axis sensor with their data-ready and overrun bits.
struct AxisOutputs: Sendable {
  private var newest = SIMD3<Int16>()
  private var visible = SIMD3<Int16>()
  /// Axes whose low byte was read and whose high byte was not: held while block update is on.
  private var held: UInt8 = 0
  /// Bits 0 to 2: an axis has data that was not read; bit 3: all three had.
  private(set) var ready: UInt8 = 0
  /// Bits 0 to 3, likewise: data was replaced before it was read.
  private(set) var overrun: UInt8 = 0

  /// The status register as ST lays it out: overrun in the high half, data ready in the low.
  var status: UInt8 { overrun << 4 | ready }

  /// Marks new data that came `count` conversions after the last look; `frozen` keeps the old values.
  mutating func load(_ value: SIMD3<Int16>, count: UInt64, blockUpdate: Bool, frozen: Bool) {
    let lost = count > 1 ? 0x0F : ready
    overrun |= lost
    ready = 0x0F
    guard !frozen else { return }
    newest = value
    for axis in 0..<3 where !blockUpdate || held & (1 << UInt8(axis)) == 0 {
      visible[axis] = value[axis]
    }
  }

  /// Reads the status at 0x27 or an output at 0x28 to 0x2D, where ST's older chips have them; `nil` for another register.
  mutating func byte(at register: UInt8, blockUpdate: Bool, isBigEndian: Bool) -> UInt8? {
    guard (0x28...0x2D).contains(register) else { return register == 0x27 ? status : nil }
    let offset = Int(register) - 0x28
    return byte(isBigEndian ? offset ^ 1 : offset, blockUpdate: blockUpdate, clearsWhole: false)
  }

  /// Reads output byte 0 to 5 (low byte first). Reading a high byte clears the axis; `clearsWhole` says
  /// whether one high byte clears the common bit too or only the last of the three does.
  mutating func byte(_ offset: Int, blockUpdate: Bool, clearsWhole: Bool) -> UInt8 {
    let axis = offset / 2
    let bit = UInt8(1) << UInt8(axis)
    let value = UInt16(bitPattern: visible[axis])
    guard offset % 2 == 1 else {
      if blockUpdate { held |= bit }
      return UInt8(value & 0xFF)
    }
    held &= ~bit
    visible[axis] = newest[axis]
    ready &= ~bit
    overrun &= ~bit
    if clearsWhole || ready & 0x07 == 0 { ready = 0 }
    if overrun & 0x07 == 0 { overrun = 0 }
    return UInt8(value >> 8)
  }
}

/// Rounds to a 16-bit output, held at the ends of the range.
func saturated(_ value: Double) -> Int16 {
  guard value == value else { return 0 }
  return Int16(max(-32768, min(32767, value.rounded())))
}

/// Rounds to a signed number of `bits` bits, held at the ends of the range.
func saturated(_ value: Double, bits: Int) -> Int32 {
  guard value == value else { return 0 }
  let limit = Double(Int64(1) << Int64(bits - 1))
  return Int32(max(-limit, min(limit - 1, value.rounded())))
}

// What an accelerometer and a gyro that convert together give: counts of two sensors, and their bytes.

import LinearAlgebra
import SensorTypes

/// One of the two sensors, as its chip is set up.
struct InertialChannel {
  /// Of one axis, in the sensor's unit.
  var noise: Double
  /// A count, in that unit.
  var count: Double
  /// What a self-test adds, in that unit.
  var deflection = Vector3.zero

  /// A gyro's, from degrees: degrees a second of noise and counts a degree a second.
  static func rate(noise: Double, countsPerDegree: Double) -> InertialChannel {
    InertialChannel(
      noise: noise * ChipErrors.degree, count: ChipErrors.degree / countsPerDegree)
  }

  /// An accelerometer's, from g: g of noise and counts a g.
  static func force(noise: Double, countsPerG: Double) -> InertialChannel {
    InertialChannel(noise: noise * ChipErrors.g, count: ChipErrors.g / countsPerG)
  }

  func counts(_ measured: Vector3) -> SIMD3<Int16> {
    let output = measured + deflection
    var counts = SIMD3<Int16>()
    for axis in 0..<3 { counts[axis] = saturated(output[axis] / count) }
    return counts
  }
}

/// What is read of both, and of the thermometer.
struct InertialCounts: Sendable {
  var force = SIMD3<Int16>()
  var rate = SIMD3<Int16>()
  var temperature: Int16 = 0

  /// One byte of a number: the even ones are the high bytes.
  static func bigEndian(_ value: Int16, _ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: index % 2 == 0 ? value >> 8 : value)
  }

  /// One byte of three numbers.
  static func bigEndian(_ values: SIMD3<Int16>, _ index: Int) -> UInt8 {
    bigEndian(values[index / 2], index)
  }

  /// One byte of three numbers, the even ones being the low bytes.
  static func littleEndian(_ values: SIMD3<Int16>, _ index: Int) -> UInt8 {
    bigEndian(values[index / 2], index + 1)
  }
}

extension TwinCore {
  /// Both sensors' counts of the moment `at`.
  func convert(
    at moment: Int64, force: InertialChannel, rate: InertialChannel, streams: UInt64,
    _ done: Conversions, into counts: inout InertialCounts
  ) {
    counts.force = force.counts(
      self.force(at: moment, sigma: force.noise, stream: streams, done))
    counts.rate = rate.counts(
      self.rate(at: moment, sigma: rate.noise, stream: streams + 1, done))
  }
}

/// The data-ready flag of a chip, and what it does to the interrupt pin.
struct ReadyFlag: Sendable {
  /// How the pin is set up.
  struct Pin {
    /// Data ready reaches it.
    var raises: Bool
    /// It stays until the flag is let down; without it there are pulses only.
    var latches: Bool
    var isActiveLow: Bool
  }

  private(set) var isUp = false

  mutating func rise(_ done: Conversions, _ setting: Pin, _ pin: inout InterruptPin) {
    isUp = true
    guard setting.raises else { return }
    if setting.latches {
      drive(setting, at: done.first, &pin)
    } else {
      pin.pulse(at: done.last)
    }
  }

  /// What has been ready was read.
  mutating func fall(_ setting: Pin, at time: Int64, _ pin: inout InterruptPin) {
    isUp = false
    drive(setting, at: time, &pin)
  }

  /// The level that belongs to flag and setting.
  func drive(_ setting: Pin, at time: Int64, _ pin: inout InterruptPin) {
    let level = setting.latches && setting.raises && isUp
    pin.set(level != setting.isActiveLow, at: time)
  }
}

/// A chip with a bus of its own, to which it can let the host through.
protocol PassThroughTwin: ChipTwin {
  /// Whether the host sees the chips behind it.
  var isBypassOpen: Bool { get }
}

// Memsic MMC5983MA magnetometer (datasheet rev. A): write-only control registers, SET and RESET, bridge offset, interrupt.

import LinearAlgebra
import SensorTypes

/// The twin of an MMC5983MA over I2C.
package struct MMC5983MATwin: ResettingTwin {
  /// The register that tells which chip it is.
  package let identityRegister: UInt8? = 0x2F
  /// What it stands on.
  package var core: TwinCore

  /// Internal Control 0 to 2, none of which can be read.
  private var controls: [UInt8] = [0, 0, 0]
  /// 1 after a SET, -1 after a RESET; and when that was.
  private var polarity = 1.0
  /// Whether the film follows SET and RESET: not without the capacitor on the CAP pin.
  var turnsFilm = true
  private var turnedAt = Int64.min
  private var outputs = [UInt8](repeating: 0, count: 7)
  private var isDone = false

  /// The bridges' offset at 25 degrees, microtesla, and what a kelvin does to it: within half a gauss.
  static let bridge = Vector3(35, -48, 22)
  static let bridgePerKelvin = Vector3(0.1, 0.05, -0.15)

  /// Makes a chip that is not powered yet: call `powerOn`.
  package init(_ core: TwinCore) { self.core = core }

  /// "The power on time is 10 ms"; nothing says that the interface is dead meanwhile.
  package let startUpTime = 0.001

  /// Registers take their reset values.
  package mutating func reset() {
    controls = [0, 0, 0]
    (polarity, turnedAt) = (1, .min)
    core.schedule.stop()
    for index in outputs.indices { outputs[index] = 0 }
    isDone = false
    core.pin = InterruptPin()
  }

  /// Reads one register, with the side effects of reading it.
  package mutating func readByte(_ register: UInt8) -> UInt8 {
    switch register {
    case 0x00...0x06: outputs[Int(register)]
    case 0x07: UInt8(max(0, min(255, (core.stimulus(at: core.now).temperature + 75) / 0.8)))
    // OTP_Rd_Done and Meas_M_Done. The latter goes down with a "new measurement command"; whether the chip gives itself
    // one for each of the continuous measurements is left open, and not modelled.
    case 0x08: 0x10 | (isDone ? 0x01 : 0)
    case 0x2F: 0x30
    default: 0
    }
  }

  /// Writes one register, with the side effects of writing it.
  package mutating func writeByte(_ register: UInt8, _ value: UInt8) {
    switch register {
    case 0x08: if value & 0x01 != 0 { core.pin.set(false, at: core.now) }
    case 0x09:
      controls[0] = value
      if value & 0x08 != 0 { turn(1) }
      if value & 0x10 != 0 { turn(-1) }
      if value & 0x01 != 0, rate == nil {
        isDone = false
        core.schedule.single(at: core.now, duration: duration)
      }
    case 0x0A:
      controls[1] = value
      if value & 0x80 != 0 { reset() }
    case 0x0B:
      controls[2] = value
      core.schedule.stop()
      if let rate {
        // The frequencies are those of what the bandwidth allows.
        core.convert(every: max(1 / rate, duration))
      }
    default: break
    }
  }

  private mutating func turn(_ sign: Double) {
    guard turnsFilm else { return }
    if sign != polarity { turnedAt = core.now }
    polarity = sign
  }

  /// CM_Freq with Cmm_en, Hz.
  private var rate: Double? {
    guard controls[2] & 0x08 != 0 else { return nil }
    return [nil, 1, 10, 20, 50, 100, 200, 1000][Int(controls[2] & 0x07)]
  }

  /// Seconds of a measurement: BW.
  private var duration: Double { [0.008, 0.004, 0.002, 0.0005][Int(controls[1] & 0x03)] }

  /// Takes note of every conversion that is complete.
  package mutating func finish() {
    guard let done = core.schedule.take(until: core.now) else { return }
    isDone = true
    if controls[0] & 0x04 != 0 { core.pin.set(true, at: done.first) }
    guard !tampering.isFrozen else { return }
    // Total RMS noise: 0.4, 0.6, 0.8, 1.2 mG.
    let sigma = [0.04, 0.06, 0.08, 0.12][Int(controls[1] & 0x03)]
    let begin = done.last &- Int64(duration * 1e9)
    let middle = done.last &- Int64(duration * 0.5e9)
    var field = core.field(
      at: middle, sigma: Vector3(repeating: sigma), stream: 13, done)
    // Left-handed: Z points the other way.
    field.z = -field.z
    // A measurement during which the film was turned about is neither; with Auto_SR_en it is of both.
    let sign = begin < turnedAt && turnedAt < done.last ? 0 : polarity
    let kelvin = core.stimulus(at: middle).temperature - 25
    let offset = controls[0] & 0x20 != 0 ? .zero : Self.bridge + Self.bridgePerKelvin * kelvin
    let measured = (controls[0] & 0x20 != 0 ? 1 : sign) * field + offset
    outputs[6] = 0
    for axis in 0..<3 {
      let counts = saturated(measured[axis] / 100 * 16384, bits: 18) + 131_072
      outputs[2 * axis] = UInt8(truncatingIfNeeded: counts >> 10)
      outputs[2 * axis + 1] = UInt8(truncatingIfNeeded: counts >> 2)
      outputs[6] |= UInt8(counts & 0x03) << UInt8(6 - 2 * axis)
    }
  }

  /// The pin is driven once its interrupt is enabled.
  package var nextRise: Int64 { controls[0] & 0x04 != 0 ? core.schedule.next : .max }
}

extension TwinDescription {
  /// What SET and RESET leave: 1 mG of repeatability, 3 mG over all temperatures. Sensitivity 5 %, of which a fifth
  /// is taken.
  static let mmc5983ma = TwinDescription(
    "MMC5983MA", isMagnetometer: true, make: MMC5983MATwin.init
  ) { random, _ in
    .magnetometer(bias: 0.1, perKelvin: 0.005, scale: 0.01, clock: 0.03, &random)
  }
}

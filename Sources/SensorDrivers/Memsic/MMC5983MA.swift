// The Memsic MMC5983MA magnetometer on I2C (0x30).

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// Memsic MMC5983MA, three-axis magnetometer, 18 bits over +-8 gauss, measuring continuously.
///
/// Its bridges have an offset of up to half a gauss, which goes with temperature. After a SET the chip puts out the
/// field and that offset, after a RESET the field turned about and that offset. The start takes eight single
/// measurements of 2 ms, after a SET or a RESET each, of which a motion of the board falls out; nothing is measured
/// before they agree. Every ten seconds (but not more often than every 300 conversions) the driver measures in both states
/// again; a conversion after SET or RESET may have begun before it, and is dropped. A film that does not follow them (its
/// capacitor is missing, or it was damaged in soldering) would make offset of the field: that is an error.
///
/// Nothing that is written can be read back: a chip that lost its configuration falls silent. Figures: MMC5983MA
/// datasheet rev. A.
package struct MMC5983MA: MemsicChip, Hashable {
  /// The rates of continuous measurement, Hz; the code is the index and 1 more.
  package static let outputRates: [Double] = [1, 10, 20, 50, 100, 200, 1000]
  /// Milliseconds of a measurement by the code of the bandwidth.
  private static let measurementTimes = [8, 4, 2, 0.5]
  /// How far the field may move, microtesla on an axis, between two conversions that are to have one offset.
  private static let stillness = 2.0
  /// How far the start's measurements may lie off what they say together, microtesla on an axis: noise is 0.3 of it.
  /// Beside a cable or a motor whose field alternates by more it is tried again.
  private static let agreement = 1.0
  /// Half of the weakest field on earth (22 microtesla, WMM2025), microtesla: less is turned about by no SET or RESET that
  /// has acted.
  private static let leastTurned = 10.0
  /// What turns the bridges before each of them: RESET (-1) or SET. In the order of Thue and Morse a field that changes
  /// steadily cancels, and one that alternates, at whatever rate, is never in step with all of them.
  private static let turns: [Double] = [-1, 1, 1, -1, 1, -1, -1, 1]

  /// Where the driver stands between SET and RESET.
  private enum Phase: Hashable {
    /// After a SET, so many conversions since the offset was measured.
    case set(Int)
    /// The conversion may have begun before the RESET.
    case resetting
    /// The next conversion is all after the RESET.
    case reset
    /// The conversion may have begun before the SET.
    case setting
    /// The next conversion is the first all after the SET, and closes a measurement of the offset.
    case closing
    /// A SET or RESET was sent and may have failed.
    case unknown
    /// The conversion may have begun before the SET that came after such a failure.
    case settling
  }

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  private let rateIndex: Int
  private var seen = MemsicOutputs()
  private var phase = Phase.set(0)
  /// The bridges', microtesla: the start ends when it is known.
  private var offset = Vector3.zero
  /// The start's measurements, after a SET the first of them.
  private var first: [Vector3] = []
  /// The newest outputs before and after the RESET.
  private var before = Vector3.zero, turned = Vector3.zero

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
  }

  /// The code of the bandwidth. The table of rates wants 01 for 200 Hz and 11 for 1000 Hz, and allows 00 below; the
  /// table of characteristics allows 00 up to 50 Hz only, and 01 up to 100: at 100 Hz 01 is what both have.
  var bandwidth: UInt8 { outputRate <= 50 ? 0 : outputRate <= 200 ? 1 : 3 }

  /// Conversions from one measurement of the offset to the next.
  var interval: Int { Int(max(300, 10 * outputRate)) }

  /// The name in board files.
  package var name: String { "MMC5983MA" }

  package var latency: Double { Self.measurementTimes[Int(bandwidth)] / 2000 }

  /// Identity, reset (10 ms), the measurements that tell the offset, the last of them after a SET (1 ms each, and 2 ms
  /// at the bandwidth's code 2), bandwidth, interrupt, continuous measurement. The identity is read once more, known as
  /// it is, to say that nothing is known of the offset any more.
  package var startSteps: [StartStep] {
    var steps: [StartStep] = [
      .identify(register: Register.product, anyOf: [Register.identity]),
      .write([RegisterSetting(Register.control1, Register.softReset)]), .wait(seconds: 0.01),
      .write([RegisterSetting(Register.control1, 2)]),
      .read(register: Register.product, count: 1),
    ]
    for turn in Self.turns {
      let command = turn > 0 ? Register.set : Register.reset
      steps += [
        .write([RegisterSetting(Register.control0, command)]), .wait(seconds: 0.001),
        .write([RegisterSetting(Register.control0, Register.measure)]), .wait(seconds: 0.0022),
        .await(
          register: Register.status, mask: Register.done, value: Register.done, every: 0.001,
          looks: 10, what: "its measurement does not end"),
        .read(register: Register.output, count: 7),
      ]
    }
    steps.append(
      .write([
        RegisterSetting(Register.control1, bandwidth),
        RegisterSetting(Register.control0, Register.interrupt),
        RegisterSetting(Register.control2, Register.continuous | UInt8(rateIndex + 1)),
      ]))
    return steps
  }

  /// Takes a measurement of the start. With the last of them the offset is known, or that the field was too unsteady.
  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    guard register == Register.output else {
      (first, phase) = ([], .set(0))
      return
    }
    do {
      first.append(try MemsicConversion.output18(block))
    } catch {
      // While it runs an overflow passes by itself; without its offset it does not run.
      throw .notReady("\(name): beyond the measuring range, so that its offset is not known")
    }
    // The first conversion is not this one.
    seen.take(block)
    guard first.count == Self.turns.count else { return }
    // Least squares of outputs = offset + turn (field + slope time); the columns are at right angles.
    let times = first.indices.map { Double($0) - Double(first.count - 1) / 2 }
    let squares = times.reduce(0) { $0 + $1 * $1 }
    var (mean, field, slope) = (Vector3.zero, Vector3.zero, Vector3.zero)
    for (index, output) in first.enumerated() {
      let turned = Self.turns[index] * output
      mean += output * (1 / Double(first.count))
      field += turned * (1 / Double(first.count))
      slope += turned * (times[index] / squares)
    }
    for (index, output) in first.enumerated() {
      let off = output - mean - Self.turns[index] * (field + times[index] * slope)
      guard max(abs(off.x), abs(off.y), abs(off.z)) <= Self.agreement else {
        throw .notReady("\(name): the field was too unsteady to measure its offset")
      }
    }
    guard field.length >= Self.leastTurned else { throw notTurned }
    offset = mean
  }

  private var notTurned: DriverError {
    .notReady(
      "\(name): SET and RESET do not turn its film about, or there is no field of the earth")
  }

  /// No continuous measurement; registers are kept.
  package var sleepSettings: [RegisterSetting] { [RegisterSetting(Register.control2, 0x00)] }

  /// The newest field in microtesla. The interrupt is taken back before the outputs are read: a conversion that ends
  /// meanwhile raises it again.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard try device.get(Register.status) & Register.done != 0 else { return nil }
    try device.put(Register.status, Register.done)
    guard let block = try outputs.read(device, Register.output, count: 7) else { return nil }
    let output = try MemsicConversion.output18(block)
    guard try seen.isNew(block, &outputs) else { return nil }
    // The chip's own axes are left-handed: X and Y as they are printed, Z turned. ArduPilot and PX4 turn all three, which
    // is the same seen from behind.
    return try follow(output, device).map { .magneticField(Vector3($0.x, $0.y, -$0.z)) }
  }

  /// What a new output says, and what is to be done with the chip next.
  private mutating func follow<Device: RegisterDevice & ~Copyable>(
    _ output: Vector3, _ device: borrowing Device
  ) throws(DriverError) -> Vector3? {
    switch phase {
    case .set(let count):
      if count < interval {
        phase = .set(count + 1)
      } else {
        before = output
        try turn(Register.reset, device, .resetting)
      }
      return output - offset
    case .resetting:
      phase = .reset
      return nil
    case .reset:
      turned = output
      try turn(Register.set, device, .setting)
      // Of a film that has not turned it would be the opposite of the field.
      let field = offset - output
      return field.dot(before - offset) > 0 ? field : nil
    case .setting:
      phase = .closing
      return nil
    case .closing:
      guard (output - offset).dot(turned - offset) < 0 else { throw notTurned }
      let change = output - before
      if abs(change.x) <= Self.stillness, abs(change.y) <= Self.stillness,
        abs(change.z) <= Self.stillness
      {
        // The bridges', of an output that was turned about between two: their mean is what it would have been without.
        offset = 0.5 * (0.5 * (before + output) + turned)
      }
      phase = .set(0)
      return output - offset
    case .unknown:
      try turn(Register.set, device, .settling)
      return nil
    case .settling:
      phase = .set(0)
      return nil
    }
  }

  private mutating func turn<Device: RegisterDevice & ~Copyable>(
    _ command: UInt8, _ device: borrowing Device, _ next: Phase
  ) throws(DriverError) {
    phase = .unknown
    try device.put(Register.control0, command)
    phase = next
  }

  /// The registers that the driver touches.
  private enum Register {
    /// Bits 17:10 and 9:2 of X, Y, Z, then bits 1:0 of all three in one byte.
    static let output: UInt8 = 0x00
    /// OTP_Rd_Done bit 4, Meas_T_Done bit 1, Meas_M_Done bit 0; written, it takes the interrupt back.
    static let status: UInt8 = 0x08
    /// Auto_SR_en bit 5, Reset, Set, INT_meas_done_en, TM_T, TM_M.
    static let control0: UInt8 = 0x09
    /// SW_RST bit 7, BW in bits 1:0.
    static let control1: UInt8 = 0x0A
    /// Cmm_en bit 3, CM_Freq in bits 2:0.
    static let control2: UInt8 = 0x0B
    static let product: UInt8 = 0x2F

    static let identity: UInt8 = 0x30
    static let done: UInt8 = 0x01
    static let softReset: UInt8 = 0x80
    static let interrupt: UInt8 = 0x04
    static let measure: UInt8 = 0x01
    static let set: UInt8 = 0x0C
    static let reset: UInt8 = 0x14
    static let continuous: UInt8 = 0x08
  }
}

extension ChipDescription {
  /// Memsic MMC5983MA. It has a coil to test it with, and no figure of what that should do: it is not run.
  static let mmc5983ma = ChipDescription(
    "MMC5983MA", .magnetometer, addresses: [0x30],
    // OTP_Rd_Done of the status stays up; and no more than 4 of its 8 gauss.
    fingerprints: [
      .identity(
        0x2F, [0x30], .certain, nil,
        [.bits(0x10, of: 0x08, are: 0x10)] + [0, 2, 4].map { .output($0, in: 0x40...0xBF) })
    ]
  ) { MMC5983MA(outputRate: $0) }
}

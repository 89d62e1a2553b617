// The PNI RM3100 magnetometer on I2C (0x20 to 0x23).

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// PNI RM3100, three magneto-inductive coils one after the other, continuously: as many cycles as the rate
/// leaves time for. No overflow flag, no temperature, nothing to set or reset.
///
/// Figures: PNI's user manual, document 1017252 r03.
package struct RM3100: FlaggedChip, Hashable {
  /// How many oscillations of a coil are counted, which makes the gain.
  package enum CycleCount: UInt8, Sendable, Hashable, CaseIterable {
    /// Up to 534 conversions a second, 30 nT of noise.
    case cycles50 = 50
    /// Up to 283 conversions a second, 20 nT.
    case cycles100 = 100
    /// Up to 147 conversions a second, 15 nT.
    case cycles200 = 200

    /// Counts a microtesla (table 3-1).
    package var countsPerMicrotesla: Double {
      switch self {
      case .cycles50: 20
      case .cycles100: 38
      case .cycles200: 75
      }
    }

    /// Conversions of all three axes a second at the most (table 3-1).
    package var highestRate: Double {
      switch self {
      case .cycles50: 534
      case .cycles100: 283
      case .cycles200: 147
      }
    }
  }

  /// The rates that the driver uses, Hz (table 5-4), slowest first. They are nominal: one chip in three is more than
  /// 7 % off.
  package static let outputRates = [0.6, 1.2, 2.3, 4.5, 9, 18, 37, 75, 150, 300]
  /// The end of the measuring range, microtesla (table 3-1).
  package static let range = 800.0

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// Cycles of every axis.
  package let cycles: CycleCount
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    let rate = Self.outputRates[rateIndex]
    self.outputRate = rate
    cycles = rate > 150 ? .cycles50 : rate > 75 ? .cycles100 : .cycles200
  }

  /// Cycles and rate. The mode is not among them: to read it ends continuous measurement (5.2).
  package var registerImage: [RegisterSetting] {
    let axes = [Register.cycleCountX, Register.cycleCountY, Register.cycleCountZ]
    return axes.flatMap {
      [RegisterSetting($0, 0), RegisterSetting($0 + 1, cycles.rawValue)]
    } + [RegisterSetting(Register.rate, Register.slowest - UInt8(rateIndex))]
  }

  /// The name in board files.
  package var name: String { "RM3100" }

  /// Half the three measurements.
  package var latency: Double { 0.5 / cycles.highestRate }

  /// Identity, stop, what was measured before, configuration, read-back, continuous measurement. There is no reset.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.revision, anyOf: [Register.identity]),
      .write([RegisterSetting(Register.mode, Register.stopped)]),
      .discard(register: Register.output, count: 9), .configure(),
      .write([RegisterSetting(Register.mode, Register.continuous)]),
    ]
  }

  /// Idle; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(Register.mode, Register.stopped)]
  }

  /// DRDY of STATUS.
  package var dataReady: (register: UInt8, mask: UInt8) { (Register.status, 0x80) }

  /// Three bytes an axis, high byte first.
  package var output: (register: UInt8, count: Int) { (Register.output, 9) }

  /// The field in microtesla, sensor frame; throws `.overflow` beyond 800 on an axis, where nothing is specified.
  /// Worked number: at 200 cycles 00 1D 4C is 7500 counts = 100 microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    var field = Vector3.zero
    for axis in 0..<3 {
      field[axis] = Double(block.int24BigEndian(3 * axis)) / cycles.countsPerMicrotesla
      guard abs(field[axis]) <= Self.range else { throw .overflow }
    }
    return .magneticField(field)
  }

  /// The registers that the driver touches (5, table 5-1).
  enum Register {
    static let poll: UInt8 = 0x00
    /// CMM: LDM, CMZ, CMY, CMX, DRDM in bits 3:2, ALARM, START.
    static let mode: UInt8 = 0x01
    /// High byte, low byte; Y and Z likewise.
    static let cycleCountX: UInt8 = 0x04
    static let cycleCountY: UInt8 = 0x06
    static let cycleCountZ: UInt8 = 0x08
    /// TMRC: 0x92 is 600 Hz, each more is half of it.
    static let rate: UInt8 = 0x0B
    static let output: UInt8 = 0x24
    /// BIST.
    static let selfTest: UInt8 = 0x33
    static let status: UInt8 = 0x34
    /// REVID.
    static let revision: UInt8 = 0x36

    static let identity: UInt8 = 0x22
    static let stopped: UInt8 = 0x00
    /// All axes; DRDY after all three (DRDM 10, table 5-3: 00 wants an alarm besides); START.
    static let continuous: UInt8 = 0x79
    /// TMRC of the slowest rate used.
    static let slowest: UInt8 = 0x9C
  }
}

extension ChipDescription {
  /// PNI RM3100.
  static let rm3100 = ChipDescription(
    "RM3100", .magnetometer, addresses: [0x20, 0x21, 0x22, 0x23],
    // TMRC is 0x92 to 0x9F (table 5-4), and the cycle counts, 200 by default, are no thousands.
    fingerprints: [
      .identity(
        RM3100.Register.revision, [RM3100.Register.identity], .certain, nil,
        [.bits(0xF0, of: RM3100.Register.rate, are: 0x90)]
          + [
            RM3100.Register.cycleCountX, RM3100.Register.cycleCountY, RM3100.Register.cycleCountZ,
          ].map {
            .bits(0xF0, of: $0)
          })
    ], selfTest: DeflectionTest.rm3100
  ) { RM3100(outputRate: $0) }
}

// The self-test of the HMC5883L.

import LinearAlgebra
package import SensorBus

/// Honeywell HMC5883L: a current through its offset straps adds a known field (form 900405 rev. E, "Self Test
/// Operation").
///
/// With a bias switched on the chip measures twice, without the current and with it, and gives the difference:
/// the field around the board is out already. At gain 5 (390 counts a gauss) it must be 243 to 575 counts with
/// the positive bias on every axis, and the same downwards with the negative one (specifications, "Self
/// Test"). Both are made, in single conversions: the first of each is dropped, because it may have the gain from
/// before, and five are averaged. Half of the difference of both is reported; about 0.15 s.
///
/// Every conversion is read in one burst with the configuration and the mode: a conversion that is over is told
/// by the mode, for RDY stays up from the one before.
package struct HMC5883SelfTest: SelfTesting {
  /// The chip's name, as in a board file.
  package let chip = HMC5883Variant.hmc5883l.rawValue

  private static let gain = HMC5883.Range.gauss4p7
  private static let countsPerGauss = 390.0
  private static let limits = 243 / countsPerGauss...575 / countsPerGauss
  /// MS1:0 at the slowest rate, without averaging: the negative bias, then the positive.
  private static let biases: [UInt8] = [0x02, 0x01]
  /// Conversions that are averaged, after the one that is dropped.
  private static let samples = 5
  private static let looks = 10

  /// How far it has come.
  private struct Run: Sendable {
    var hasBegun = false
    /// Conversions that were read, over both biases, and looks at the one under way.
    var conversions = 0
    var looks = 0
    var sums = [Vector3.zero, .zero]

    var bias: Int { conversions / (samples + 1) }
  }

  private var run = Run()

  init() {}

  /// Takes the next step.
  package mutating func step<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(DriverError) -> SelfTestProgress {
    var current = run
    // Whatever is thrown below leaves it at its beginning.
    run = Run()
    if current.hasBegun {
      guard try collect(&current, from: device) else {
        run = current
        return .wait(seconds: 0.002)
      }
    } else {
      try device.identify(
        chip, HMC5883Register.identificationA, is: HMC5883Register.identity[0])
      current.hasBegun = true
    }
    guard current.bias < Self.biases.count else {
      try device.put(HMC5883Register.configurationA, 0x00)
      try device.put(HMC5883Register.mode, HMC5883Register.idle)
      return .done(report(current))
    }
    if current.conversions % (Self.samples + 1) == 0 {
      for setting in settings(current) { try device.put(setting.register, setting.value) }
    }
    try device.put(HMC5883Register.mode, HMC5883Register.single)
    run = current
    return .wait(seconds: 0.01)
  }

  private func settings(_ run: Run) -> [RegisterSetting] {
    [
      RegisterSetting(HMC5883Register.configurationA, Self.biases[run.bias]),
      RegisterSetting(HMC5883Register.configurationB, Self.gain.rawValue << 5),
    ]
  }

  /// Adds the conversion under way; false while it is not over.
  private func collect<Device: RegisterDevice & ~Copyable>(
    _ run: inout Run, from device: borrowing Device
  ) throws(DriverError) -> Bool {
    let block = try device.get(HMC5883Register.configurationA, count: 9)
    for setting in settings(run) where block[Int(setting.register)] != setting.value {
      throw .configurationLost(
        register: setting.register, expected: setting.value,
        found: block[Int(setting.register)])
    }
    let mode = block[Int(HMC5883Register.mode)] & HMC5883Register.modeMask
    if mode == HMC5883Register.single {
      run.looks += 1
      guard run.looks < Self.looks else {
        throw .notReady("\(chip): no conversion for 30 ms of its self-test")
      }
      return false
    }
    if run.conversions % (Self.samples + 1) > 0 {
      run.sums[run.bias] += try HMC5883Conversion.counts(block, at: Int(HMC5883Register.output))
    }
    run.looks = 0
    run.conversions += 1
    return true
  }

  private func report(_ run: Run) -> SelfTestReport {
    let scale = 1 / (2 * Double(Self.samples) * Self.countsPerGauss)
    let change = (run.sums[1] - run.sums[0]) * scale
    return SelfTestReport(
      chip: chip,
      axes: SelfTestReport.Direction.allCases.enumerated().map { index, direction in
        AxisReport(
          .magneticField, direction,
          .change(SelfTestReport.Figure(change[index], limits: Self.limits, .gauss)))
      })
  }
}

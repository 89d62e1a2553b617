// What a sweep is: every setting of a driver over the whole range of what it measures, each reading
// held against what was put into the twin.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
@testable import SimulatedDevices
import Testing

/// The worst that a sweep met, in least significant bits of each channel.
struct SweepResult {
  private(set) var points = 0
  private(set) var worst: [String: Double] = [:]
  private(set) var place: [String: String] = [:]

  /// A reading was held against the truth.
  mutating func count() { points += 1 }

  /// Notes the error of one channel; what is no number is infinitely wrong.
  mutating func note(_ channel: String, _ found: Double, _ truth: Double, lsb: Double) {
    let error = abs(found - truth) / lsb
    guard !(error <= worst[channel, default: -1]) else { return }
    worst[channel] = error.isNaN ? .infinity : error
    place[channel] = "\(found) instead of \(truth)"
  }
}

/// One chip in one setting of its driver.
struct Sweep: Sendable, CustomTestStringConvertible {
  /// The name in the catalogue.
  let chip: String
  /// The setting, for a person.
  let setting: String
  /// How many readings it must have compared.
  let minimum: Int
  /// What must have been compared.
  let channels: Set<String>
  let run: @Sendable () throws -> SweepResult

  var testDescription: String { "\(chip) \(setting)" }
}

/// One three-axis sensor of a chip.
struct AxisChannel: Sendable {
  let name: String
  /// The end of the measuring range on either side, in the unit of the stimulus.
  let limit: Double
  /// One count of each axis in that unit, from the datasheet.
  let lsb: Vector3
  let put: @Sendable (inout Stimulus, Vector3) -> Void
  let get: @Sendable (Reading) -> Vector3?

  /// From one end to the other in 240 steps, and closely at both ends and around zero.
  func values(_ axis: Int) -> [Double] {
    let count = lsb[axis]
    var values = (0...240).map { -limit + 2 * limit * Double($0) / 240 }
    for fraction in [0.3, 0.7, 1.7] {
      values += [limit - fraction * count, fraction * count - limit]
      values += [fraction * count, -fraction * count]
    }
    return values
  }
}

/// Sweeps all axes of all channels at once, each a third of the way (and each channel a tenth) behind the
/// other, so that no two ever have the same value: an exchanged axis shows as a wrong one does.
func sweepAxes(
  _ channels: [AxisChannel], address: UInt8, twin: (any StimulusSource) -> any ChipTwin,
  driver: (SimulatedRegisterDevice) -> any ContractDriver
) throws -> SweepResult {
  let (bench, driver) = try ContractBench.started(address: address, twin, driver)
  let values = channels.map { channel in (0..<3).map(channel.values) }
  let count = values[0][0].count
  let axes = ["x", "y", "z"]
  var result = SweepResult()
  var last: Timestamp?
  for step in 0..<count {
    var stimulus = Stimulus()
    var truths: [Vector3] = []
    for (index, channel) in channels.enumerated() {
      var truth = Vector3.zero
      for axis in 0..<3 {
        truth[axis] = values[index][axis][(step + axis * count / 3 + index * count / 10) % count]
      }
      channel.put(&stimulus, truth)
      truths.append(truth)
    }
    bench.source.set(stimulus)
    let reading = try #require(try bench.nextReading(driver), "no reading at \(truths)")
    result.count()
    let now = bench.clock.now()
    if let last {
      // A count of the rate is a thousandth: what the driver says it is to what the chip makes it.
      let rate = driver.outputRate
      result.note("output rate", 1 / now.seconds(since: last), rate, lsb: rate / 1000)
    }
    last = now
    for (channel, truth) in zip(channels, truths) {
      let found = try #require(channel.get(reading), "\(reading) is not what \(channel.name) is")
      for (axis, name) in axes.enumerated() {
        result.note(
          "\(channel.name) \(name)", found[axis], truth[axis], lsb: channel.lsb[axis])
      }
    }
  }
  return result
}

extension Sweep {
  /// A chip with axes, swept over the whole of all its channels.
  static func axes(
    _ chip: some RegisterChip, _ setting: String, _ channels: [AxisChannel], address: UInt8,
    twin: @escaping @Sendable (TwinCore) -> any ChipTwin
  ) -> Sweep {
    let names = channels.flatMap { channel in ["x", "y", "z"].map { "\(channel.name) \($0)" } }
    return Sweep(
      chip: chip.name, setting: "\(setting), \(chip.outputRate) Hz", minimum: 241,
      channels: Set(names + ["output rate"])
    ) {
      try sweepAxes(
        channels, address: address,
        twin: { twin(TwinCore(source: $0, errors: .none)) },
        driver: { BoxedDriver(RegisterDriver($0, chip)) })
    }
  }

  /// A barometer, swept along a path; see `sweepAir`.
  static func air(
    _ chip: some RegisterChip, _ setting: String, _ path: [(pressure: Double, temperature: Double)],
    pressureStep: Double, temperatureStep: Double, settling: Int = 1, address: UInt8,
    twin: @escaping @Sendable (TwinCore) -> any ChipTwin
  ) -> Sweep {
    Sweep(
      chip: chip.name, setting: "\(setting), \(chip.outputRate) Hz", minimum: path.count,
      channels: ["pressure", "temperature"]
    ) {
      try sweepAir(
        path, pressureStep: pressureStep, temperatureStep: temperatureStep, settling: settling,
        address: address, twin: { twin(TwinCore(source: $0, errors: .none)) },
        driver: { BoxedDriver(RegisterDriver($0, chip)) })
    }
  }
}

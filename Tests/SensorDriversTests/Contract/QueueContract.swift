// What a chip with a queue owes besides: at a rate above 208 Hz, with the datasheet's figures restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// One chip at a rate at which it gathers samples.
struct QueueContract: Sendable {
  /// The chip at its +-2 g and a range of 1000 degrees a second or the next, gathering or not.
  let chip: @Sendable (_ gathers: Bool) -> any RegisterChip
  let twin: @Sendable (TwinCore) -> any ChipTwin
  /// Hz.
  let rate: Double
  /// Samples that a look brings: so many that there are about a hundred looks a second.
  let batch: Int
  /// Whether a threshold of the queue reaches the pin.
  var raises = true
  /// And does with each sample more.
  var raisesBeyond = false
  /// Whole samples that it holds before anything is lost, or said to be.
  let holds: Int
  /// A count of the gyro, degrees a second, and of the accelerometer, g.
  let step: (rate: Double, force: Double)
  /// Seconds from the moment that a sample is true of to its being complete.
  let delay: Double
  /// Noise, one sigma: g and degrees a second.
  let noise: (force: Double, rate: Double)
  /// The first read of a look, and the one of a single sample.
  let status: FaultContract.Read
  let data: FaultContract.Read
  /// What the check names after a dip in the supply: register, what is written, what is there after a reset.
  let lost: (register: UInt8, expected: UInt8, found: UInt8)

  /// Seconds in which a batch gathers.
  var gathering: Double { Double(batch) / rate }

  /// What it owes when something goes wrong; the rest is as where each sample is fetched by itself.
  func faults(_ slow: FaultContract) -> FaultContract {
    FaultContract(
      chip: slow.chip, address: slow.address, twin: slow.twin,
      driver: { boxed($0, chip(true), $1) }, world: slow.world,
      isRight: FaultContract.isMotion(forceSigma: noise.force, rateSigma: noise.rate),
      firstOfStart: slow.firstOfStart, firstOfPoll: status, data: data, stranger: slow.stranger,
      lost: .named(
        .configurationLost(register: lost.register, expected: lost.expected, found: lost.found)),
      alike: 51,
      // Of up to twelve registers.
      rounds: 27_720)
  }
}

/// A driver of whatever chip.
func boxed(
  _ device: some RegisterDevice, _ chip: some RegisterChip, _ checks: DriverChecks = .all
) -> any ContractDriver {
  BoxedDriver(RegisterDriver(device, chip, checks: checks))
}

extension ChipContract {
  /// Those of chips that have a queue.
  static let gathering = all.filter { $0.queue != nil }
}

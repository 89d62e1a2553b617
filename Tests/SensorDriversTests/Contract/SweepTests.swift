// Twin sweeps: no driver is off by more than one least significant bit, anywhere in its range.

import SensorDrivers
import SimulatedDevices
import Testing

extension Sweep {
  static let all = ChipContract.all.flatMap(\.sweeps) + receivers + [gpsd]
}

@Suite("Contract: sweeps") struct SweepTests {
  @Test("over the whole range the driver says what was put into the twin", arguments: Sweep.all)
  func sweep(_ sweep: Sweep) throws {
    let result = try sweep.result()
    #expect(result.points >= sweep.minimum)
    #expect(Set(result.worst.keys) == sweep.channels)
    for (channel, error) in result.worst {
      #expect(
        error <= 1, "\(sweep.testDescription), \(channel): \(result.place[channel] ?? "")")
    }
  }
}

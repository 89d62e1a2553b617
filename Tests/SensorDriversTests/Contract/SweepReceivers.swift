// Sweeps of the receivers: all of the earth, every height, speed and course that a receiver can say,
// each fix held against the truth of its own moment.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// One step of what a receiver says, in the unit of `GNSSFix`.
private struct ReceiverSteps {
  let time: Double
  let angle: Double
  let height: Double
  let speed: Double
  let course: Double

  /// UBX-NAV-PVT (u-blox M8 protocol description UBX-13003221): 1e-7 degree, 1 mm, 1 mm/s, 1e-5 degree.
  /// The second is whole milliseconds of the week.
  static let pvt = ReceiverSteps(time: 1e-3, angle: 1e-7, height: 1e-3, speed: 1e-3, course: 1e-5)
  /// NMEA 0183 as u-blox prints it (same document, "NMEA protocol"): 0.01 s, 1e-5 minute, 0.1 m, 0.001
  /// knot, 0.01 degree.
  static let nmea = ReceiverSteps(
    time: 0.01, angle: 1e-5 / 60, height: 0.1, speed: 0.001 * 1852 / 3600, course: 0.01)
  /// NAV-POSLLH, NAV-VELNED and NAV-TIMEUTC (u-blox 6 receiver description GPS.G6-SW-10018): 1e-7 degree, 1 mm, 1 cm/s, 1e-5 degree.
  static let parts = ReceiverSteps(time: 1e-3, angle: 1e-7, height: 1e-3, speed: 1e-2, course: 1e-5)

  static func of(_ contract: ReceiverContract) -> ReceiverSteps {
    guard contract.speaksUBX else { return nmea }
    return contract.model == .ublox5 || contract.model == .ublox6 ? parts : pvt
  }
}

/// The motion at one of `count` points, of which a range by `count - 1` is no round number: every quantity runs over its whole range, each a part of the way
/// behind the other. Heights to 50 km and speeds to 500 m/s are the limits in u-blox's data sheets.
func receiverMotion(_ point: Int, of count: Int) -> ScriptedTruth.Motion {
  func share(_ lag: Int) -> Double { Double((point + lag) % count) / Double(count - 1) }
  return ScriptedTruth.Motion(
    latitude: -90 + 180 * share(0), longitude: -180 + 360 * share(count / 3),
    altitude: -500 + 50_500 * share(count / 2), separation: -107 + 193 * share(count / 5),
    speed: 0.5 + 499.5 * share(count / 4), course: 359.99 * share(count / 7),
    climb: -100 + 200 * share(count / 6))
}

/// An angle's error the short way round.
func turned(_ found: Double, to truth: Double) -> Double {
  let difference = (found - truth).truncatingRemainder(dividingBy: 360)
  if difference > 180 { return truth + difference - 360 }
  return truth + (difference < -180 ? difference + 360 : difference)
}

extension Sweep {
  /// What every receiver says; UBX adds the climb.
  private static let said: Set = [
    "time", "latitude", "longitude", "altitude", "height", "speed", "course",
  ]

  static let receivers: [Sweep] = ReceiverContract.all.flatMap { contract in
    // A receiver that is only read has its own rate; the others go up to what they can do.
    let rates: Set<Double> = [1, min(5, contract.fastestRate), contract.fastestRate]
    return rates.sorted().map { rate in
      Sweep(
        chip: contract.chip, setting: "\(contract.testDescription), \(rate) Hz",
        minimum: 244,
        channels: contract.speaksUBX ? said.union(["climb"]) : said
      ) { sweep(contract, rate: rate) }
    }
  }

  private static func sweep(_ contract: ReceiverContract, rate: Double) -> SweepResult {
    let count = 244
    let bench = ReceiverBench(contract, rate: rate) { seconds in
      // A point an epoch; epochs lie on the whole multiples of their period.
      receiverMotion((Int((seconds * rate).rounded()) % count + count) % count, of: count)
    }
    let steps = ReceiverSteps.of(contract)
    var result = SweepResult()
    var visited: Set<Int> = []
    guard let receiver = try? bench.open() else { return result }
    // Finding the line and the talk take up to ten seconds, and each point comes by twice.
    let errors = bench.run(receiver, seconds: 12 + 2 * Double(count) / rate) { fix in
      guard receiver.isConfigured == contract.isConfigurable, fix.mode == .threeDimensional,
        let utc = fix.utc
      else { return }
      let seconds = utc - ScriptedTruth.utcStart
      let epoch = (seconds * rate).rounded()
      let truth = bench.truth.motion(epoch / rate)
      result.note("time", seconds, epoch / rate, lsb: steps.time)
      result.note("latitude", fix.latitude ?? .nan, truth.latitude, lsb: steps.angle)
      result.note(
        "longitude", turned(fix.longitude ?? .nan, to: truth.longitude), truth.longitude,
        lsb: steps.angle)
      result.note("altitude", fix.altitude ?? .nan, truth.altitude, lsb: steps.height)
      result.note(
        "height", fix.ellipsoidalAltitude ?? .nan, truth.altitude + truth.separation,
        lsb: steps.height)
      result.note("speed", fix.speed ?? .nan, truth.speed, lsb: steps.speed)
      result.note(
        "course", turned(fix.course ?? .nan, to: truth.course), truth.course, lsb: steps.course)
      if let climb = fix.verticalSpeed {
        result.note("climb", climb, truth.climb, lsb: steps.speed)
      }
      if visited.insert(Int(epoch) % count).inserted { result.count() }
    }
    #expect(errors.isEmpty)
    return result
  }
}

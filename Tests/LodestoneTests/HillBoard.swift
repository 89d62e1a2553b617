import BoardTestSupport
import SensorTypes
import SimulatedDevices

@testable import SensorHub
@testable import StateStore

/// A board on a hill, to which elevations and QNH are given from outside.
extension VirtualBoard {
  /// A board on a hill: ten minutes of rest, ten of climbing 120 m, then rest.
  static func hill(
    receiver: Bool, seed: Int = 1, position: String? = nil, seaLevel: Double = 101_325,
    weather: Double = 0, clockIsSet: Bool = true, utcStart: Double = 1_795_000_000,
    barometer: Bool = true, demand: Demand = .everything,
    prepare: (StateStore) throws -> Void = { _ in }
  ) throws -> VirtualBoard {
    try VirtualBoard(
      adapt: {
        $0.world.seaLevelPressure = seaLevel
        $0.world.weatherAmplitude = weather
      },
      edit: { _ in
        """
        schema: 1
        name: Hill
        \(position.map { "position: \($0)" } ?? "level: true")
        sensors:
        \(barometer ? "  - {chip: BMP280, bus: /dev/i2c-1, address: 0x76, rate: 5}" : "")
        \(receiver ? "  - {chip: u-blox, port: /dev/serial0, baudRate: 38400, rate: 1}" : "")
          - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c, rate: 5}
        simulation:
          seed: \(seed)
          start: {latitude: 47.4, longitude: 11.0, altitude: 800}
          legs:
            - {seconds: 600, fix: \(receiver)}
            - {seconds: 600, climb: 120}
            - {seconds: 9000}

        """
      }, records: true, demand: demand, clockIsSet: clockIsSet, utcStart: utcStart,
      prepare: prepare)
  }

  /// The error of an altitude in metres, positive above the truth.
  func altitudeError(of estimate: AbsoluteAltitudeEstimate) -> Double {
    estimate.altitude - simulation.truth(at: estimate.time).altitude
  }

  /// The elevation that the state folder keeps once the hub has stopped.
  func storedElevation() throws -> KnownAltitude.Elevation? {
    hub.stop()
    guard case .record(let known) = state.knownAltitude.current else { return nil }
    return known.elevation
  }
}

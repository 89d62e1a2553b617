// What a program says of the board's altitude: it is stored with the board.

import LocationServices
import SensorHub
import SensorTypes
import StateStore

extension ProgramServices {
  /// Stores what is said of the board's altitude, and returns the reason if it cannot.
  func set(_ statement: AltitudeStatement) -> AltitudeStatement.Problem? {
    guard let source = openedSource else {
      return .impossible(openingFailure ?? "there is no board")
    }
    guard let (store, clock) = source.knownAltitude else {
      return .impossible("this board keeps nothing")
    }
    do {
      switch statement {
      case .elevation(let elevation, let accuracy):
        try store.set(KnownAltitude.Elevation(elevation, accuracy: accuracy, now: clock))
      case .qnh(let qnh, let accuracy, let stationElevation, let age):
        try store.set(
          KnownAltitude.QNH(
            qnh, accuracy: accuracy, stationElevation: stationElevation, age: age, now: clock))
      case .unknown: try store.clear()
      }
      return nil
    } catch let error as KnownAltitudeError {
      return .unfit(error.description)
    } catch {
      return .impossible("\(error)")
    }
  }
}

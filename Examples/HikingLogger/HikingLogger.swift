// Writes a walk as a table, a line each ten metres, until it is interrupted. Without hardware:
// LODESTONE_BOARD=Examples/walk.yaml swift run -c release hiking-logger >walk.csv
//
// The receiver runs as long as the loop does. Where the walker rests it rests too, and the loop waits.

import CoreLocation

@main
struct HikingLogger {
  /// Metres between two lines.
  static let step = 10.0

  static func main() async throws {
    var last: CLLocation?
    var travelled = 0.0
    write("time,latitude,longitude,altitude,accuracy,speed,travelled")
    for try await update in CLLocationUpdate.liveUpdates(.fitness) {
      if update.locationUnavailable { note("no position at the moment") }
      if update.stationary { note("a rest after \(Int(travelled)) m") }
      guard let location = update.location, !update.stationary else { continue }
      if let last {
        let distance = location.distance(from: last)
        // What the accuracies explain is no way.
        guard distance >= max(step, location.horizontalAccuracy + last.horizontalAccuracy) else {
          continue
        }
        travelled += distance
      }
      last = location
      write(
        [
          location.timestamp.formatted(.iso8601), text(location.coordinate.latitude, 6),
          text(location.coordinate.longitude, 6),
          location.verticalAccuracy > 0 ? text(location.altitude) : "",
          text(location.horizontalAccuracy), location.speed >= 0 ? text(location.speed) : "",
          text(travelled),
        ].joined(separator: ","))
    }
  }

  static func text(_ value: Double, _ digits: Int = 1) -> String {
    String(format: "%.\(digits)f", value)
  }

  static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}

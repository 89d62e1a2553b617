// One program of a crowd that shares a daemon. It knows CoreLocation, and nothing of this project.
//
// crowd-program LATITUDE LONGITUDE RADIUS: monitors a circle, asks for its state once a second, and prints a line for each crossing,
// answer, error and, five times a second at most, location, with the monotonic clock before it. It never ends.

import CoreLocation
import Foundation
import Glibc

func monotonic() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

func say(_ line: String) {
  print(String(format: "%.3f", monotonic()), line)
  fflush(nil)
}

final class CrowdDelegate: NSObject, CLLocationManagerDelegate {
  private var lastLocation = 0.0

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    say("entered")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    say("left")
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { say("state \(state.rawValue)") }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let now = monotonic()
    guard now > lastLocation + 0.15 else { return }
    lastLocation = now
    say("location")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    say("error \(error.localizedDescription)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { say("unwatched \(error.localizedDescription)") }
}

@main
enum CrowdProgram {
  @MainActor static var kept: (manager: CLLocationManager, delegate: CrowdDelegate, timer: Timer)?

  @MainActor static func main() {
    let numbers = CommandLine.arguments.dropFirst().compactMap(Double.init)
    guard numbers.count == 3 else { exit(64) }
    let manager = CLLocationManager()
    let delegate = CrowdDelegate()
    manager.delegate = delegate
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2DMake(numbers[0], numbers[1]), radius: numbers[2],
      identifier: "home")
    manager.startMonitoring(for: circle)
    manager.startUpdatingLocation()
    let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in
      MainActor.assumeIsolated { kept?.manager.requestState(for: circle) }
    }
    kept = (manager, delegate, timer)
    RunLoop.main.run()
  }
}

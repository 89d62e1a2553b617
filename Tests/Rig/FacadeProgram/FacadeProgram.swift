// A program as somebody would bring it from a phone: it knows CoreLocation, and nothing of this project.
//
// facade-program run-loop|async|both COUNT: prints what its delegate is told, a line each, until it has been told
// COUNT headings and COUNT locations, or nothing was heard for long.

import CoreLocation
import Foundation

final class PrintingDelegate: NSObject, CLLocationManagerDelegate {
  private let count: Int
  private var headings = 0
  private var locations = 0

  init(count: Int) { self.count = count }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations {
      self.locations += 1
      print(
        "location", location.coordinate.latitude, location.coordinate.longitude,
        location.horizontalAccuracy, location.speed, location.course,
        location.timestamp.timeIntervalSince1970, Date().timeIntervalSince1970)
    }
    finishIfDone()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    headings += 1
    print(
      "heading", newHeading.magneticHeading, newHeading.headingAccuracy,
      newHeading.timestamp.timeIntervalSince1970, Date().timeIntervalSince1970)
    finishIfDone()
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print("error", (error as? CLError)?.code.rawValue ?? -1, error.localizedDescription)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    print("authorization", manager.authorizationStatus.rawValue)
  }

  /// Asked once: it is a question to the board.
  private lazy var needsHeadings = CLLocationManager.headingAvailable()

  private func finishIfDone() {
    fflush(nil)
    if locations >= count, headings >= count || !needsHeadings { exit(0) }
  }
}

@main
enum FacadeProgram {
  @MainActor static var kept: (manager: CLLocationManager, listener: PrintingDelegate)?

  @MainActor static func start(count: Int) {
    let manager = CLLocationManager()
    let listener = PrintingDelegate(count: count)
    manager.delegate = listener
    manager.headingFilter = kCLHeadingFilterNone
    manager.startUpdatingLocation()
    manager.startUpdatingHeading()
    kept = (manager, listener)
  }

  @MainActor static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let count = Int(arguments[2]) else {
      print("usage: facade-program run-loop|async|both COUNT")
      exit(64)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + 60) { exit(1) }
    if arguments[1] == "run-loop" {
      start(count: count)
      RunLoop.main.run()
    } else if arguments[1] == "both" {
      // Looks into its run loop for a while and has the queue served from then on.
      start(count: count)
      RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
      dispatchMain()
    } else {
      // What an asynchronous main comes to: the main queue is served, by the pool, and no run loop.
      Task {
        await Task.yield()
        start(count: count)
      }
      dispatchMain()
    }
  }
}

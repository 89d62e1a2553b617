// A storm of compasses: compass-storm SECONDS
//
// Threads with run loops of their own make managers, start and stop their services in any order, and let go of them here
// or on another thread; tasks iterate the asynchronous sequences and are cancelled. It ends with 1 where a delegate was
// told of a service that it had stopped, or a manager was not let go of, and with 2 where all stands still.

import CoreFoundation
import CoreLocation
import CoreMotion
import Foundation
import Synchronization

final class Tally: Sendable {
  struct StormCounts: Sendable {
    var managers = 0
    var starts = 0
    var headings = 0
    var locations = 0
    var altitudes = 0
    var updates = 0
    var late = 0
    var alive = 0
    var running = 0
  }

  private let state = Mutex(StormCounts())
  var counts: StormCounts { state.withLock { $0 } }
  func note(_ change: (inout StormCounts) -> Void) { state.withLock { change(&$0) } }
}

let tally = Tally()

/// A manager that is counted as long as it lives.
final class CountedManager: CLLocationManager {
  override init() {
    super.init()
    tally.note {
      $0.managers += 1
      $0.alive += 1
    }
  }

  deinit { tally.note { $0.alive -= 1 } }
}

/// Knows what it has started; belongs to one thread, like its manager.
final class Sailor: NSObject, CLLocationManagerDelegate {
  var wantsHeading = false
  var wantsLocation = false

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    tally.note {
      $0.headings += 1
      if !wantsHeading { $0.late += 1 }
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    tally.note {
      $0.locations += locations.count
      if !wantsLocation { $0.late += 1 }
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {}
}

/// Brings a manager to another thread, which lets go of it.
final class Handover: @unchecked Sendable {
  // Used by one thread after the other.
  private var manager: CLLocationManager?
  init(_ manager: CLLocationManager) { self.manager = manager }
  func letGo() { manager = nil }
}

func live(_ dice: inout SystemRandomNumberGenerator) -> CLLocationManager {
  let (manager, sailor) = (CountedManager(), Sailor())
  manager.delegate = sailor
  manager.headingFilter = kCLHeadingFilterNone
  for _ in 0..<Int.random(in: 5...40, using: &dice) {
    tally.note { $0.starts += 1 }
    switch Int.random(in: 0..<8, using: &dice) {
    case 0, 1:
      sailor.wantsHeading = true
      manager.startUpdatingHeading()
    case 2:
      sailor.wantsHeading = false
      manager.stopUpdatingHeading()
    case 3, 4:
      sailor.wantsLocation = true
      manager.startUpdatingLocation()
    case 5:
      sailor.wantsLocation = false
      manager.stopUpdatingLocation()
    case 6: manager.allowDeferredLocationUpdates(untilTraveled: 1, timeout: 0.5)
    default:
      manager.headingOrientation = .landscapeLeft
      manager.dismissHeadingCalibrationDisplay()
    }
    let wait = Double.random(in: 0...0.02, using: &dice)
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: wait))
  }
  return withExtendedLifetime(sailor) { manager }
}

/// Managers, one after the other.
func sail(until end: Date) {
  var dice = SystemRandomNumberGenerator()
  while Date() < end {
    let manager = live(&dice)
    guard Bool.random(using: &dice) else { continue }
    let handover = Handover(manager)
    Thread.detachNewThread { handover.letGo() }
  }
}

/// Altimeters, one after the other.
func climb(until end: Date) {
  let queue = OperationQueue()
  while Date() < end {
    let altimeter = CMAltimeter()
    for _ in 0..<20 {
      altimeter.startRelativeAltitudeUpdates(to: queue) { _, _ in tally.note { $0.altitudes += 1 } }
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
      if Bool.random() { altimeter.stopRelativeAltitudeUpdates() }
    }
  }
}

/// Sequences that are left, and sequences whose task is cancelled.
func listen(until end: Date) async {
  while Date() < end {
    let task = Task {
      for try await _ in CLLocationUpdate.liveUpdates(.fitness) {
        tally.note { $0.updates += 1 }
      }
    }
    for await _ in CLHeadingUpdate.liveUpdates(filter: kCLHeadingFilterNone) {
      tally.note { $0.updates += 1 }
      if Int.random(in: 0..<10) == 0 { break }
    }
    task.cancel()
    _ = await task.result
  }
}

@MainActor
func storm(seconds: Double) {
  let end = Date(timeIntervalSinceNow: seconds)
  func worker(_ body: @escaping @Sendable () -> Void) {
    tally.note { $0.running += 1 }
    Thread.detachNewThread {
      // Without a source a loop ends at once. (A timer would do too, and Foundation leaks those that have not fired.)
      var context = CFRunLoopSourceContext()
      let source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
      CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode)
      body()
      tally.note { $0.running -= 1 }
    }
  }
  for _ in 0..<4 { worker { sail(until: end) } }
  worker { climb(until: end) }
  tally.note { $0.running += 1 }
  Task.detached {
    await listen(until: end)
    tally.note { $0.running -= 1 }
  }
  // The main thread's managers take part, and see to it that somebody still does.
  var dice = SystemRandomNumberGenerator()
  var (last, moved) = (0, Date())
  while tally.counts.running > 0 {
    if Date() < end {
      _ = live(&dice)
    } else {
      RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
    }
    let starts = tally.counts.starts + tally.counts.running
    if starts != last { (last, moved) = (starts, Date()) }
    if Date().timeIntervalSince(moved) > 60 {
      print("all stands still:", tally.counts)
      exit(2)
    }
  }
  // Those that were handed over may be on their way still.
  let patience = Date(timeIntervalSinceNow: 10)
  while tally.counts.alive > 0, Date() < patience {
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
  }
  let counts = tally.counts
  print(
    "\(counts.managers) managers, \(counts.starts) starts and stops, \(counts.headings) headings, "
      + "\(counts.locations) locations, \(counts.altitudes) altitudes, \(counts.updates) updates; "
      + "\(counts.late) after a stop, \(counts.alive) not let go of")
  exit(counts.late == 0 && counts.alive == 0 && counts.headings > 0 ? 0 : 1)
}

@main
enum CompassStorm {
  @MainActor static func main() {
    guard CommandLine.arguments.count == 2, let seconds = Double(CommandLine.arguments[1]) else {
      print("usage: compass-storm SECONDS")
      exit(64)
    }
    storm(seconds: seconds)
  }
}

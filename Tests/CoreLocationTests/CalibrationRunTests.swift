// The calibration prompt from the chips to the delegate: a board without a record, turned about in a hand.

import BoardTestSupport
import FacadeTestSupport
import Lodestone
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import CoreLocation

/// A delegate that lets the prompt be shown, and notes what it hears.
private final class Walker: NSObject, CLLocationManagerDelegate {
  var asked = 0
  var headings: [CLHeading] = []

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    asked += 1
    return true
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    headings.append(newHeading)
  }
}

struct CalibrationRunTests {
  private final class Terminal: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var presenter: TerminalCalibrationPresenter {
      TerminalCalibrationPresenter { [self] line in lines.withLock { $0.append(line) } }
    }
    func says(_ text: String) -> Bool { all.contains { $0.contains(text) } }
  }

  /// Figure eights, every side up once.
  private static var hand: Trajectory {
    var segments: [Trajectory.Segment] = [.init(duration: 4)]
    for round in 0..<20 {
      let turn = [120.0, -70, 200, -160][round % 4]
      segments += [
        .init(duration: 4, turn: turn, pitch: 40, roll: 10),
        .init(duration: 4, turn: turn, pitch: -35, roll: -50),
        .init(duration: 5, turn: -turn, pitch: 15, roll: 100),
        .init(duration: 5, turn: turn, pitch: 0, roll: 0),
        .init(duration: 7),
      ]
    }
    return Trajectory(segments: segments)
  }

  @Test(
    "D8 M9: without a record it is asked once, the terminal says what to do, a hand does it, and headings are to be trusted",
    arguments: [false, true])
  func run(isDismissed: Bool) async throws {
    let terminal = Terminal()
    let result = try await onThread { Result { try Self.walk(terminal, isDismissed: isDismissed) } }
      .get()
    print(
      "asked \(result.asked) times, first accuracy \(result.first), after \(Int(result.seconds)) s "
        + "\(result.accuracy), off by \(result.error)")
    print(terminal.all.joined(separator: "\n"))
    #expect(result.asked == 1)
    #expect(result.first < 0)
    #expect(result.accuracy > 0 && result.error < result.accuracy)
    #expect(result.stood == (isDismissed ? [true, false] : []))
    #expect(terminal.says("The compass is not calibrated"))
    #expect(terminal.says("figure eights"))
    #expect(terminal.says("The compass is calibrated") == !isDismissed)
    #expect(terminal.says("No calibration of the compass is asked for now") == isDismissed)
  }

  private struct Walk: Sendable {
    let asked: Int
    let first: Double
    let accuracy: Double
    let error: Double
    /// Whether the prompt stood before it was dismissed, and at any time afterwards.
    let stood: [Bool]
    let seconds: Double
  }

  private static func walk(_ terminal: Terminal, isDismissed: Bool) throws -> Walk {
    let board = try VirtualBoard(
      adapt: { $0.trajectory = Self.hand }, calibratesInUse: true, demand: Demand(),
      storesCalibrations: false)
    let runtime = LodestoneRuntime(
      source: VirtualSource(board),
      clocks: RuntimeClocks(now: { board.clock.now() }, wallTime: { 1_795_000_000 }))
    runtime.calibrationPresenter = terminal.presenter
    let manager = CLLocationManager(port: runtime)
    let walker = Walker()
    manager.delegate = walker
    manager.startUpdatingHeading()
    var wasDismissed = false
    var stood: [Bool] = []
    func live() {
      _ = board.run(1)
      _ = RunLoop.current.run(mode: .default, before: Date())
    }
    var truth: Double { board.simulation.truth(at: board.clock.now()).magneticHeading }
    for second in 0..<400 {
      live()
      if isDismissed, second == 10 {
        stood.append(runtime.showsCalibrationPrompt)
        manager.dismissHeadingCalibrationDisplay()
        wasDismissed = true
        runtime.wait()
        stood.append(runtime.showsCalibrationPrompt)
      }
      if wasDismissed, runtime.showsCalibrationPrompt { stood.append(true) }
      if second > 20, walker.headings.last?.headingAccuracy ?? -1 > 0 { break }
    }
    // A hand that rests: what was told last is what is now.
    for _ in 0..<40 {
      let before = truth
      live()
      if truth == before { break }
    }
    live()
    _ = turnWithoutEvents { !runtime.showsCalibrationPrompt }
    _ = turnWithoutEvents { terminal.says(isDismissed ? "asked for now" : "is calibrated") }
    let heading = try #require(walker.headings.last)
    return Walk(
      asked: walker.asked, first: walker.headings.first?.headingAccuracy ?? 0,
      accuracy: heading.headingAccuracy,
      error: abs((heading.magneticHeading - truth).remainder(dividingBy: 360)), stood: stood,
      seconds: board.clock.now().seconds(since: board.start))
  }
}

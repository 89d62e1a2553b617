// The board of the daemon, for a command that shows it.

import Dispatch
import Foundation
import LinuxIO
import LocationServices
package import SensorTypes
import Synchronization

/// No daemon can be reached, or it cannot open its board.
package struct DaemonUnreachable: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
}

/// The board that a daemon owns.
///
/// It stays attached: after the daemon was started again, observations go on. The time in between is a loss.
package final class DaemonBoard: BoardView {
  /// What the machine's owner is told that a command needs positions for.
  private static let usage = UsageDescriptions(whenInUse: "It shows what the board measures.")
  /// The number of seconds that an answer of the machine's owner is waited for.
  private static let longestWait = 120.0
  /// The time between two looks whether there is an answer, in seconds.
  private static let look = 0.1

  private let port: DaemonPort
  private let observer = Observer()
  private let client: ClientID
  private let known: Mutex<[SensorStatus]>
  /// The name and the chips of the board, as they were at the beginning.
  package let summary: BoardDescription

  /// Attaches to the daemon that listens at a path.
  ///
  /// - Throws: `DaemonUnreachable`, or an error if the process has no descriptor left.
  package init(path: String) throws {
    port = try DaemonPort(path: path, usage: Self.usage)
    guard let report = port.ask(.board) else {
      var reason = "it does not answer"
      if case .away(let why) = port.connection { reason = why }
      throw DaemonUnreachable(
        description:
          "the daemon at \(path) owns the board, and \(reason); --board opens a board without it")
    }
    guard let board = report.board else {
      throw DaemonUnreachable(
        description: "the daemon cannot open its board: \(report.problem ?? "it does not say why")")
    }
    summary = board
    known = Mutex(report.sensors)
    client = port.connect(observer)
    port.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
  }

  deinit { port.send(ServiceRequest(client, .release)) }

  package var sensors: [SensorStatus] {
    guard let report = port.ask(.board), report.board != nil else { return known.withLock { $0 } }
    known.withLock { $0 = report.sensors }
    return report.sensors
  }

  package var isShared: Bool { true }

  package func begin(_ demand: Demand, _ handler: @escaping @Sendable (Observation) -> Void) {
    observer.set(handler)
    // Their states are told when they change, and most have changed long ago.
    for status in known.withLock({ $0 }) where status.state != .starting {
      handler(.sensor(status))
    }
    port.send(ServiceRequest(client, .observe(demand)))
  }

  package func end() {
    port.send(ServiceRequest(client, .observe(nil)))
    observer.set(nil)
  }

  package func now() -> Timestamp { RuntimeClocks.system.now() }

  package var clock: ClockReading { clock(at: now()) }

  package func clock(at time: Timestamp) -> ClockReading {
    ClockReading(seconds: port.wallTime(of: time), isSet: LinuxBusProvider().isWallTimeSet)
  }

  package func demandExactPosition(_ what: String) throws(PositionNotAuthorized) {
    let report = authorization
    guard report.isGranted else { throw refusal(what) }
    guard report.accuracy == .full else {
      throw PositionNotAuthorized(
        description: "\(what), and this program is authorized for reduced accuracy only")
    }
  }

  package func demandPosition(_ what: String) throws(PositionNotAuthorized) {
    guard authorization.isGranted else { throw refusal(what) }
  }

  /// The authorization, once nobody is being asked any more.
  private var authorization: AuthorizationReport {
    let end = now().advanced(bySeconds: Self.longestWait)
    while true {
      let report = port.ask(.authorization)
      guard report.isBeingAsked, now() < end else { return report }
      Thread.sleep(forTimeInterval: Self.look)
    }
  }

  private func refusal(_ what: String) -> PositionNotAuthorized {
    let problem = port.ask(.program)?.authorizationProblem
    return PositionNotAuthorized(
      description: "\(what): \(problem ?? "the owner of this machine does not allow it"). "
        + "lodestone authorization shows the rules")
  }
}

/// Passes observations on, and losses of the daemon as losses of what it observes.
private final class Observer: ServiceClient {
  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Passing: Sendable {
    var pass: (@Sendable (Observation) -> Void)?
  }

  private let passing = Mutex(Passing())

  func set(_ handler: (@Sendable (Observation) -> Void)?) {
    passing.withLock { $0.pass = handler }
  }

  func post(_ content: EventContent) -> Int {
    guard let pass = passing.withLock({ $0.pass }) else { return 0 }
    switch content {
    case .observation(let observation): pass(observation)
    case .failure(let failure):
      let (reason, now) = (NoData.noBoard(failure.reason), RuntimeClocks.system.now())
      switch failure.service {
      case .heading: pass(.headingUnavailable(reason, at: now))
      case .location: pass(.locationUnavailable(reason, at: now))
      case .altitude: pass(.altitudeUnavailable(reason, at: now))
      case .deviceMotion:
        for sensor in MotionSensor.allCases {
          pass(.motionUnavailable(sensor, reason, at: now))
        }
      default: break
      }
    default: break
    }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}
}

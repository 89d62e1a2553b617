// What the doctor finds on a board that a daemon owns: the daemon has the buses, and says how its chips are doing.

import BoardFile
import Foundation
package import Lodestone
import SensorDrivers
import SensorTypes
import StateStore

extension Doctor {
  /// The time that chips which sleep or start are waited for, in seconds.
  private static let longestStart = 6.0
  /// The time between two looks at them, in seconds.
  private static let look = 0.1

  /// Everything there is to find on a daemon's board. The chips are woken for it, and none is touched otherwise.
  package func examine(_ daemon: DaemonBoard) -> [Finding] {
    let board = daemon.board
    var findings = plan(board)
    if board.simulation == nil { findings += unconfirmed(board) }
    let chips = chips(of: daemon)
    findings += chips
    if board.simulation == nil, chips.contains(where: { $0.level == .problem }) {
      findings.append(
        Finding(
          .note, "the daemon has the buses; without it the doctor looks at the wires itself",
          mend: "sudo systemctl stop lodestone; lodestone doctor; sudo systemctl start lodestone"))
    }
    return findings + records(of: daemon) + permissions() + models()
  }

  /// How each chip of a daemon's board is doing.
  package func chips(of daemon: DaemonBoard) -> [Finding] {
    daemon.begin(.everything) { _ in }
    defer { daemon.end() }
    var sensors = daemon.sensors
    let end = ContinuousClock.now + .seconds(Self.longestStart)
    while sensors.contains(where: \.isExpected), ContinuousClock.now < end {
      wait(Self.look)
      sensors = daemon.sensors
    }
    return sensors.compactMap { status in
      guard daemon.board.sensors.indices.contains(status.index) else { return nil }
      return Self.chip(status, daemon.board.sensors[status.index])
    }
  }

  /// Judges a chip by what a daemon says of it.
  static func chip(_ status: SensorStatus, _ sensor: Board.Sensor) -> Finding {
    let place = "\(sensor.chip) at \(sensor.attachment)"
    let finding =
      switch status.state {
      case .running: running(status, place)
      case .starting:
        Finding(
          .problem, "\(place) does not start", mend: wires(of: sensor), sensor: status.index)
      case .idle:
        Finding(.note, "\(place) sleeps: the daemon has not woken it", sensor: status.index)
      case .failed(let why):
        Finding(.problem, "\(place): \(why)", mend: wires(of: sensor), sensor: status.index)
      }
    return finding.on("\(place) runs")
  }

  private static func running(_ status: SensorStatus, _ place: String) -> Finding {
    let counters = status.counters
    let lost = counters.busErrors &+ counters.retries
    guard lost > 0 else {
      return Finding(.good, "\(place) runs", sensor: status.index)
    }
    // A sample takes a transfer at least.
    let attempts = counters.samples &+ lost
    return Finding(
      Double(lost) > toleratedLosses * Double(attempts) ? .problem : .good,
      "\(place) runs; \(lost) transfers were lost or repeated beside \(counters.samples) samples",
      mend: Double(lost) > toleratedLosses * Double(attempts) ? quietBus : nil,
      sensor: status.index)
  }

  private static func wires(of sensor: Board.Sensor) -> String {
    switch sensor.attachment {
    case .i2c: "check VIN, GND, SDA, SCL and the address pin"
    case .serial: "check its wires (its TX goes to RX) and its baud rate"
    case .server: "sudo systemctl restart gpsd"
    }
  }

  /// The records that the daemon uses, if this user may read them.
  private func records(of daemon: DaemonBoard) -> [Finding] {
    do {
      try daemon.fetchRecords()
    } catch {
      return [Finding(.note, "the calibrations are not looked at: \(error)")]
    }
    let copy = daemon.state.folder
    return calibrations(daemon.board, in: copy).map { finding in
      // What was copied to be looked at has its place with the daemon.
      guard let folder = daemon.recordFolder else { return finding }
      let (here, there) = (daemon.state.calibrations.folder.path, folder)
      return Finding(
        finding.level, finding.text.replacing(here, with: there),
        mend: finding.mend?.replacing(here, with: there), sensor: finding.sensor)
    }
  }
}

extension SensorStatus {
  /// Whether it may run in a moment.
  fileprivate var isExpected: Bool { state == .starting || state == .idle }
}

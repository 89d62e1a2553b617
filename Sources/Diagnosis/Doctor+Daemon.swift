// What the doctor finds on a board that a daemon owns: the daemon has the buses, and says how its chips are doing.

import BoardFile
import FoundationEssentials
import Glibc
package import Lodestone
import SensorDrivers
import SensorTypes
import StateStore

extension Doctor {
  /// The time that chips which sleep or start are waited for, in seconds.
  private static let longestStart = 6.0
  /// The time between two looks at them, in seconds.
  private static let look = 0.1

  /// The line for a daemon that cannot be asked.
  package static func remedy(forDaemonAt path: String) -> String {
    var status = stat()
    guard access(path, R_OK | W_OK) != 0, errno == EACCES, stat(path, &status) == 0,
      let group = getgrgid(status.st_gid)
    else { return "sudo systemctl restart lodestone; journalctl -u lodestone -n 20" }
    return joining(String(cString: group.pointee.gr_name))
  }

  /// The time in which transfers are counted, in seconds.
  private static let watch = 2.0
  /// The number of transfers below which a share of them says nothing.
  private static let fewestTransfers: UInt64 = 20

  /// Everything there is to find on a daemon's board. The chips are woken for it, and none is touched otherwise.
  package func examine(_ daemon: DaemonBoard) -> [Finding] {
    let board = daemon.board
    let isSimulated = daemon.summary.isSimulated
    var findings = plan(board)
    if !isSimulated { findings += unconfirmed(board) }
    let owner = daemon.process
    let chips = chips(of: daemon)
    guard let owner, daemon.process == owner else {
      let lost = Finding(
        .problem, "the daemon was ended while it was asked", mend: "journalctl -u lodestone -n 20")
      return findings + [lost]
    }
    findings += chips
    if let problem = daemon.positionProblem, board.hasReceiver {
      findings.append(
        Finding(
          .note, "this program may not know the position exactly: \(problem)",
          mend: "lodestone authorization   # shows the rules"))
    }
    if !isSimulated, chips.contains(where: { $0.level == .problem }) {
      findings.append(
        Finding(
          .note, "the daemon has the buses; without it the doctor looks at the wires itself",
          mend: "sudo systemctl stop lodestone; lodestone doctor; sudo systemctl start lodestone"))
    }
    return findings + records(of: daemon) + permissions(ofDaemon: true) + models()
  }

  /// How each chip of a daemon's board is doing.
  package func chips(of daemon: DaemonBoard) -> [Finding] {
    daemon.begin(.everything) { _ in }
    defer { daemon.end() }
    let end = ContinuousClock.now + .seconds(Self.longestStart)
    var before = daemon.sensors
    while before.contains(where: \.isExpected), ContinuousClock.now < end {
      wait(Self.look)
      before = daemon.sensors
    }
    wait(Self.watch)
    return zip(before, daemon.sensors).compactMap { before, status in
      guard daemon.board.sensors.indices.contains(status.index) else { return nil }
      return Self.chip(
        status, daemon.board.sensors[status.index],
        counted: status.counters.counted(since: before.counters))
    }
  }

  /// Judges a chip by what a daemon says of it.
  ///
  /// - Parameter counted: What was counted in the last seconds.
  static func chip(
    _ status: SensorStatus, _ sensor: Board.Sensor, counted: SensorCounters
  ) -> Finding {
    let place = "\(sensor.chip) at \(sensor.attachment)"
    let finding =
      switch status.state {
      case .running: untold(status, place) ?? running(status.index, sensor, place, counted)
      case .starting:
        Finding(
          .problem, "\(place) does not start", mend: wires(of: sensor), sensor: status.index)
      case .idle:
        Finding(
          .note, "\(place) sleeps: it is not woken for a program that may not know the position",
          sensor: status.index)
      case .failed(let why):
        Finding(.problem, "\(place): \(why)", mend: wires(of: sensor), sensor: status.index)
      }
    return finding.on("\(place) runs")
  }

  /// The problem of a receiver whose time chrony does not take.
  private static func untold(_ status: SensorStatus, _ place: String) -> Finding? {
    for service in status.link?.timeServices ?? [] {
      guard case .refused(let why) = service.state else { continue }
      return Finding(
        .problem, "\(place) runs, and \(why)",
        mend: directive(service.path, isPulse: service.isPulse), sensor: status.index)
    }
    return nil
  }

  private static func running(
    _ index: Int, _ sensor: Board.Sensor, _ place: String, _ counted: SensorCounters
  ) -> Finding {
    // A sample takes a transfer at least.
    let lost = counted.busErrors &+ counted.retries
    let attempts = counted.samples &+ lost
    guard attempts >= fewestTransfers, Double(lost) > toleratedLosses * Double(attempts) else {
      return Finding(.good, "\(place) runs", sensor: index)
    }
    var mend = wires(of: sensor)
    if case .i2c = sensor.attachment { mend = quietBus }
    return Finding(
      .problem,
      "\(place) runs, and \(lost) of \(attempts) attempts at a transfer were lost to noise or another master on the bus",
      mend: mend, sensor: index)
  }

  private static func wires(of sensor: Board.Sensor) -> String {
    switch sensor.attachment {
    case .i2c: "check VIN, GND, SDA, SCL and the address pin"
    case .serial: "check its wires (its TX goes to RX) and its baud rate"
    case .server where sensor.chip == "gpsd": "sudo systemctl restart gpsd"
    case .server(let address, _): watching(address)
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

// What the doctor finds of what this machine keeps: calibration records, and whether they would stay.

import BoardFile
import CalibrationCore
import FoundationEssentials
import Geomagnetism
import Glibc
import Lodestone
import SensorDrivers
import SensorHub
import StateStore

extension Doctor {
  /// The records of a board's chips, and files beside them that belong to none.
  func calibrations(_ board: Board, in state: URL) -> [Finding] {
    let store = StateStore(folder: state).calibrations
    var findings: [Finding] = []
    var used: Set<String> = []
    for (index, sensor) in board.sensors.enumerated() {
      guard let kind = ChipCatalog.chip(named: sensor.chip)?.kind else { continue }
      switch kind {
      case .magnetometer:
        let key = CalibrationKey(.magnetometer, sensor)
        used.insert(store.file(key).lastPathComponent)
        // A simulated board makes its own where there is none.
        if board.simulation != nil, case .none = store.find(sensor) { continue }
        findings.append(magnetometer(sensor, index, key, store))
      case .inertial, .accelerometer:
        for kind in kind == .inertial ? [CalibrationKind.gyro, .level] : [.level] {
          let key = CalibrationKey(kind, sensor)
          used.insert(store.file(key).lastPathComponent)
          // Neither is needed: only what is wrong with one is a finding.
          guard case .unusable(let why) = store.current(key) else { continue }
          findings.append(unusable(key, why, index, store))
        }
      default: break
      }
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: store.folder.path)) ?? []
    for name in names.sorted() where name.hasSuffix(".json") && !used.contains(name) {
      findings.append(
        Finding(
          .note,
          "\(store.folder.appending(path: name).path) belongs to no chip of this board: "
            + "a record is called CHIP@PLACE.json"))
    }
    for file in store.setAsideFiles {
      findings.append(
        CalibrationStore.isDamaged(file)
          ? Finding(
            .note, "\(file.path) was damaged and is not used", mend: "remove it once it is replaced"
          )
          : Finding(
            .note, "\(file.path) could not be used here and was replaced",
            mend: "keep it for the version or the chip that it is of, or remove it"))
    }
    return findings
  }

  private func magnetometer(
    _ sensor: Board.Sensor, _ index: Int, _ key: CalibrationKey, _ store: CalibrationStore
  ) -> Finding {
    switch store.find(sensor) {
    case .record: return Finding(.good, "\(sensor.chip): calibrated", sensor: index)
    case .none:
      let mend =
        store.former(key) == nil
        ? "lodestone calibrate magnetometer   # on a boat or a vehicle: lodestone calibrate planar"
        : "lodestone calibrate rollback \(sensor.chip)@\(sensor.attachment)   # the record before"
      return Finding(
        .note, "\(sensor.chip) is not calibrated: heading will not be trusted", mend: mend,
        sensor: index)
    case .unusable(let why): return unusable(key, why, index, store)
    }
  }

  private func unusable(
    _ key: CalibrationKey, _ why: String, _ sensor: Int, _ store: CalibrationStore
  ) -> Finding {
    let what = key.kind == .magnetometer ? "calibration" : key.kind.rawValue
    let before =
      store.former(key) == nil
      ? "mend or remove \(store.file(key).path)"
      : "lodestone calibrate rollback \(key.chip)@\(key.position) --kind \(key.kind.rawValue)"
    return Finding(
      .problem, "\(key.chip): its \(what) record cannot be used: \(why)", mend: before,
      sensor: sensor)
  }

  // Where calibrations and the last position are kept.
  func folders(of board: Board?) -> [Finding] {
    guard let state = state(board) else {
      return [Finding(.good, "nothing is kept of a simulated board without STATE_DIRECTORY")]
        + models()
    }
    // What 'sudo' has made once belongs to root, down to the history of one chip.
    let store = StateStore(folder: state).calibrations.folder
    let history = store.appending(path: "history")
    let chips = (try? FileManager.default.contentsOfDirectory(atPath: history.path)) ?? []
    let places = [state, store, history] + chips.sorted().map { history.appending(path: $0) }
    return [
      places.lazy.compactMap(Self.obstacle).first
        ?? Finding(.good, "calibrations are kept in \(state.path)")
    ] + exposures(in: root(state)) + height(in: state) + models()
  }

  // The folder of all boards, of the one that a simulated board has in it.
  private func root(_ state: URL) -> URL {
    let simulated = state.deletingLastPathComponent()
    return simulated.lastPathComponent == "simulated"
      ? simulated.deletingLastPathComponent() : state
  }

  // What other users may read of what says where the machine was.
  private func exposures(in folder: URL) -> [Finding] {
    let (exposures, closable) = StateFolder(folder).inspect()
    var findings = exposures.map { exposure in
      exposure.isShared
        ? Finding(
          .note, "\(exposure); what Lodestone keeps in it is closed to them",
          mend: "set STATE_DIRECTORY to a folder that holds nothing else")
        : Finding(
          .problem, "\(exposure)",
          mend:
            "sudo chmod -R go= \(folder.path)   # or set STATE_DIRECTORY to a folder of your own")
    }
    if closable > 0 {
      findings.append(
        Finding(
          .note,
          "other users can read \(closable) of the files and folders in \(folder.path), which say where this "
            + "machine was: the next program that opens the board closes them",
          mend: "chmod -R go= \(folder.path)"))
    }
    return findings
  }

  // What was told of the board's height, where it is of no use.
  private func height(in state: URL) -> [Finding] {
    let store = StateStore(folder: state).knownAltitude
    guard case .unusable(let why) = store.current else { return [] }
    return [
      Finding(
        .problem, "\(store.file.path) cannot be used: \(why)", mend: "lodestone altitude clear")
    ]
  }

  // Who may know where this machine is. Without a file everybody may, which is nothing to be said.
  //
  // A daemon knows no file that this program's environment names.
  func permissions(ofDaemon: Bool = false) -> [Finding] {
    guard let authorization else { return [] }
    var findings: [Finding] = []
    for policy in authorization.policies where !(ofDaemon && policy.isNamed) {
      let path = policy.file.path
      do {
        guard let count = try policy.rules()?.count else { continue }
        findings.append(
          Finding(
            .good,
            "\(path) has \(count) rule\(count == 1 ? "" : "s") for who may know where this machine is"
          ))
      } catch {
        findings.append(
          Finding(
            .problem, "no program may know where this machine is: \(error)",
            mend: policy.isNamed
              ? "create or edit \(path), or unset LODESTONE_AUTHORIZATION"
              : "edit \(path), or remove it: without it every program may"))
      }
    }
    for problem in authorization.entries().problems {
      findings.append(
        Finding(
          .problem, "\(problem): its programs are asked anew", mend: "remove the file"))
    }
    return findings
  }

  // Where a newer magnetic model may lie.
  func models() -> [Finding] {
    var findings: [Finding] = []
    let (model, problems) = MagneticModelFile.newest(in: modelFolders)
    if let model { findings.append(Finding(.good, "\(model.model.name) from \(model.file.path)")) }
    for problem in problems {
      findings.append(Finding(.problem, problem, mend: "replace the file, or remove it"))
    }
    return findings
  }

  // Why nothing would stay in a folder.
  private static func obstacle(_ place: URL) -> Finding? {
    var folder = place
    // What is not there yet is made when it is needed, in the nearest folder that is.
    while access(folder.path, F_OK) != 0, folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    guard let code = writingError(folder) else { return nil }
    let why = String(cString: strerror(code)).lowercased()
    let mend =
      switch code {
      case ENOSPC, EDQUOT: "df -h \(folder.path)   # and make room there"
      case ENOTDIR: "move \(folder.path) away: it is no folder"
      default:
        isReadOnly(folder)
          ? "set STATE_DIRECTORY to a folder on a file system that can be written"
          : "sudo chown -R $USER \(folder.path)   # or set STATE_DIRECTORY"
      }
    return Finding(
      .problem, "\(place.path) cannot be written (\(why)): calibrations would not stay", mend: mend)
  }

  // To root everything seems writable, also what is not (/proc, a read-only medium): a file is tried.
  private static func isReadOnly(_ folder: URL) -> Bool {
    var status = statvfs()
    return statvfs(folder.path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  // What the system says against a file as long as a record; `nil` for nothing.
  private static func writingError(_ folder: URL) -> Int32? {
    let path = folder.appending(path: ".lodestone-doctor-\(getpid())").path
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return errno }
    defer {
      close(file)
      unlink(path)
    }
    // A full disk has room for a name.
    let content = [UInt8](repeating: 0x20, count: 4_096)
    let count = write(file, content, content.count)
    return count == content.count ? nil : count < 0 ? errno : ENOSPC
  }
}

// What the stored files say, as a report.

package import BoardFile
import CalibrationCore
import FoundationEssentials
import Geomagnetism
import Lodestone
import SensorHub
package import SensorTypes
package import StateStore
import TerminalUI

extension CalibrationReport {
  /// What the stored files say of a board; without a board, of every chip that they name.
  ///
  /// - Parameter program: What made the report, with its version.
  package static func report(
    of board: Board?, state: StateStore, access: PositionAccess = .full, program: String,
    unixSeconds: Double
  ) throws -> CalibrationReport {
    let store = state.calibrations
    var chips = store.keys.map { (key: $0, mount: Mount.aligned) }
    if let board {
      chips = CalibrationKind.allCases.flatMap { kind in
        board.sensors(for: kind).map { (CalibrationKey(kind, $0), $0.mount) }
      }
    } else if chips.isEmpty {
      throw CommandError(
        "no board is named or found, and there is no record in \(store.folder.path)")
    }
    let level = board.flatMap { store.level(of: $0) }
    let dip = dip(of: board, state: state, access, unixSeconds: unixSeconds)
    return CalibrationReport(
      board: board?.name ?? Self.name(in: store) ?? "this machine",
      date: Date(timeIntervalSince1970: unixSeconds).formatted(.iso8601),
      program: program,
      magnetometers: chips.filter { $0.key.kind == .magnetometer }.map { chip in
        var magnetometer = magnetometer(chip.key, store)
        magnetometer.mount = chip.mount
        magnetometer.level = level
        magnetometer.modelDip = dip
        return magnetometer
      },
      others: chips.filter { $0.key.kind != .magnetometer }.compactMap { other($0.key, store) })
  }

  /// What the records call the board.
  private static func name(in store: CalibrationStore) -> String? {
    for key in store.keys {
      if case .record(let record) = store.current(key), !record.board.isEmpty {
        return record.board
      }
    }
    return nil
  }

  private static func magnetometer(
    _ key: CalibrationKey, _ store: CalibrationStore
  ) -> Magnetometer {
    let present: Present =
      switch store.current(key) {
      case .none: .none
      case .unusable(let why): .unusable(why)
      case .record(.magnetometer(let record)): .record(record)
      case .record: .unusable("it is of no use here")
      }
    let samples: Samples =
      switch store.samples(chip: key.chip, position: key.position) {
      case .none: .none
      case .unusable(let why): .unusable(why)
      case .samples(let kept): .kept(kept)
      }
    let former = store.history(key).compactMap { entry -> ReportedFormerRecord? in
      guard case .magnetometer(var record) = entry.record else {
        return .init(record: nil, isUndone: entry.isUndone)
      }
      if case .record(let inUse) = present {
        record.isLocked = inUse.isLocked
        if record == inUse { return nil }
      }
      return .init(record: record, isUndone: entry.isUndone)
    }
    return Magnetometer(
      chip: key.chip, position: key.position, present: present, samples: samples,
      former: former)
  }

  private static func other(
    _ key: CalibrationKey, _ store: CalibrationStore
  ) -> Other? {
    let title = "\(key.kind == .level ? "Level" : "Gyro") by \(key.chip) at \(key.position)"
    switch store.current(key) {
    case .none: return nil
    case .unusable(let why): return .init(title: title, facts: [], problem: why)
    case .record(let record): return .init(title: title, facts: facts(record))
    }
  }

  private static func facts(_ record: StoredRecord) -> [Other.Fact] {
    var facts: [Other.Fact] = []
    func add(_ name: String, _ value: String?) {
      if let value { facts.append(.init(name: name, value: value)) }
    }
    switch record {
    case .magnetometer: break
    case .level(let level):
      add("Tilt", Figures.degrees(level.tilt))
      add("Its deviation", Figures.degrees(level.deviation))
      add("Tilt of the surface", level.surfaceTilt.map(Figures.degrees) ?? "not known")
      add("Samples", String(level.samples))
    case .gyro(let gyro):
      let degrees = 180 / Double.pi
      add("Bias", Figures.vector(degrees * gyro.bias, 3) + " \u{B0}/s")
      add("Its deviation", Figures.number(degrees * gyro.deviation, 4) + " \u{B0}/s, one sigma")
      add("Temperature", gyro.temperature.map { Figures.number($0, 1) + " \u{B0}C" })
      add("Samples", String(gyro.samples))
    }
    add("Made", Figures.date(record.date))
    add("Method", record.method)
    add("Lock", record.isLocked ? "locked" : "not locked")
    return facts
  }

  /// The field's dip where the board is declared to be, or was last; `nil` where neither is known.
  private static func dip(
    of board: Board?, state: StateStore, _ access: PositionAccess, unixSeconds: Double
  ) -> Double? {
    let year = MagneticModel.decimalYear(unixSeconds: unixSeconds)
    return try? LocalPlace(of: board, state, access)?.field(decimalYear: year).inclination
  }
}

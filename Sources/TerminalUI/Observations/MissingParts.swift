import SensorDrivers
package import SensorTypes

/// Why a board says nothing before its first word: it has no chip for it, or it has just begun.
package struct MissingParts {
  package private(set) var heading = NoData.notYet
  package private(set) var altitude = NoData.notYet
  package private(set) var location = NoData.notYet

  package init(_ board: BoardDescription) {
    let kinds = Set(board.chips.compactMap { ChipCatalog.chip(named: $0)?.kind })
    if !kinds.contains(.magnetometer), board.hasAntennas != true {
      let canFollow = kinds.contains(.inertial) && kinds.contains(.receiver)
      heading =
        !canFollow ? .notEquipped("magnetometer") : board.isVehicle ? .notYet : .vehicleUndeclared
    }
    if !kinds.contains(.barometer) { altitude = .notEquipped("barometer") }
    if !kinds.contains(.receiver) { location = .notEquipped("receiver") }
  }
}

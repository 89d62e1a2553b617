package import CalibrationCore
import FoundationEssentials
package import StateStore
import TerminalUI

/// A chip as a person names it: `LIS3MDL`, or with its place `LIS3MDL@/dev/i2c-1:0x1c`.
struct ChipName: Sendable, Equatable {
  var chip: String
  /// Where it is; `nil` where the name leaves that open.
  var position: String?

  init(_ text: String) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    chip = String(parts.first ?? "")
    position = parts.count == 2 ? String(parts[1]) : nil
  }

  /// Whether a record is of this chip. Upper and lower case of the chip are alike, those of the place are not.
  func fits(_ key: CalibrationKey) -> Bool {
    chip.lowercased() == key.chip.lowercased() && (position.map { $0 == key.position } ?? true)
  }
}

extension CalibrationStore {
  /// The one record that a person means, of those that this machine keeps.
  ///
  /// - Parameters:
  ///   - chip: The chip as the person names it; `nil` where the name was left out.
  ///   - kind: The kind of record; `nil` where it was left out.
  package func key(of chip: String?, kind: CalibrationKind?) throws -> CalibrationKey {
    let keys = keys
    guard !keys.isEmpty else {
      throw CommandError(
        "there is no record in \(folder.path): lodestone calibrate magnetometer makes one")
    }
    let wanted = chip.map(ChipName.init)
    let fitting = keys.filter { key in
      (kind.map { $0 == key.kind } ?? true) && (wanted?.fits(key) ?? true)
    }
    guard let key = fitting.first else {
      throw CommandError(
        "there is no such record; there are: \(keys.map(\.description).joined(separator: ", "))")
    }
    guard fitting.count == 1 else {
      let names = fitting.map(\.description).joined(separator: ", ")
      throw CommandError("which one? \(names): name the chip, or --kind", kind: .usage)
    }
    return key
  }
}

import Foundation
import SharedData
import Testing

@testable import Geomagnetism

struct CoefficientFileTests {
  private static let path = "data/wmm/WMM2025.COF"
  private static let file = SharedData.root.appending(path: path)

  /// A file with every coefficient, all the same.
  private static func text(
    head: String = "2030.0 WMM-2030 11/13/2029", edit: (inout [String]) -> Void = { _ in }
  ) -> String {
    var lines = [head]
    for degree in 1...12 {
      for order in 0...degree { lines.append("\(degree) \(order) -1.5 2.0 0.1 -0.1") }
    }
    lines.append(String(repeating: "9", count: 48))
    edit(&lines)
    return lines.joined(separator: "\n") + "\n"
  }

  @Test(
    "NOAA's own file gives the built-in model",
    .enabled(
      if: SharedData.isThere(path), "skipped: no coefficient file below LODESTONE_SHARED"))
  func official() throws {
    let model = try MagneticModel(
      coefficientFile: String(contentsOf: Self.file, encoding: .utf8))
    #expect(model.epoch == 2025)
    #expect(!model.supersedes(.wmm2025) && !MagneticModel.wmm2025.supersedes(model))
    for (latitude, longitude) in [(52.5, 13.4), (-80, 240), (0, 0), (89.9, 120)] {
      #expect(
        try model.field(
          latitude: latitude, longitude: longitude, altitude: 100, decimalYear: 2027.3)
          == MagneticModel.wmm2025.field(
            latitude: latitude, longitude: longitude, altitude: 100, decimalYear: 2027.3))
    }
  }

  @Test("a later epoch supersedes, and so does a later release of the same epoch")
  func order() throws {
    let next = try MagneticModel(coefficientFile: Self.text())
    #expect(next.name == "WMM-2030" && next.epoch == 2030)
    #expect(next.supersedes(.wmm2025) && !MagneticModel.wmm2025.supersedes(next))
    let revised = try MagneticModel(
      coefficientFile: Self.text(head: "2025.0 WMM-2025v2 02/04/2027"))
    #expect(revised.supersedes(.wmm2025))
    let older = try MagneticModel(coefficientFile: Self.text(head: "2020.0 WMM-2020 12/10/2019"))
    #expect(!older.supersedes(.wmm2025))
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let line: Int
    let says: String
    let edit: @Sendable (inout [String]) -> Void
  }

  // Not in the attribute: Swift 6.0.3 dies of closures there.
  private static let damages = [
    Damage(testDescription: "no head", line: 1, says: "epoch") { $0[0] = "nonsense" },
    Damage(testDescription: "date", line: 1, says: "no date") { $0[0] = "2030 WMM 31.12.2029" },
    Damage(testDescription: "word", line: 3, says: "four numbers") { $0[2] = "1 1 x 0 0 0" },
    Damage(testDescription: "infinite", line: 3, says: "four numbers") {
      $0[2] = "1 1 inf 0 0 0"
    },
    Damage(testDescription: "high", line: 91, says: "degree 12") { $0[90] = "13 0 0 0 0 0" },
    Damage(testDescription: "order", line: 3, says: "degree 12") { $0[2] = "1 2 0 0 0 0" },
    Damage(testDescription: "twice", line: 4, says: "twice") { $0[3] = $0[2] },
    Damage(testDescription: "missing", line: 92, says: "89 coefficients where 90") {
      $0.remove(at: 50)
    },
  ]

  @Test("a damaged file is an error with its line", arguments: damages)
  func damaged(_ damage: Damage) {
    #expect {
      _ = try MagneticModel(coefficientFile: Self.text(edit: damage.edit))
    } throws: { error in
      guard let error = error as? CoefficientFileError else { return false }
      return error.line == damage.line && error.message.contains(damage.says)
    }
  }

  @Test("what is no text of that kind never crashes", arguments: ["", "\n\n", "2030 a 1/1/2030"])
  func hostile(text: String) {
    #expect(throws: CoefficientFileError.self) { try MagneticModel(coefficientFile: text) }
  }
}

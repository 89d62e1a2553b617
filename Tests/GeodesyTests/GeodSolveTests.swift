import Foundation
import Geodesy
import Testing

/// Lines by GeographicLib's GeodSolve, from `Scripts/geodesics.py`.
@Suite("Geodesics against GeodSolve")
struct GeodSolveTests {
  /// Metres. Found are 20 nm, and 60 on lines round the earth, GeodSolve's own errors included.
  private static let bound = 1e-6

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test("500 of the lines, the hardest half of them")
  func some() throws {
    let file = Self.root.appending(path: "Tests/GeodesyTests/geodesics.txt")
    try check(String(contentsOf: file, encoding: .utf8), count: 500)
  }

  private static let isWanted = ProcessInfo.processInfo.environment["LODESTONE_LONG"] == "1"
  private static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/GeodSolve")

  @Test(
    "10,000 pairs of points and 500 lines round the earth",
    .enabled(if: isWanted, "skipped: LODESTONE_LONG is not 1"),
    .enabled(if: isThere, "skipped: no GeodSolve (Debian: geographiclib-tools)"))
  func all() throws {
    let process = Process()
    process.executableURL = Self.root.appending(path: "Scripts/geodesics.py")
    process.arguments = ["--all"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try check(text, count: 10_500)
  }

  private func check(_ text: String, count: Int) throws {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.count == count)
    var worst: [String: Misses] = [:]
    var overall = Misses()
    for line in lines {
      let row = try #require(Row(line), "\(line)")
      let misses = Self.misses(of: row)
      #expect(misses.largest < Self.bound, "\(line): \(misses)")
      worst[row.kind, default: Misses()].include(misses)
      overall.include(misses)
    }
    for (kind, misses) in worst.sorted(by: { $0.key < $1.key }) { print("\(kind): \(misses)") }
    print("\(count) lines: \(overall)")
  }

  private static func misses(of row: Row) -> Misses {
    var misses = Misses()
    misses.direct = miss(
      from: row.one, azimuth: row.initialAzimuth, distance: row.distance, to: row.two,
      azimuth: row.finalAzimuth)
    let back = miss(
      from: row.two, azimuth: row.finalAzimuth, distance: -row.distance, to: row.one,
      azimuth: row.initialAzimuth)
    misses.direct = max(misses.direct, back)
    guard row.isShortest else { return misses }
    let there = Geodesic.inverse(from: row.one, to: row.two)
    let again = Geodesic.inverse(from: row.two, to: row.one)
    misses.distance = max(
      abs(there.distance - row.distance), abs(again.distance - row.distance))
    // Where the points coincide there is none.
    guard row.distance > 0 else { return misses }
    let turned = max(
      abs(between(there.initialAzimuth, row.initialAzimuth)),
      abs(between(there.finalAzimuth, row.finalAzimuth)))
    // An azimuth is as good as the place it leads to: where all lead to one place, any of them is.
    misses.across = turned * degree * abs(row.reducedLength)
    return misses
  }

  /// Where a line ends, and whether it arrives in the right direction: across, at the end of a line as long as
  /// the earth's radius.
  private static func miss(
    from start: Position, azimuth: Double, distance: Double, to end: Position,
    azimuth finalAzimuth: Double
  ) -> Double {
    let found = Geodesic.direct(from: start, azimuth: azimuth, distance: distance)
    // Close to a pole longitude and azimuth turn together.
    let meridians =
      between(found.position.longitude, end.longitude) * sin(end.latitude * degree)
    let turned = abs(between(found.finalAzimuth - meridians, finalAzimuth))
    return max(gap(end, found.position), turned * degree * WGS84.equatorialRadius)
  }

  /// The worst of each, metres.
  private struct Misses: CustomStringConvertible {
    var direct = 0.0
    var distance = 0.0
    var across = 0.0

    var largest: Double { max(direct, distance, across) }

    mutating func include(_ other: Misses) {
      direct = max(direct, other.direct)
      distance = max(distance, other.distance)
      across = max(across, other.across)
    }

    var description: String {
      func nanometres(_ value: Double) -> String { String(format: "%.1f", value * 1e9) }
      return "direct \(nanometres(direct)), distance \(nanometres(distance)), "
        + "azimuth \(nanometres(across)) nm"
    }
  }

  private struct Row {
    var kind: String
    var one: Position
    var two: Position
    var initialAzimuth: Double
    var finalAzimuth: Double
    var distance: Double
    var reducedLength: Double

    /// Lines of the kind `onward` go on where they are no longer the shortest.
    var isShortest: Bool { kind != "onward" }

    init?(_ line: Substring) {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Double(String($0)) }
      guard let kind = words.first, numbers.count == 8, words.count == 9 else { return nil }
      self.kind = String(kind)
      one = Position(latitude: numbers[0], longitude: numbers[1])
      two = Position(latitude: numbers[2], longitude: numbers[3])
      (initialAzimuth, finalAzimuth) = (numbers[4], numbers[5])
      (distance, reducedLength) = (numbers[6], numbers[7])
    }
  }
}

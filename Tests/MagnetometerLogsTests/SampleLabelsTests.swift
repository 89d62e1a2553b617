// Files that name their numbers line by line, and files that name nothing.

import CalibrationUI
import SeededDraws
import LinearAlgebra
import SensorTypes
import Testing

import CalibrationCore
@testable import MagnetometerLogs

@Suite struct SampleLabelsTests {
  @Test(
    "lines that name their numbers",
    arguments: [
      ("imu.compass = [1.5, -2, 3e0]", FieldUnit?.none),
      ("[12:00:00][D][qmc5883l:091]: Got x=1.5uT y=-2uT z=3uT heading=12.0\u{B0}", .microtesla),
      ("{\"x\":1.5,\"y\":-2.0,\"z\":3}", nil),
      ("{\"t\": 5, \"mag\": {\"x\": 1.5, \"y\": -2, \"z\": 3}}", nil),
      ("{\"acc\":[7,8,9],\"mag\":[1.5,-2,3],\"name\":\"x\"}", nil), ("mx=1.5, my=-2, mz=3", nil),
      ("X: 1.5  Y: -2.0  Z: 3.0  uT", nil), ("Mag X: 1.5 Mag Y: -2 Mag Z: 3", nil),
      ("12:00:01.25 magnetometer: 1.5 -2 3", nil), ("mag=(1.5, -2, 3) acc=(7, 8, 9)", nil),
      ("Raw:1,2,3,4,5,6,15,-20,30", .microtesla), ("Uni:1,2,3,4,5,6,1.5,-2,3", .microtesla),
    ] as [(String, FieldUnit?)])
  func names(line: String, unit: FieldUnit?) {
    let table = SampleTableTests.read(bytes: "\(line)\nwords alone\n\(line)\n".utf8)
    #expect(table.problem == nil && table.isLabelled && table.origin == .header)
    #expect(table.samples.map(\.field) == [Vector3(1.5, -2, 3), Vector3(1.5, -2, 3)])
    #expect(table.unit == unit)
  }

  @Test(
    "lines that name nothing are tables",
    arguments: [
      "1.5,-2,3", "2026-11-22T12:00:00,1.5,-2,3", "12:00:00 1.5 -2 3", "MAG,1.5,-2,3",
    ])
  func tables(line: String) {
    let table = SampleTableTests.read(bytes: "\(line)\n\(line)\n".utf8)
    #expect(!table.isLabelled && table.samples.map(\.field.x) == [1.5, 1.5], "\(table.columns)")
  }

  @Test("names that hold no field are not guessed at")
  func otherNames() {
    let line = "pitch=1 roll=2 yaw=3\n"
    let table = SampleTableTests.read(bytes: (line + line).utf8)
    #expect(table.samples.isEmpty && table.problem?.contains("--columns") == true)
  }

  @Test("lines with other names are left out", arguments: [1, 64, 5_000])
  func otherLines(brackets: Int) {
    let deep =
      String(repeating: "a={", count: brackets) + "\"" + String(repeating: "[", count: brackets)
    let table = SampleTableTests.read(
      bytes: "x=1 y=2 z=3\nx=1 y=2\nx=1 z=2 y=3\n\(deep)\nx=:y==z:\nx=4 y=5 z=6\n".utf8)
    #expect(table.samples.map(\.field) == [Vector3(1, 2, 3), Vector3(4, 5, 6)])
  }

  @Test("whatever the lines hold, reading them ends")
  func anyBytes() {
    var draws = SplitMix64(state: 3)
    let letters = Array("x y=:[]{}(),;\"1.-+eR\\\n".utf8) + [0, 0xC2, 0xFF]
    for _ in 0..<300 {
      let bytes = (0..<400).map { _ in letters[Int(draws.next() % UInt64(letters.count))] }
      let table = SampleTableTests.read(bytes: bytes)
      #expect(table.samples.allSatisfy { $0.field.isFinite })
    }
  }

  // MARK: No names at all

  /// Rows of an accelerometer, a gyro and a magnetometer that are turned about together.
  private static func rows(gravity: Double, turn: Bool = true) -> [(Vector3, Vector3, Vector3)] {
    var draws = SyntheticDraws(state: 77)
    var attitude = Quaternion.identity
    var rate = Vector3.zero
    return (0..<400).map { _ in
      rate = 0.95 * rate + (turn ? 0.05 : 0) * draws.normals()
      attitude = (attitude * Quaternion(rotationVector: rate)).normalized
      return (
        attitude.rotate(Vector3(0, 0, gravity)) + 0.01 * gravity * draws.normals(),
        20 * rate + 0.5 * draws.normals(),
        attitude.rotate(Vector3(18, 4, -44)) + Vector3(12, -30, 5) + 0.4 * draws.normals()
      )
    }
  }

  private static func text(_ rows: [[Vector3]]) -> String {
    rows.map { row in
      row.map { "\($0.x),\($0.y),\($0.z)" }.joined(separator: ",")
    }.joined(separator: "\n")
  }

  @Test(
    "without a header the magnetometer is known by what it is",
    arguments: [9.806_65, 1, 8_192])
  func search(gravity: Double) throws {
    let rows = Self.rows(gravity: gravity)
    func columns(_ order: ((Vector3, Vector3, Vector3)) -> [Vector3]) -> SampleTable {
      SampleTableTests.read(bytes: Self.text(rows.map(order)).utf8)
    }
    let last = columns { [$0.0, $0.1, $0.2] }
    #expect(last.origin == .found && last.columns.description == "7,8,9")
    #expect(last.samples.map(\.field) == rows.map(\.2))
    #expect(columns { [$0.2, $0.0] }.columns.description == "1,2,3")
    #expect(columns { [$0.0, $0.2, $0.1] }.columns.description == "4,5,6")
    // An accelerometer and a gyro hold no field.
    let none = columns { [$0.0, $0.1] }
    #expect(none.samples.isEmpty && none.problem?.contains("--columns") == true)
    // Nor can it be told which of two magnetometers is meant.
    let two = columns { [$0.2, $0.1, 2 * $0.2] }
    #expect(two.samples.isEmpty && two.problem?.contains("--columns") == true)
  }

  @Test("gravity is known by its size, within two percent")
  func sizes() {
    for size in [9.806_65, 9.62, 10, 1, 0.981, 1.019] { #expect(FieldSearch.isGravity(size)) }
    for size in [9.6, 10.01, 0.97, 1.03, 0.36, 48, 48_000] {
      #expect(!FieldSearch.isGravity(size) && !FieldSearch.isCountedGravity(size))
    }
    for size in [1_000.0, 980.665, 965.6, 256, 4_050, 16_700] {
      #expect(FieldSearch.isCountedGravity(size))
    }
  }

  @Test("three columns of gravity are no field", arguments: [9.806_65, 1])
  func gravity(size: Double) {
    let rows = Self.rows(gravity: size)
    func refusal(_ rows: [[Vector3]]) -> String? {
      let table = SampleTableTests.read(bytes: Self.text(rows).utf8)
      return table.gravity(of: MagnetometerFitter().fit(table.samples))
    }
    #expect(refusal(rows.map { [$0.0] })?.contains("gravity") == true)
    #expect(refusal(rows.map { [$0.2] }) == nil)
    // Who names the columns is believed.
    let table = SampleTableTests.read(bytes: ("mx,my,mz\n" + Self.text(rows.map { [$0.0] })).utf8)
    #expect(table.gravity(of: MagnetometerFitter().fit(table.samples)) == nil)
  }

  @Test("a board that is not turned does not tell its columns")
  func rest() {
    let rows = Self.rows(gravity: 9.81, turn: false).map { [$0.0, $0.1, $0.2] }
    let table = SampleTableTests.read(bytes: Self.text(rows).utf8)
    #expect(table.samples.isEmpty && table.problem?.contains("--columns") == true)
  }

  @Test("columns that never change come after those that do")
  func zeros() {
    let rows = (1...9).map { "0;0;0;\($0);2;\($0 % 3)" }.joined(separator: "\n")
    let table = SampleTableTests.read(
      bytes: ("magneticFieldX;magneticFieldY;magneticFieldZ;magX;magY;magZ\n" + rows).utf8)
    #expect(table.columns.description == "4,5,6")
  }
}

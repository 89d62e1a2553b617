import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

@Suite struct SampleTableTests {
  static func read(
    _ text: String, _ columns: String = "1-3", force: String? = nil
  ) throws -> SampleTable {
    let field = try #require(SampleTable.Columns(columns))
    var table = SampleTable(
      columns: field, force: try force.map { try #require(SampleTable.Columns($0)) })
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { table.take(line) }
    return table
  }

  @Test(arguments: [
    "1,-2,3.5", "1, -2, 3.5", "1 -2 3.5", "  1   -2 3.5  ", "1\t-2\t3.5", "1;-2;3.5",
    "1;-2;3,5", "1e0,-2.0,+3.5", "\"1\",\"-2\",\"3.5\"", "1,-2,3.5,99,words", "1,-2,3.5\r",
    "\u{FEFF}1,-2,3.5",
  ])
  func aLineInManyForms(line: String) throws {
    let table = try Self.read(line)
    #expect(table.samples.map(\.field) == [Vector3(1, -2, 3.5)])
    #expect(table.skipped == 0)
  }

  @Test func columnsAreChosen() throws {
    let line = "7,1,2,3,4,5,6"
    #expect(try Self.read(line, "2-4").samples[0].field == Vector3(1, 2, 3))
    #expect(try Self.read(line, "4,3,2").samples[0].field == Vector3(3, 2, 1))
    let both = try Self.read(line, "2-4", force: "5-7")
    #expect(both.samples[0].force == Vector3(4, 5, 6))
    // What is empty keeps its place.
    #expect(try Self.read(",1,2,3", "2-4").samples[0].field == Vector3(1, 2, 3))
  }

  @Test(arguments: [
    "", "1", "1-2", "1-4", "3-1", "0-2", "1,2", "1,1,2", "1,2,3,4", "a-c", "1,2,", "-1,2,3",
    "99999999999999999999-3", "9999999-10000001", "9223372036854775807-9223372036854775807",
  ])
  func columnsThatAreNone(text: String) {
    #expect(SampleTable.Columns(text) == nil)
  }

  @Test func keptSamplesAreKnownByTheirHeader() throws {
    let kept = [
      CalibrationSample(
        time: Timestamp(seconds: 0), field: Vector3(1, -2, 3.5), force: Vector3(0, 1, 9.8)),
      CalibrationSample(time: Timestamp(seconds: 2.5), field: Vector3(40, 5, -6)),
    ]
    let written = CalibrationSamples(
      keeping: kept,
      of: AppliedCalibration(
        matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 1)
    ).encoded()
    let text = "# record of today\n" + String(decoding: written, as: UTF8.self)
    func read(_ table: SampleTable) -> SampleTable {
      var table = table
      for line in text.split(separator: "\n") { table.take(line) }
      table.take("1,2,3")
      return table
    }
    let table = read(SampleTable())
    #expect(table.samples == kept)
    #expect(table.isOwn && table.skipped == 1 && table.firstSkipped == 5)
    // Who gives columns is believed.
    let foreign = read(SampleTable(columns: .first))
    #expect(!foreign.isOwn && foreign.samples[0].field == Vector3(0, 1, -2))
  }

  @Test func headersAndRemarksDoNotCount() throws {
    let table = try Self.read("# made by hand\n\nx,y,z\n1,2,3\n// more\n4,5,6\n")
    #expect(table.samples.count == 2)
    #expect(table.skipped == 0)
  }

  @Test(
    "a header names the field's columns, whatever its hand",
    arguments: [
      ("t,mx,my,mz,label", "2,3,4"), ("MX;MY;MZ", "1,2,3"), ("Mag_Z,Mag_Y,Mag_X", "3,2,1"),
      ("time\tmag_x [uT]\tmag_y [uT]\tmag_z [uT]", "2,3,4"),
      ("time mag-x (uT) mag-y (uT) mag-z (uT)", "2,3,4"),
      ("\"ts\",\"magX\",\"magY\",\"magZ\"", "2,3,4"), ("i, X, Y, Z", "2,3,4"),
      // The magnetometer's before plain ones, which may be anybody's.
      ("x,y,z,mag.x,mag.y,mag.z", "4,5,6"), ("ax,ay,az,gx,gy,gz,bx,by,bz", "7,8,9"),
      ("\u{FEFF}t,magnetometer_x,magnetometer_y,magnetometer_z", "2,3,4"),
    ])
  func headerNamesColumns(header: String, columns: String) throws {
    var table = SampleTable()
    table.take("# a remark")
    table.take(header)
    table.take("1,2,3,4,5,6,7,8,9")
    #expect(table.origin == .header && table.columns.description == columns)
    let places = columns.split(separator: ",").compactMap { Double($0) }
    #expect(table.samples.map(\.field) == [Vector3(places[0], places[1], places[2])])
    #expect(table.skipped == 0)
    // Who gives columns is believed.
    let given = try Self.read(header + "\n1,2,3,4,5,6,7,8,9", "2-4")
    #expect(given.origin == .given && given.samples.map(\.field) == [Vector3(2, 3, 4)])
    // An accelerometer's may be given alone.
    let last = try #require(SampleTable.Columns("5-7"))
    var force = SampleTable(force: last)
    for line in [header, "1,2,3,4,5,6,7,8,9"] { force.take(line) }
    #expect(force.columns == table.columns && force.samples.map(\.force) == [Vector3(5, 6, 7)])
  }

  @Test(
    "a header that names no field, or one twice, leaves the first three",
    arguments: ["a,b,c", "t,mx,my", "x,x,y,z", "ax,ay,az", "mag_x,my,z", "(x),(y),(z)", "1,2,3"])
  func headerWithoutField(header: String) {
    var table = SampleTable()
    for line in [header, "1,2,3,4"] { table.take(line) }
    #expect(table.origin == .assumed && table.columns == .first)
    #expect(table.samples.last?.field == Vector3(1, 2, 3))
  }

  @Test func badLinesAreLeftOutAndCounted() throws {
    let table = try Self.read(
      "1,2,3\nnan,1,2\n1,2\n1,inf,2\n1,2,0x10\n1,2,1e999\nx,y,z\n1,,3\n,,\n4,5,6\n\0\n"
        + String(repeating: "9", count: 70_000) + "\n7,8,9")
    #expect(table.samples.count == 3)
    #expect(table.skipped == 10)
    #expect(table.firstSkipped == 2)
    // A first line that lacks a number is no header.
    #expect(try Self.read("1,2\n1,2,3").skipped == 1)
  }

  @Test func samplesFollowEachOther() throws {
    let table = try Self.read("1,2,3\n1,2,4\n1,2,5")
    let times = table.samples.map(\.time.nanoseconds)
    #expect(times == [0, 50_000_000, 100_000_000])
  }

  @Test func aFileWithoutEndIsLeftOff() {
    var table = SampleTable()
    for _ in 0..<(SampleTable.mostLines + 5) { table.take("") }
    #expect(table.isFull)
    #expect(table.lines == SampleTable.mostLines)
  }
}

import CalibrationCore
import CalibrationUI
import LinearAlgebra
import MagnetometerLogs
import SensorTypes
import Testing

@Suite struct SampleTableTests {
  static func read(
    _ text: String, _ columns: String = "1-3", force: String? = nil
  ) throws -> SampleTable {
    let field = try #require(SampleTable.Columns(columns))
    var table = SampleTable(
      columns: field, force: try force.map { try #require(SampleTable.Columns($0)) })
    table.take(text.utf8)
    table.finish()
    return table
  }

  /// Reads a file of which nothing is known.
  static func read(bytes: some Collection<UInt8>) -> SampleTable {
    var table = SampleTable()
    table.take(bytes)
    table.finish()
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
      table.take((text + "1,2,3").utf8)
      table.finish()
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
    let separators: [Character] = [";", "\t", ",", " "]
    let separator = separators.first { header.contains($0) } ?? ","
    let row = (1...9).map(String.init).joined(separator: String(separator))
    let table = Self.read(bytes: "# a remark\n\(header)\n\(row)".utf8)
    #expect(table.origin == .header && table.columns.description == columns)
    let places = columns.split(separator: ",").compactMap { Double($0) }
    #expect(table.samples.map(\.field) == [Vector3(places[0], places[1], places[2])])
    #expect(table.skipped == 0)
    // Who gives columns is believed.
    let given = try Self.read(header + "\n" + row, "2-4")
    #expect(given.origin == .given && given.samples.map(\.field) == [Vector3(2, 3, 4)])
    // An accelerometer's may be given alone.
    let isLast = places[2] > 6
    let others = try #require(SampleTable.Columns(isLast ? "4-6" : "7-9"))
    var force = SampleTable(force: others)
    force.take((header + "\n" + row).utf8)
    force.finish()
    #expect(force.columns == table.columns && force.samples.count == 1)
    #expect(force.samples.first?.force == (isLast ? Vector3(4, 5, 6) : Vector3(7, 8, 9)))
  }

  @Test(
    "units, numbers and other hands in a header's names",
    arguments: [
      ("t,mag_x_uT,mag_y_uT,mag_z_uT", "2,3,4", FieldUnit.microtesla),
      ("MagX_nT,MagY_nT,MagZ_nT", "1,2,3", .nanotesla), ("Bx_nT;By_nT;Bz_nT", "1,2,3", .nanotesla),
      ("x_gauss,y_gauss,z_gauss", "1,2,3", .gauss), ("x_raw,y_raw,z_raw", "1,2,3", .counts),
      ("mag_raw_x,mag_raw_y,mag_raw_z", "1,2,3", .counts),
      ("mag_x_uT_raw,mag_y_uT_raw,mag_z_uT_raw", "1,2,3", .microtesla),
      ("mag_raw_x (uT),mag_raw_y (uT),mag_raw_z (uT)", "1,2,3", .microtesla),
      ("Bx (mT),By (mT),Bz (mT)", "1,2,3", .millitesla),
      ("magn_x,magn_y,magn_z", "1,2,3", nil), ("hx,hy,hz", "1,2,3", nil),
      ("uncal_x,uncal_y,uncal_z,bias_x,bias_y,bias_z", "1,2,3", nil),
      (
        "timestamp,device_id,magnetometer_ga[0],magnetometer_ga[1],magnetometer_ga[2]", "3,4,5",
        .gauss
      ),
      ("magnetometer.x,magnetometer.y,magnetometer.z", "1,2,3", nil),
      ("Mag X (uT),Mag Y (uT),Mag Z (uT)", "1,2,3", .microtesla),
      ("Mag X (\u{B5}T),Mag Y (\u{B5}T),Mag Z (\u{B5}T)", "1,2,3", .microtesla),
      ("MAG_X[mG]\tMAG_Y[mG]\tMAG_Z[mG]", "1,2,3", .milligauss),
      ("ax,ay,az,gx,gy,gz,mag_x_uT,mag_y_uT,mag_z_uT", "7,8,9", .microtesla),
      ("x,y,z,mag_x,mag_y,mag_z", "4,5,6", nil), ("(x),(y),(z)", "1,2,3", nil),
      ("mag1,mag2,mag3", "1,2,3", nil), ("t mag0 mag1 mag2", "2,3,4", nil),
      ("mag_x_cal,mag_y_cal,mag_z_cal,mag_x_raw,mag_y_raw,mag_z_raw", "4,5,6", .counts),
      ("TimeUS,I,MagX,MagY,MagZ,OfsX,OfsY,OfsZ,S", "3,4,5", nil),
      (
        "\"Time (s)\",\"Magnetic field x (uT)\",\"Magnetic field y (uT)\",\"Magnetic field z (uT)\"",
        "2,3,4", .microtesla
      ),
      ("time_s,acc_x_g,acc_y_g,acc_z_g,mag_x_g,mag_y_g,mag_z_g", "5,6,7", .gauss),
      ("xmag,ymag,zmag", "1,2,3", nil), ("accelX,accelY,accelZ,magX,magY,magZ", "4,5,6", nil),
      ("X (m/s^2),Y (m/s^2),Z (m/s^2),bx,by,bz", "4,5,6", nil),
      ("hmc5883l_x,hmc5883l_y,hmc5883l_z", "1,2,3", nil),
      (
        "%time,field.header.seq,field.magnetic_field.x,field.magnetic_field.y,field.magnetic_field.z",
        "3,4,5", nil
      ),
    ] as [(String, String, FieldUnit?)])
  func headerWithUnits(header: String, columns: String, unit: FieldUnit?) throws {
    let separators: [Character] = [";", "\t", ",", " "]
    let separator = separators.first { header.contains($0) } ?? ","
    let width = header.split(separator: separator).count
    let row = (1...width).map(String.init).joined(separator: String(separator))
    let table = Self.read(bytes: "\(header)\n\(row)\n\(row)".utf8)
    #expect(table.origin == .header && table.columns.description == columns)
    #expect(table.unit == unit && table.samples.count == 2 && table.skipped == 0)
  }

  @Test(
    "a header that names other things, or a field unclearly, is not guessed at",
    arguments: [
      "ax,ay,az", "t,mx,my", "x,x,y,z", "mag_x,my,z", "time,ax,ay,az", "lat,lon,alt",
      "roll,pitch,yaw", "time,temperature,pressure,humidity", "x,y,z,gx,gy,gz", "t;q0;q1;q2;q3",
      "accel_x (g),accel_y (g),accel_z (g)", "x (m/s^2),y (m/s^2),z (m/s^2)", "# t,ax,ay,az",
      "# ax ay az",
    ])
  func headerWithoutField(header: String) throws {
    let separator = header.contains(";") ? ";" : header.contains(",") ? "," : " "
    let width = header.split(separator: separator).filter { $0 != "#" }.count
    let row = (1...width).map(String.init).joined(separator: String(separator))
    let table = Self.read(bytes: "\(header)\n\(row)\n\(row)".utf8)
    let problem = try #require(table.problem)
    #expect(problem.contains("--columns") && table.samples.isEmpty)
    for name in header.split(separator: separator) where name != "#" {
      #expect(problem.contains(name.drop { "# ".contains($0) }))
    }
    // Who gives columns is believed.
    #expect(try Self.read("\(header)\n\(row)").samples.map(\.field) == [Vector3(1, 2, 3)])
  }

  @Test(
    "a header whose names say nothing leaves the first three",
    arguments: [
      ("a,b,c", "1,2,3"), ("1,2,3", "1,2,3"), ("Var1,Var2,Var3", "1,2,3"), ("t,a,b,c", "2,3,4"),
    ])
  func headerThatSaysNothing(header: String, columns: String) {
    let table = Self.read(bytes: "\(header)\n1,2,3,4".utf8)
    #expect(table.problem == nil && table.origin == .assumed)
    #expect(table.columns.description == columns)
  }

  @Test(
    "a table has one separator, and decimal commas where it is another one",
    arguments: [
      ("12,34\t5,6\t40,1", [12.34, 5.6, 40.1]), ("12,34;5,6;40,1", [12.34, 5.6, 40.1]),
      ("12,34 5,6 40,1", [12.34, 5.6, 40.1]), ("12,34; 5,6; 40,1;", [12.34, 5.6, 40.1]),
      ("1,2,3;", [1, 2, 3]), ("1,2,3,", [1, 2, 3]), ("1;2;3;;", [1, 2, 3]),
      ("1,\t2,\t3", [1, 2, 3]),
      ("\"12,34\",\"5,6\",\"40,1\"", [12.34, 5.6, 40.1]), ("1 , 2 , 3", [1, 2, 3]),
      ("1 2, 3", []), ("1 2, 3, 4 5, 6", []), ("1,2;3,4", []),
    ] as [(String, [Double])])
  func separators(line: String, numbers: [Double]) throws {
    let table = try Self.read(line + "\n" + line)
    #expect(table.samples.count == (numbers.isEmpty ? 0 : 2))
    #expect(table.skipped == (numbers.isEmpty ? 2 : 0))
    if let field = table.samples.first?.field { #expect([field.x, field.y, field.z] == numbers) }
  }

  @Test func theSeparatorIsTheWholeFiles() throws {
    // Whole numbers have no decimal comma, and a blank inside a number is no separator of others.
    let table = try Self.read("1,5 2,5 3,5\n12 5 40\n1,5 2 3,5\n")
    #expect(table.samples.map(\.field.x) == [1.5, 12, 1.5])
    let other = try Self.read("1,2,3\n4,5,6\n7 8,9,1\n7;8;9\n")
    #expect(other.samples.map(\.field.x) == [1, 4] && other.skipped == 2)
  }

  @Test(
    "headers in remarks and behind titles",
    arguments: [
      ("# t mx my mz", "0 1 2 3"), ("% mx my mz label", "1 2 3 0"), ("// t, mx, my, mz", "0,1,2,3"),
      ("Log of a walk, by hand\n\nt,mx,my,mz", "0,1,2,3"), ("# t mx my mz", "0,1,2,3"),
      ("t,mx,my,mz\ns,uT,uT,uT", "0,1,2,3"), ("# columns: t mx my mz", "0 1 2 3"),
      ("Walk\nt;mx;my;mz", "0;1;2;3"),
    ])
  func headersElsewhere(before: String, row: String) {
    let table = Self.read(bytes: "\(before)\n\(row)\n\(row)".utf8)
    #expect(table.origin == .header)
    #expect(table.samples.first?.field == Vector3(1, 2, 3))
    #expect(table.skipped == 0 && table.problem == nil)
  }

  @Test(
    "without a header a column that rises is a time",
    arguments: [
      // The first step, the step, the moment of the second sample.
      (0.0, 0.01, 0.01), (1_000, 10, 0.01), (5, 20, 0.02), (1_574_436_000, 0.1, 0.1),
      (1_574_436_000_000, 20, 0.02), (1_574_436_000_000_000, 5_000, 0.005),
      (2_713_984_612_542, 9_883_954, 0.009_883_954), (1, 1, SampleTable.interval),
      (1_574_436_000_000, 1_000, 1),
    ] as [(Double, Double, Double)])
  func timesAreKnown(start: Double, step: Double, second: Double) throws {
    let rows = (0..<30).map { k in
      "\(start + Double(k) * step),\(k * 7 % 11),\(k * 5 % 13),\(k * 3 % 17)"
    }
    let table = Self.read(bytes: rows.joined(separator: "\n").utf8)
    #expect(table.columns.description == "2,3,4" && table.passed == 1)
    #expect(table.samples.count == 30 && table.samples[1].field == Vector3(7, 5, 3))
    #expect(abs(table.samples[1].time.seconds - second) < 1e-6)
    #expect((table.timeColumn == nil) == (step == 1))
    // With columns given the time counts all the same, and a user who wants the first three has them.
    let given = try Self.read(rows.joined(separator: "\n"), "2-4")
    #expect(given.samples == table.samples)
    let first = try Self.read(rows.joined(separator: "\n"))
    #expect(first.samples.isEmpty == (start >= 1e12) && first.beyond == (start >= 1e12 ? 30 : 0))
    // Three columns alone hold no time.
    let three = rows.map { $0.split(separator: ",").prefix(3).joined(separator: ",") }
    #expect(Self.read(bytes: three.joined(separator: "\n").utf8).columns == .first)
  }

  @Test func aTableMayCountItsRowsWithoutAName() {
    let table = Self.read(bytes: "mx my mz\n1 5 2 3\n2 5 2 3\n3 5 2 3\n".utf8)
    #expect(table.columns.description == "2,3,4" && table.timeColumn == nil)
  }

  @Test func aHeadersTimeHasItsUnitAndMayJump() {
    let text =
      "time_ms,mx,my,mz\n"
      + [0, 100, 200, 150, 250, 90_000_000, 90_000_100]
      .map { "\($0),1,2,3" }.joined(separator: "\n")
    // Set back, and a day's pause: a step as if nothing told one.
    #expect(
      Self.read(bytes: text.utf8).samples.map { Int(($0.time.seconds * 1e3).rounded()) }
        == [0, 100, 200, 250, 350, 400, 500])
  }

  @Test func wordsBeforeTheNumbersAreNoField() {
    let table = Self.read(
      bytes: (0..<9).map { "2026-11-22 12:00:0\($0),MAG,\($0),2,3" }.joined(separator: "\n").utf8)
    #expect(table.columns.description == "3,4,5" && table.samples.count == 9)
  }

  @Test func aForeignTableWithTheOwnHeaderIsForeign() {
    let text = "t,mx,my,mz,ax,ay,az\n1574436000,48000,-20000,15000,1,2,9.8\n"
    let table = Self.read(bytes: text.utf8)
    #expect(!table.isOwn && table.origin == .header && table.skipped == 0)
    #expect(table.samples.map(\.field) == [Vector3(48_000, -20_000, 15_000)])
    #expect(table.samples[0].force == nil && table.unusedForce?.description == "5,6,7")
    #expect(Self.read(bytes: ("# record of a day\n" + text).utf8).isOwn)
  }

  @Test(
    "encodings and ends of lines", arguments: ["\n", "\r\n", "\r"],
    ["utf8", "bom", "le", "be", "bare le"])
  func encodings(end: String, encoding: String) {
    let text = ["mag_x (\u{B5}T),mag_y,mag_z", "1,2,3", "", "4,5,6"].joined(separator: end) + end
    let bytes: [UInt8] =
      switch encoding {
      case "utf8": Array(text.utf8)
      case "bom": [0xEF, 0xBB, 0xBF] + text.utf8
      case "le": [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      case "be": [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
      default: text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      }
    let whole = Self.read(bytes: bytes)
    #expect(whole.samples.map(\.field) == [Vector3(1, 2, 3), Vector3(4, 5, 6)])
    #expect(whole.origin == .header && whole.lines == 4 && whole.unit == .microtesla)
    // However it comes in pieces.
    var pieces = SampleTable()
    for byte in bytes { pieces.take([byte]) }
    pieces.finish()
    #expect(pieces.samples == whole.samples && pieces.lines == 4)
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
    table.take([UInt8](repeating: 0x0A, count: SampleTable.mostLines + 5))
    #expect(table.isFull)
    #expect(table.lines == SampleTable.mostLines)
  }

  @Test("one column is not the field's and the force's")
  func fieldIsNoForce() throws {
    let force = try #require(SampleTable.Columns("1-3"))
    var table = SampleTable(force: force)
    table.take((1...20).map { "0.1 0.2 9.8 \($0) 2 3\n" }.joined().utf8)
    table.finish()
    #expect(table.problem?.contains("--columns") == true && table.samples.isEmpty)
    let field = try #require(SampleTable.Columns("4-6"))
    table = SampleTable(columns: field, force: force)
    table.take((1...20).map { "0.1 0.2 9.8 \($0) 2 3\n" }.joined().utf8)
    table.finish()
    #expect(table.problem == nil && table.samples.count == 20)
  }
}

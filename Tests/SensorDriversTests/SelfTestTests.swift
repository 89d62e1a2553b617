// Self-tests transfer by transfer, as ST's application notes have them, and what a report makes of numbers.

import SensorBus
import Testing

@testable import SensorDrivers

@Suite struct SelfTestTests {
  /// Six output bytes of three counts.
  private static func bytes(_ x: Int16, _ y: Int16, _ z: Int16) -> [UInt8] {
    [x, y, z].flatMap { count in
      let word = UInt16(bitPattern: count)
      return [UInt8(word & 0xFF), UInt8(word >> 8)]
    }
  }

  /// A conversion that is dropped, and five that average to the counts; one look comes too early.
  private static func conversions(
    status: UInt8, ready: UInt8, output: UInt8, _ x: Int16, _ y: Int16, _ z: Int16
  ) -> [Transfer] {
    var transfers: [Transfer] = [
      .read(status, [ready]), .read(output, bytes(15000, -99, 7)),
      .read(status, [0xFF & ~ready]),
    ]
    for deviation: Int16 in [-20, -10, 0, 10, 20] {
      transfers += [
        .read(status, [ready]), .read(output, bytes(x + deviation, y - deviation, z)),
      ]
    }
    return transfers
  }

  /// Steps to the end and gives the waits.
  private func finish(
    _ test: inout any SelfTesting, _ device: ScriptedDevice
  ) throws -> (report: SelfTestReport, waits: [Double]) {
    var waits: [Double] = []
    for _ in 0..<100 {
      switch try test.step(device) {
      case .done(let report): return (report, waits)
      case .wait(let seconds): waits.append(seconds)
      }
    }
    return (try #require(nil, "not over after 100 steps"), waits)
  }

  /// What a report says of an axis; NaN for one without a figure.
  private func value(_ axis: AxisReport) -> Double { axis.finding.figure?.value ?? .nan }

  private func waits(rate: Double) -> [Double] {
    [0.9 / rate, 0.2 / rate] + [Double](repeating: 0.9 / rate, count: 4)
  }

  /// AN4602, figure 6: 40h, 1Ch, 20 ms, 00h, 20 ms; 1Dh, 60 ms; 1Ch, 03h.
  static let lis3mdl = script(
    [.read(0x0F, [0x3D]), .write(0x21, [0x04]), .read(0x21, [0x00])],
    written([(0x24, 0x40), (0x21, 0x40), (0x23, 0x00), (0x20, 0x1C)]),
    written([(0x22, 0x00)]),
    conversions(status: 0x27, ready: 0x08, output: 0xA8, 1000, -1000, 500),
    written([(0x20, 0x1D)]),
    // -3562 counts are -1.5616 gauss, 2400 are 1.0522, 456 are 0.1999.
    conversions(status: 0x27, ready: 0x08, output: 0xA8, -2562, 1400, 956),
    written([(0x20, 0x1C), (0x22, 0x03)]))

  @Test("LIS3MDL: the course of the application note, and nothing else")
  func lis3mdl() throws {
    let device = ScriptedDevice(Self.lis3mdl)
    var test: any SelfTesting = DeflectionTest.lis3mdl
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    let turns = self.waits(rate: 80)
    let expected = [[0.01, 0.02, 0.02], turns, [0.06], turns]
    #expect(waits == Array(expected.joined()))
    #expect(report.passed)
    #expect(near(value(report.axes[0]), -3562.0 / 2281, 1e-9))
    #expect(near(value(report.axes[1]), 2400.0 / 2281, 1e-9))
    #expect(near(value(report.axes[2]), 456.0 / 2281, 1e-9))
  }

  /// AN5272: 38h, 100 ms; ST_XL 01, 100 ms; then 5Ch, 100 ms; ST_G 01, 100 ms; both off.
  static let lsm6dsox = script(
    [.read(0x0F, [0x6C]), .write(0x12, [0x01]), .read(0x12, [0x04])],
    written([(0x12, 0x44), (0x14, 0x00), (0x11, 0x00), (0x10, 0x38)]),
    conversions(status: 0x1E, ready: 0x01, output: 0x28, 0, 100, 8200),
    written([(0x14, 0x01)]),
    // 410 counts of 0.122 mg are 50.02 mg; 13935 are 1700.1 mg.
    conversions(status: 0x1E, ready: 0x01, output: 0x28, 410, 14035, 4100),
    written([(0x14, 0x00), (0x10, 0x00), (0x11, 0x5C)]),
    conversions(status: 0x1E, ready: 0x02, output: 0x22, 5, -5, 0),
    written([(0x14, 0x04)]),
    // 2143 counts of 70 mdps are 150.01 dps; 2142 are 149.94.
    conversions(status: 0x1E, ready: 0x02, output: 0x22, 2148, -2147, 5000),
    written([(0x14, 0x00), (0x11, 0x00)]))

  @Test("LSM6DSOX: the course of the application note; each axis is judged on its own")
  func lsm6dsox() throws {
    let device = ScriptedDevice(Self.lsm6dsox, address: 0x6A)
    var test: any SelfTesting = DeflectionTest.lsm6(.lsm6dsox)
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    let linear = self.waits(rate: 52)
    let angular = self.waits(rate: 208)
    let expected = [[0.01, 0.1], linear, [0.1], linear, [0.1], angular, [0.1], angular]
    #expect(waits == Array(expected.joined()))
    let changes = [410, 13935, -4100].map { $0 * 0.122 } + [2143, -2142, 5000].map { $0 * 0.07 }
    for (axis, change) in zip(report.axes, changes) { #expect(near(value(axis), change, 1e-9)) }
    #expect(report.axes.map(\.passed) == [true, false, true, true, false, true])
    #expect(!report.passed)
  }

  @Test("every transfer may fail: its error comes out, and the next step is the first again")
  func errors() throws {
    let courses: [(test: DeflectionTest, script: [Transfer])] = [
      (.lis3mdl, Self.lis3mdl), (.lsm6(.lsm6dsox), Self.lsm6dsox),
    ]
    for (course, script) in courses {
      for place in script.indices {
        let (refused, register): (Transfer, UInt8) =
          switch script[place] {
          case .read(let register, let bytes):
            (.readFails(register, bytes.count, .noAnswer), register)
          case .write(let register, let bytes):
            (.writeFails(register, bytes, .noAnswer), register)
          default: (script[place], 0)
          }
        let device = ScriptedDevice(script[..<place] + [refused])
        var test: any SelfTesting = course
        #expect(throws: DriverError.bus(device.error(.noAnswer, register))) {
          try finish(&test, device)
        }
        device.expectDone()
        device.then(Array(script[..<2]))
        #expect(try test.step(device) == .wait(seconds: 0.01))
        device.expectDone()
      }
    }
  }

  @Test("a reset that does not end, and a conversion that does not come, are said")
  func bounds() throws {
    var script: [Transfer] = [.read(0x0F, [0x3D]), .write(0x21, [0x04])]
    var device = ScriptedDevice(script + [Transfer](repeating: .read(0x21, [0x04]), count: 10))
    var test: any SelfTesting = DeflectionTest.lis3mdl
    #expect(throws: DriverError.notReady("LIS3MDL: the reset of its self-test does not end")) {
      try finish(&test, device)
    }
    device.expectDone()
    script = Array(Self.lis3mdl[..<13])
    device = ScriptedDevice(script + [Transfer](repeating: .read(0x27, [0x07]), count: 20))
    #expect(
      throws: DriverError.notReady(
        "LIS3MDL: no new conversion for four periods of its self-test")
    ) { try finish(&test, device) }
    device.expectDone()
  }

  @Test("a report passes by every axis, limits included; one on nothing does not")
  func report() {
    func axis(_ change: Double) -> AxisReport {
      AxisReport(
        .angularRate, .y,
        .change(SelfTestReport.Figure(change, limits: 150...700, .degreesPerSecond)))
    }
    for (change, passed) in [
      (150.0, true), (-150, true), (700, true), (-700, true), (149.999, false), (700.001, false),
      (0, false), (.nan, false), (-.infinity, false),
    ] { #expect(axis(change).passed == passed, "\(change)") }
    #expect(!SelfTestReport(chip: "A", axes: []).passed)
    #expect(SelfTestReport(chip: "A", axes: [axis(200), axis(-300)]).passed)
    let failed = SelfTestReport(chip: "A", axes: [axis(-200.12345), axis(1)])
    #expect(!failed.passed)
    #expect(
      failed.description == """
        A: self-test failed
          angular rate y: -200.123 dps, limits 150.0 to 700.0: passed
          angular rate y: 1.0 dps, limits 150.0 to 700.0: failed
        """)
  }

  @Test("an output has a sign; a verdict has no figure, and may be of all axes")
  func findings() {
    func value(_ value: Double) -> AxisReport {
      AxisReport(
        .magneticField, .z, .value(SelfTestReport.Figure(value, limits: -1000 ... -200, .counts)))
    }
    for (output, passed) in [
      (-200.0, true), (-1000, true), (-199, false), (-1001, false), (500, false), (.nan, false),
    ] { #expect(value(output).passed == passed, "\(output)") }
    func verdict(_ passed: Bool) -> AxisReport {
      AxisReport(.angularRate, nil, .verdict(passed: passed))
    }
    #expect(verdict(true).passed && !verdict(false).passed)
    let report = SelfTestReport(chip: "A", axes: [value(-300), value(7), verdict(false)])
    #expect(
      report.description == """
        A: self-test failed
          magnetic field z: -300.0 counts, limits -1000.0 to -200.0: passed
          magnetic field z: 7.0 counts, limits -1000.0 to -200.0: failed
          angular rate: by the chip's own verdict: failed
        """)
    #expect(
      report.summary
        == "beyond its datasheet's limits: magnetic field z; failed by its own verdict: angular rate"
    )
    #expect(
      SelfTestReport(chip: "A", axes: [value(7), verdict(true)]).summary
        == "beyond its datasheet's limits: magnetic field z")
    #expect(
      SelfTestReport(chip: "A", axes: [value(-300), verdict(true)]).summary
        == "within its datasheet's limits")
    #expect(SelfTestReport(chip: "A", axes: [verdict(true)]).summary == "sound by its own verdict")
    #expect(
      SelfTestReport(chip: "A", axes: [verdict(false)]).summary
        == "failed by its own verdict: angular rate")
  }

  @Test("RM3100: BIST, POLL, and nothing else; without STE there is no result")
  func rm3100() throws {
    let start: [Transfer] = [
      .read(0x36, [0x22]), .write(0x01, [0x00]), .write(0x33, [0x8F]), .write(0x00, [0x70]),
    ]
    // YOK is missing.
    let device = ScriptedDevice(
      start + [
        .read(0x34, [0x2A]), .read(0x34, [0xAA]), .read(0x33, [0xDF]), .read(0x33, [0xDF]),
        .write(0x33, [0x00]),
      ], address: 0x20)
    var test: any SelfTesting = DeflectionTest.rm3100
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    #expect(waits == [0.01, 0.01])
    #expect(report.axes.map(\.passed) == [true, false, true])
    device.then(start + [.read(0x34, [0xAA]), .read(0x33, [0x7F])])
    #expect(
      throws: DriverError.configurationLost(register: 0x33, expected: 0x8F, found: 0x7F)
    ) { try finish(&test, device) }
    device.expectDone()
  }

  @Test("AK8963: fuse ROM, source, mode, outputs that the sensitivity adjusts")
  func ak8963() throws {
    let device = ScriptedDevice(
      [
        .read(0x00, [0x48]), .write(0x0B, [0x01]), .read(0x0B, [0x00]), .write(0x0A, [0x0F]),
        .read(0x10, [128, 0, 255]), .write(0x0A, [0x00]), .write(0x0C, [0x40]),
        .write(0x0A, [0x18]), .read(0x02, [0x00]), .read(0x02, [0x01]),
        // 200 counts as they are, -398 by a half, -2140 by 383/256.
        .read(0x03, Self.bytes(200, -398, -2140)), .read(0x09, [0x10]),
      ] + written([(0x0C, 0x00), (0x0A, 0x00)]), address: 0x0C)
    var test: any SelfTesting = DeflectionTest.akm(.ak8963)
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    #expect(waits == [0.01, 0.0001, 0.0001, 0.01, 0.01])
    for (axis, value) in zip(report.axes, [200, -199, -2140 * 383.0 / 256]) {
      #expect(near(self.value(axis), value, 1e-9))
    }
    #expect(report.axes.map(\.passed) == [true, true, false])
  }

  @Test("AK09916: two identities, mode 16, ST2 says what is beyond the range")
  func ak09916() throws {
    let start: [Transfer] = [
      .read(0x00, [0x48]), .read(0x01, [0x09]), .write(0x32, [0x01]), .read(0x32, [0x00]),
      .write(0x31, [0x10]), .read(0x10, [0x01]),
    ]
    let device = ScriptedDevice(
      start + [.read(0x11, Self.bytes(-200, 201, -1000)), .read(0x18, [0x00])]
        + written([(0x31, 0x00)]), address: 0x0C)
    var test: any SelfTesting = DeflectionTest.akm(.ak09916)
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    #expect(waits == [0.01, 0.01])
    #expect(report.axes.map(\.passed) == [true, false, true])
    device.then(start + [.read(0x11, Self.bytes(0, 0, -500)), .read(0x18, [0x08])])
    #expect(throws: DriverError.overflow) { try finish(&test, device) }
    device.expectDone()
  }

  @Test("BMM150: woken, reset, tested from sleep; a bit an axis")
  func bmm150() throws {
    let device = ScriptedDevice(
      [
        .write(0x4B, [0x01]), .read(0x40, [0x32]), .write(0x4B, [0x83]), .write(0x4B, [0x01]),
        .write(0x4C, [0x07]), .read(0x4C, [0x07]), .read(0x4C, [0x06]),
        .read(0x42, [0x01, 0xFF, 0xF8, 0xFF, 0x01]), .read(0x4B, [0x01]), .write(0x4B, [0x00]),
      ], address: 0x10)
    var test: any SelfTesting = DeflectionTest.bmm150
    let (report, waits) = try finish(&test, device)
    device.expectDone()
    #expect(waits == [0.003, 0.003, 0.003, 0.002, 0.01])
    #expect(report.axes.map(\.passed) == [true, false, true])
  }
}

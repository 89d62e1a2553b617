import BoardFile
import BoardTestSupport
@testable import Diagnosis
import Foundation
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

/// What a board file says that cannot work, before any wire is looked at. The rest of the doctor's
/// findings needs nodes: `Tests/command-line-boards.py` and the hardware rigs have it.
struct DoctorTests {
  private func findings(_ sensors: String, _ head: String = "") throws -> [Doctor.Finding] {
    let text = "schema: 1\nname: boat\n\(head)sensors:\n\(sensors)"
    let board = try BoardFile.parse(text, file: "boat.yaml")
    return Doctor().plan(board)
  }

  private static let magnetometer = "  - {chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c}\n"
  private static let inertial = "  - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a}\n"

  @Test(
    "a magnetometer alone on a board that tilts gives no heading: said, with the line that mends it"
  )
  func lonelyMagnetometer() throws {
    let alone = try #require(try findings(Self.magnetometer).first)
    #expect(alone.level == .problem && alone.sensor == 0)
    #expect(alone.mend?.contains("level: true") == true)
    #expect(try findings(Self.magnetometer, "level: true\n").isEmpty)
    #expect(try findings(Self.magnetometer + Self.inertial).isEmpty)
  }

  @Test("a mirrored mount is pointed out, a turned one is not")
  func mirrored() throws {
    func mount(_ axes: String) throws -> [Doctor.Finding] {
      try findings(
        "  - {chip: LSM6DSOX, bus: /dev/i2c-1, address: 0x6a, mount: [\(axes)]}\n")
    }
    #expect(try mount("+y, -x, +z").isEmpty)
    let note = try #require(try mount("+y, +x, +z").first)
    #expect(note.level == .note && note.text.contains("mirror image"))
  }
}

/// What documents alone say of a chip, and how well its bus works.
struct BusDoctorTests {
  private func bench(_ fault: SimulatedFault? = nil) throws -> DoctorBench {
    let bench = try DoctorBench { bus in
      [
        .init(.registers("MMC5603"), at: .bus(bus, address: 0x30)),
        .init(.registers("BMP280"), at: .bus(bus, address: 0x77)),
      ]
    }
    for chip in 0...1 {
      guard let fault else { break }
      bench.provider.inject(fault, chip: chip, from: bench.clock.now())
    }
    return bench
  }

  private func board(_ bench: DoctorBench, _ end: String = "") throws -> Board {
    try BoardFile.parse(
      """
      schema: 1
      name: desk
      level: true
      sensors:
        - {chip: MMC5603, bus: \(bench.bus), address: 0x30}
        - {chip: BMP280, bus: \(bench.bus), address: 0x77}
      \(end)
      """, file: "desk.yaml")
  }

  private func quality(_ fault: SimulatedFault?) throws -> Doctor.Finding {
    let bench = try bench(fault)
    let findings = bench.doctor.wiring(try board(bench))
    let found = findings.filter { $0.subject.hasSuffix(" is undisturbed") }
    #expect(found.count == 1)
    // The bus is at fault, and no chip is.
    #expect(findings.allSatisfy { $0.level != .problem || $0.sensor == nil }, "\(findings)")
    return try #require(found.first)
  }

  @Test(
    "a chip whose sign no real one has confirmed is noted on a real board, with how to check it")
  func unconfirmed() throws {
    let bench = try bench()
    let notes = bench.doctor.examine(try board(bench)).filter {
      $0.text.contains("not been confirmed on a real chip")
    }
    #expect(notes.count == 1)
    #expect(notes.first?.level == .note && notes.first?.sensor == 0)
    #expect(notes.first?.text.hasPrefix("MMC5603: the sign of its output") == true)
    #expect(notes.first?.mend?.contains("180 degrees out") == true)
    // The sign of a twin is known.
    let simulated = try board(
      bench, "simulation: {start: {latitude: 52.5, longitude: 13.4, altitude: 34}}")
    #expect(!bench.doctor.examine(simulated).contains { $0.text.contains("not been confirmed") })
  }

  @Test(
    "a bus of which every third transfer has to be repeated is a problem that says what to check")
  func disturbed() throws {
    let found = try quality(.disturbed(every: 3))
    #expect(found.level == .problem)
    // A third of the attempts: 100 transfers cost 50 repetitions.
    let numbers = found.text.split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2)
    #expect(abs(3 * numbers[0] - numbers[1]) <= 3 && numbers[1] >= 100, "\(found.text)")
    for word in ["pull-ups", "cable", "i2c_arm_baudrate"] {
      #expect(found.mend?.contains(word) == true)
    }
  }

  // Of two chips: together they make as many transfers as one alone, but for the last round's.
  @Test("a bus with two chips is tried with a hundred transfers")
  func trials() throws {
    let text = try quality(nil).text
    let tried = try #require(text.split(separator: " ").compactMap { Int($0) }.first)
    #expect((100...110).contains(tried), "\(text)")
  }

  @Test("a bus without a disturbance is good, and one that is disturbed now and then is noted")
  func calm() throws {
    #expect(try quality(nil).level == .good)
    #expect(try quality(.disturbed(every: 40)).level == .note)
  }

  @Test("a receiver is not asked: it would lose what is read")
  func receiver() throws {
    let bench = try DoctorBench { bus in [.init(.ubloxM9, at: .bus(bus, address: 0x42))] }
    let findings = bench.doctor.wiring(
      try BoardFile.parse(
        "schema: 1\nname: desk\nsensors:\n  - {chip: u-blox, bus: \(bench.bus), address: 0x42}\n",
        file: "desk.yaml"))
    #expect(!findings.contains { $0.subject.hasSuffix(" is undisturbed") })
  }
}

/// A receiver's pulse, as the doctor finds it.
struct PulseDoctorTests {
  private func finding(_ fault: PulseFault?, line: String = "GPIO18") throws -> Doctor.Finding {
    let bench = try DoctorBench { bus in
      [
        .init(
          .ubloxM9, at: .bus(bus, address: 0x42),
          interrupt: InterruptLineName(chip: "simulated", line: "GPIO18"))
      ]
    }
    bench.clock.advance(bySeconds: 10)
    if let fault { bench.provider.inject(.pulse(fault), chip: 0, from: bench.clock.now()) }
    let findings = try bench.findings(
      "schema: 1\nname: boat\nsensors:\n  - chip: u-blox\n    bus: \(bench.bus)\n"
        + "    address: 0x42\n    pps: {chip: simulated, line: \(line)}\n")
    return try #require(findings.first { $0.subject.hasSuffix(" has its PPS line") })
  }

  @Test(
    "a pulse a second is good, none may be for want of a fix, another rate or line is a problem")
  func pulses() throws {
    let good = try finding(nil)
    #expect(good.level == .good && good.text == "u-blox: PPS on simulated GPIO18: a pulse a second")
    let none = try finding(.missing)
    #expect(none.level == .note && none.mend?.contains("fix") == true)
    let many = try finding(.tenfold)
    #expect(many.level == .problem && many.mend?.contains("1 Hz") == true)
    let unknown = try finding(nil, line: "GPIO99")
    #expect(unknown.level == .problem && unknown.mend?.hasPrefix("gpioinfo") == true)
  }
}

/// A board that carries another chip than its file says.
struct OtherChipDoctorTests {
  /// What is found of the first chip of a file of Boards/ on a GY-87 with that compass.
  private func finding(
    _ name: String, compass: String, at address: UInt8, isOpen: Bool
  ) throws -> Doctor.Finding {
    let bench = try DoctorBench { bus in
      var chips: [SimulatedChip] = [
        .init(.registers("MPU6050"), at: .bus(bus, address: 0x68)),
        .init(.registers("BMP180"), at: .bus(bus, address: 0x77)),
        .init(.registers(compass), at: .bus(bus, address: address)),
      ]
      chips[2].host = 0
      return chips
    }
    if isOpen {
      // INT_PIN_CFG, I2C_BYPASS_EN.
      try [UInt8(0x02)].withUnsafeBytes {
        try bench.provider.registerDevice(bus: bench.bus, address: 0x68).write(0x37, from: $0)
      }
    }
    let text = try String(
      contentsOf: VirtualBoard.root.appending(path: "Boards/\(name).yaml"), encoding: .utf8)
    return try bench.answer(text.replacingOccurrences(of: "/dev/i2c-1", with: bench.bus))
  }

  @Test(
    "a GY-87 with the other compass is a problem that names both and the line",
    arguments: [
      ("gy-87-hmc5883l", "HMC5883L", UInt8(0x1E), "QMC5883L", UInt8(0x0D), "0x0d"),
      ("gy-87-qmc5883l", "QMC5883L", 0x0D, "HMC5883L", 0x1E, "0x1e"),
    ])
  func compass(
    file: String, named: String, place: UInt8, real: String, address: UInt8, written: String
  ) throws {
    let found = try finding(file, compass: real, at: address, isOpen: true)
    #expect(found.level == .problem)
    #expect(found.text.contains("the board file says \(named) at"), "\(found)")
    #expect(found.text.contains("there is \(real)") && found.text.hasSuffix("at \(written)"))
    let mend = try #require(found.mend)
    #expect(mend.hasPrefix("chip: \(real)") && mend.contains("address: \(written)"), "\(mend)")
    #expect(mend.contains("# line 2"))
    // The one that is meant is no problem.
    #expect(try finding(file, compass: named, at: place, isOpen: true).level == .good)
    // Behind a bypass that nobody has opened it cannot be seen, which is said with the way to open it.
    let hidden = try finding(file, compass: real, at: address, isOpen: false)
    #expect(hidden.level == .note && hidden.mend?.contains("lodestone monitor") == true)
  }

  @Test("who does not answer though the bypass is open is not awaited any more")
  func notThere() throws {
    let bench = try DoctorBench { bus in
      [.init(.registers("MPU6500"), at: .bus(bus, address: 0x68))]
    }
    // What was sold as an MPU9250.
    let text = """
      schema: 1
      name: desk
      sensors:
        - {chip: AK8963, bus: \(bench.bus), address: 0x0c}
        - {chip: MPU6500, bus: \(bench.bus), address: 0x68}
      """
    #expect(try bench.answer(text).level == .note)
    try [UInt8(0x02)].withUnsafeBytes {
      try bench.provider.registerDevice(bus: bench.bus, address: 0x68).write(0x37, from: $0)
    }
    let found = try bench.answer(text)
    #expect(found.level == .problem && found.text.contains("the way through the MPU6500 is open"))
    #expect(found.mend?.contains("remove the AK8963 in line 4") == true, "\(found)")
  }

  @Test(
    "a magnetometer that the kernel's driver of its host reads itself is a problem with a way out",
    arguments: [false, true])
  func keptByKernel(isOwned: Bool) throws {
    let bench = try DoctorBench { bus in
      [
        .init(
          .registers("MPU9250"), at: .bus(bus, address: 0x68), kernel: isOwned ? .mpu9250 : nil),
        .init(.registers("AK8963"), at: .bus(bus, address: 0x0C)),
      ]
    }
    let found = try bench.answer(
      """
      schema: 1
      name: desk
      sensors:
        - {chip: AK8963, bus: \(bench.bus), address: 0x0c}
        - {chip: MPU9250, bus: \(bench.bus), address: 0x68}
      """)
    #expect(found.level == (isOwned ? .problem : .note), "\(found)")
    if isOwned {
      #expect(found.text.contains("inv-mpu6050-i2c (iio:device0, mpu9250) owns the MPU9250"))
      #expect(found.text.contains("in_magn") && found.mend?.contains("unbind") == true)
    }
  }

  @Test("a chip at its other address is found there")
  func otherAddress() throws {
    let bench = try DoctorBench { bus in
      [
        .init(.registers("BMP280"), at: .bus(bus, address: 0x77)),
        .init(.registers("LIS3DH"), at: .bus(bus, address: 0x18)),
      ]
    }
    let found = try bench.answer(
      "schema: 1\nname: desk\nsensors:\n  - {chip: BMP280, bus: \(bench.bus), address: 0x76}\n")
    #expect(found.level == .problem)
    #expect(found.text.hasSuffix("where nobody answers; there is BMP280 at 0x77"))
    #expect(found.mend == "address: 0x77   # line 4 of the board file")
  }
}

/// Chips that answer alike and read otherwise.
struct LookalikeDoctorTests {
  /// What is said of the chip that the board file has, where those on the bus are others.
  private func finding(
    _ meant: String, at address: UInt8, real chips: [(String, UInt8)], altitude: Double? = nil
  ) throws -> Doctor.Finding {
    let bench = try DoctorBench { bus in
      chips.map { .init(.registers($0.0), at: .bus(bus, address: $0.1)) }
    }
    // Chips have been powered for a while.
    bench.clock.advance(bySeconds: 1)
    let height =
      altitude.map { "position: {latitude: 52.5, longitude: 13.4, altitude: \($0)}\n" } ?? ""
    return try bench.answer(
      "schema: 1\nname: desk\n\(height)sensors:\n"
        + "  - {chip: \(meant), bus: \(bench.bus), address: \(hexadecimal(address))}\n")
  }

  @Test(
    "an MS5607 that is called MS5611 is a problem that names both, and so is the other",
    arguments: [("MS5611", "MS5607"), ("MS5607", "MS5611")], [nil, 36.0])
  func pressure(pair: (String, String), altitude: Double?) throws {
    let found = try finding(pair.0, at: 0x77, real: [(pair.1, 0x77)], altitude: altitude)
    #expect(found.level == .problem)
    #expect(found.text.contains("says \(pair.0)") && found.text.contains(pair.1), "\(found)")
    #expect(found.text.contains("hPa") && found.mend?.hasPrefix("chip: \(pair.1) ") == true)
    let right = try finding(pair.0, at: 0x77, real: [(pair.0, 0x77)], altitude: altitude)
    #expect(right.level == .good, "\(right)")
  }

  @Test("the other half of a package tells, though the board file does not have it")
  func partners() throws {
    let half = [("LSM9DS1-M", UInt8(0x1E)), ("LSM9DS1-AG", 0x6B)]
    let found = try finding("LIS3MDL", at: 0x1E, real: half)
    #expect(found.level == .problem && found.text.contains("there is LSM9DS1-M"), "\(found)")
    #expect(try finding("LSM9DS1-M", at: 0x1E, real: half).level == .good)
    let alone = try finding("LSM9DS1-M", at: 0x1E, real: [("LIS3MDL", 0x1E)])
    #expect(alone.level == .problem && alone.text.contains("there is LIS3MDL"), "\(alone)")
    let st = [("LSM303DLHC-M", UInt8(0x1E)), ("LSM303DLHC-A", 0x19)]
    let honeywell = try finding("HMC5883L", at: 0x1E, real: st)
    #expect(honeywell.level == .problem && honeywell.text.contains("LSM303DLHC-M"))
    #expect(try finding("LSM303DLHC-A", at: 0x19, real: st).level == .good)
    let breakout = try finding(
      "LSM303DLHC-M", at: 0x1E, real: [("HMC5883L", 0x1E), ("LIS3DH", 0x19)])
    #expect(breakout.level == .problem && breakout.text.contains("there is HMC5883L"))
  }

  @Test("names that one driver serves are right", arguments: ["DPS310", "DPS368", "SPL06"])
  func served(real: String) throws {
    for meant in ["DPS310", "DPS368", "SPL06"] {
      let found = try finding(meant, at: 0x77, real: [(real, 0x77)])
      // An SPL06 that does not say where its coefficients belong is none of Infineon's, and would read wrongly as one.
      let isTold = found.level == .problem && found.text.contains("there is SPL06")
      #expect(found.level == .good || real == "SPL06" && meant != real && isTold, "\(found)")
    }
    let other = try finding("SPA06", at: 0x77, real: [(real, 0x77)])
    #expect(other.level == .problem && other.text.contains(real), "\(other)")
  }

  @Test("what is merely possible is not called right, and a stranger not by a name")
  func possible() throws {
    let found = try finding("QMC5883L", at: 0x0D, real: [("BMP280", 0x0D)])
    #expect(found.level != .good, "\(found)")
    let stranger = try finding("LIS3MDL", at: 0x1C, real: [("BMP280", 0x1C)])
    #expect(stranger.level == .problem && stranger.text.contains("not known"), "\(stranger)")
  }

  @Test("a magnetometer that does not sit as in its package is noted, with the mount")
  func packages() throws {
    func notes(_ mount: String) throws -> [Doctor.Finding] {
      Doctor().plan(
        try BoardFile.parse(
          "schema: 1\nname: boat\nsensors:\n"
            + "  - {chip: ICM20948, bus: /dev/i2c-1, address: 0x68, mount: [-x, -y, +z]}\n"
            + "  - {chip: AK09916, bus: /dev/i2c-1, address: 0x0c, mount: [\(mount)]}\n",
          file: "boat.yaml"))
    }
    #expect(try notes("-x, +y, -z").isEmpty)
    let note = try #require(try notes("+x, +y, +z").first)
    #expect(note.level == .note && note.mend?.hasPrefix("mount: [-x, +y, -z]") == true)
  }
}

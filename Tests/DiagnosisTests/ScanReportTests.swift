import BoardFile
import LinuxIO
import SensorBus
import SensorDrivers
import Testing

@testable import Diagnosis

/// What `lodestone scan` says of what answers.
struct ScanReportTests {
  private static let bus = "/dev/i2c-1"

  private func found(_ address: UInt8, _ chips: ChipIdentification...) -> ProbeResult {
    ProbeResult(bus: Self.bus, address: address, identifications: chips)
  }

  private func chip(
    _ name: String, _ kind: ChipKind, _ confidence: ChipIdentification.Confidence
  ) -> ChipIdentification {
    ChipIdentification(chip: name, kind: kind, confidence: confidence, evidence: "read 0x3d")
  }

  @Test("an empty bus says what to check, and no chip is told")
  func empty() {
    var report = ScanReport(board: nil)
    #expect(
      report.take([], on: Self.bus) == [
        "  nobody answers; where a chip should: check VIN, GND, SDA and SCL"
      ])
    #expect(report.chipCount == 0)
  }

  @Test("a chip that is told counts, and one that is merely possible does not")
  func told() {
    var report = ScanReport(board: nil)
    let lines = report.take(
      [
        found(0x1c, chip("LIS3MDL", .magnetometer, .certain)),
        found(0x77, chip("MS5611", .barometer, .possible)), found(0x29),
      ], on: Self.bus)
    #expect(lines.first?.hasPrefix("  0x1c  LIS3MDL, ") == true)
    #expect(lines.first?.hasSuffix(": read 0x3d") == true)
    #expect(lines.contains("  0x77  not known, MS5611 is possible: read 0x3d"))
    #expect(lines.last == "  0x29  something answers that is none of the known chips")
    #expect(report.chipCount == 1)
    // Buses add up.
    _ = report.take([found(0x1e, chip("LIS3MDL", .magnetometer, .likely))], on: "/dev/i2c-3")
    #expect(report.chipCount == 2)
  }

  @Test("chips that cannot be told apart are named, and the board file decides")
  func alike() {
    var report = ScanReport(board: nil)
    let lines = report.take(
      [
        found(
          0x6a, chip("LSM6DSOX", .inertial, .certain), chip("LSM6DSO", .inertial, .certain))
      ], on: Self.bus)
    #expect(
      lines.contains(
        "  0x6a  LSM6DSOX and LSM6DSO cannot be told apart; use either name in the board file"))
  }

  @Test("what could not be asked says why")
  func failure() throws {
    var report = ScanReport(board: nil)
    let failure = BusError(.permissionDenied(group: "i2c"), bus: Self.bus, address: 0x1c)
    let result = ProbeResult(
      bus: Self.bus, address: 0x1c, identifications: [], failure: failure)
    #expect(report.take([result], on: Self.bus) == ["  \(failure)"])
    #expect(report.chipCount == 0)
  }

  @Test("a chip of the board file behind a bypass is not missed where nobody can have heard it")
  func hidden() throws {
    let board = try BoardFile.parse(
      """
      schema: 1
      name: gy-87
      sensors:
        - {chip: MPU6050, bus: /dev/i2c-1, address: 0x68}
        - {chip: HMC5883L, bus: /dev/i2c-1, address: 0x1e, behind: MPU6050}
      """, file: "gy-87.yaml")
    var report = ScanReport(board: board)
    let host = found(0x68, chip("MPU6050", .inertial, .certain))
    let lines = report.take([host], on: Self.bus)
    #expect(
      lines.last
        == "  0x1e  nobody answers; the board file's HMC5883L is behind the bypass of the MPU6050, "
        + "which a start opens: lodestone monitor")
    #expect(report.take([], on: "/dev/i2c-3").count == 1)
    let heard = report.take(
      [host, found(0x1e, chip("HMC5883L", .magnetometer, .certain))], on: Self.bus)
    #expect(!heard.contains { $0.contains("nobody answers") })
  }

  @Test("a serial port says who has it")
  func ports() {
    #expect(
      ScanReport.line(of: PortUsage())
        == "  not asked: what a receiver says is heard by lodestone monitor")
    #expect(
      ScanReport.line(of: PortUsage(holders: ["gpsd (12)", "minicom (7)"]))
        == "  in use by gpsd (12), minicom (7)")
    #expect(
      ScanReport.line(of: PortUsage(suspects: ["gpsd (12)"], isComplete: false))
        == "  probably in use by gpsd (12)")
    #expect(
      ScanReport.line(of: PortUsage(isComplete: false)).hasSuffix("only root sees"))
  }
}

@testable import BoardFile
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

struct BoardProbeTests {
  private func finding(_ address: UInt8, _ chips: String...) -> ProbeResult {
    ProbeResult(
      bus: "/dev/i2c-1", address: address,
      identifications: chips.map {
        ChipIdentification(chip: $0, kind: .magnetometer, confidence: .likely, evidence: "")
      })
  }

  @Test("the other half of a package tells a chip from one that answers the same")
  func partners() {
    let alike = finding(0x1E, "HMC5883L", "LSM303DLHC-M")
    func first(_ others: ProbeResult...) -> String? {
      BoardProbe.told([alike] + others).first?.identifications.first?.chip
    }
    #expect(first(finding(0x19, "LSM303DLHC-A")) == "LSM303DLHC-M")
    #expect(first() == "HMC5883L")
    #expect(first(finding(0x76, "BMP280")) == "HMC5883L")
    // What is surer stays first, whoever answers beside it.
    var sure = alike
    sure.identifications[0].confidence = .certain
    #expect(
      BoardProbe.told([sure, finding(0x19, "LSM303DLHC-A")])[0].identifications[0].chip
        == "HMC5883L")
  }

  @Test("a chip whose sign no real one has confirmed is found with a note, another one without")
  func unconfirmed() throws {
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers("MMC5603"), at: .bus("/dev/i2c-1", address: 0x30)),
        .init(.registers("MMC5983MA"), at: .bus("/dev/i2c-2", address: 0x30)),
      ]), clock: VirtualClock())
    let found = try #require(BoardProbe.scan("/dev/i2c-1", with: provider).first)
    let note = try #require(found.notes.first)
    #expect(found.notes.count == 1)
    #expect(note.hasPrefix("MMC5603: the sign of its output") && note.contains("180 degrees out"))
    let other = try #require(BoardProbe.scan("/dev/i2c-2", with: provider).first)
    #expect(other.identifications.first?.chip == "MMC5983MA" && other.notes.isEmpty)
    // Of what is merely possible nothing more is said.
    var vague = found
    vague.identifications[0].confidence = .possible
    #expect(vague.notes.isEmpty)
  }

  @Test("what is behind a bypass is taken to be there, unless it answers")
  func hidden() {
    func sensor(_ chip: String, _ address: UInt8) -> Board.Sensor {
      Board.Sensor(chip: chip, attachment: .i2c(bus: "/dev/i2c-1", address: address))
    }
    let (host, magnetometer) = (sensor("MPU9250", 0x68), sensor("AK8963", 0x0C))
    #expect(BoardProbe.hidden(behind: [host]) == [magnetometer])
    #expect(BoardProbe.hidden(behind: [magnetometer, host]).isEmpty)
    // There is none in an MPU6500.
    #expect(BoardProbe.hidden(behind: [sensor("MPU6500", 0x68)]).isEmpty)
    // The other half of an LSM303DLHC answers by itself or is not there.
    #expect(BoardProbe.hidden(behind: [sensor("LSM303DLHC-M", 0x1E)]).isEmpty)
    let board = Board(name: "nine axes", sensors: [magnetometer, host, sensor("BMP280", 0x76)])
    #expect(board.host(of: magnetometer) == host)
    #expect(board.host(of: host) == nil)
    #expect(board.host(of: board.sensors[2]) == nil)
  }

  @Test(
    "a probed package has its magnetometer turned, whether it answers yet or not",
    arguments: [
      ("MPU9250", "AK8963", "[+y, +x, -z]"), ("ICM20948", "AK09916", "[+x, -y, -z]"),
      ("MPU6500", "AK8963", "[+x, +y, +z]"),
    ], [false, true])
  func mounts(package: (host: String, part: String, mount: String), answers: Bool) throws {
    let (host, part, mount) = package
    var simulated = SimulatedBoard(chips: [
      .init(.registers(host), at: .bus("/dev/i2c-1", address: 0x68)),
      .init(.registers(part), at: .bus("/dev/i2c-1", address: 0x0C)),
    ])
    if !answers { simulated.chips[1].host = 0 }
    let provider = SimulatedBusProvider(simulated, clock: VirtualClock())
    let probed = try #require(BoardProbe.board(with: provider, wait: { _ in }))
    #expect(probed.sensors.first { $0.chip == host }?.mount == .aligned)
    let found = probed.sensors.first { $0.chip == part }
    let isHidden = host == "MPU6500" && !answers
    #expect(found?.mount.words == (isHidden ? nil : mount))
  }
}

/// Chips that the kernel owns are found by what it calls them.
struct KernelProbeTests {
  private func board(_ chips: [(String, UInt8, KernelView)]) -> SimulatedBusProvider {
    SimulatedBusProvider(
      SimulatedBoard(
        chips: chips.map {
          .init(.registers($0.0), at: .bus("/dev/i2c-1", address: $0.1), kernel: $0.2)
        }), clock: VirtualClock())
  }

  @Test("a scan names the driver, its devices and the chip, and a probed board has it")
  func scan() throws {
    let provider = board([
      ("LIS3MDL", 0x1C, .lis3mdl), ("LSM6DSOX", 0x6A, .lsm6dsox), ("BMP280", 0x76, .bmp280),
    ])
    let findings = BoardProbe.scan("/dev/i2c-1", with: provider)
    #expect(findings.map(\.identifications.first?.chip) == ["LIS3MDL", "LSM6DSOX", "BMP280"])
    #expect(
      findings.map(\.kernel?.summary) == [
        "st-magn-i2c (iio:device0, lis3mdl)",
        "st_lsm6dsx_i2c (iio:device0, lsm6dsox_gyro, iio:device1, lsm6dsox_accel)",
        "bmp280 (iio:device0, bmp280)",
      ])
    #expect(
      BoardProbe.board(with: provider)?.sensors.map(\.chip) == ["LIS3MDL", "LSM6DSOX", "BMP280"])
  }

  @Test("a half of a package has the name of the whole; another quantity or name is no chip")
  func names() throws {
    func named(_ name: String, _ view: KernelView, at address: UInt8) -> [String] {
      var view = view
      view.devices[0].name = name
      return BoardProbe.scan("/dev/i2c-1", with: board([("LIS3MDL", address, view)]))
        .flatMap(\.identifications).map(\.chip)
    }
    #expect(named("lsm303dlhc_magn", .lis3mdl, at: 0x1E) == ["LSM303DLHC-M"])
    #expect(named("lsm9ds1_magn", .lis3mdl, at: 0x1E) == ["LSM9DS1-M"])
    #expect(named("bmp280", .lis3mdl, at: 0x1E) == [])
    #expect(named("", .lis3mdl, at: 0x1E) == [])
    #expect(named("lis3mdl", .bmp280, at: 0x1E) == [])
  }

  @Test("an owned address without files is found without a name")
  func hollow() {
    let provider = board([("LIS3MDL", 0x1C, .lis3mdl)])
    provider.inject(.kernel(.missing("iio:device0")), chip: 0, from: provider.now())
    let findings = BoardProbe.scan("/dev/i2c-1", with: provider)
    #expect(findings.count == 1 && findings[0].identifications.isEmpty)
    #expect(findings[0].kernel?.devices.isEmpty == true)
  }
}

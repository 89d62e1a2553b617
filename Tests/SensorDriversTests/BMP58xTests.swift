// The driver of BMP581 and BMP585: what they are told, worked numbers, scripted transfers.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMP58xTests {
  /// 25 Hz, x32.
  static let image: [(UInt8, UInt8)] = [
    (0x14, 0x3A), (0x15, 0x01), (0x31, 0x00), (0x36, 0x68), (0x37, 0xD1),
  ]

  static func start(identity: UInt8 = 0x50, status: [UInt8] = [0x03]) -> [Transfer] {
    [.read(0x01, [identity]), .write(0x7E, [0xB6])] + status.map { .read(0x28, [$0]) }
      + [.read(0x27, [0x10])]
  }

  @Test("start: identity, reset, trim loaded, configuration, read-back; then sleep")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start(status: [0x00, 0x01, 0x03]) + written(Self.image))
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    #expect(try startUp(&chip) == [0.002, 0.002, 0.002])
    device.then([.write(0x37, [0xD0])])
    try chip.sleep()
    device.expectDone()
  }

  @Test("a reset that is not acknowledged is one all the same; any other failure is none")
  func unanswered() throws {
    let rest = Array(Self.start().dropFirst(2))
    let device = ScriptedDevice(
      [.read(0x01, [0x50]), .writeFails(0x7E, [0xB6], .noAnswer)] + rest + written(Self.image))
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    _ = try startUp(&chip)
    device.expectDone()
    device.then([.read(0x01, [0x50]), .writeFails(0x7E, [0xB6], .timedOut)])
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .bus(device.error(.timedOut, 0x7E)))
    device.expectDone()
  }

  @Test("a trim that was loaded with an error is not taken")
  func broken() {
    let device = ScriptedDevice(
      Self.start(status: [UInt8](repeating: 0x07, count: 10)).dropLast())
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .notReady("BMP581: its trim is not loaded, or not without an error"))
    device.expectDone()
  }

  @Test(
    "the strongest oversampling that leaves a twentieth of the period is taken",
    arguments: [
      (0.1, 1, 128, 0xF1), (10, 10, 128, 0xDD), (25, 25, 32, 0xD1), (50, 50, 16, 0xBD),
      (100, 100.2, 8, 0xA9), (999, 240, 2, 0x81), (.nan, 240, 2, 0x81),
    ] as [(Double, Double, Int, UInt8)])
  func rates(wanted: Double, rate: Double, oversampling: Int, value: UInt8) {
    let chip = BMP58x(chip: .bmp585, outputRate: wanted)
    #expect(chip.outputRate == rate)
    #expect(chip.pressureOversampling == oversampling)
    #expect(chip.registerImage.last?.value == value)
  }

  @Test("poll waits for the flag; 1013.25 hPa are 6484800 counts, -12.5 degrees -819200")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    device.then([
      .read(0x27, [0x10]), .read(0x27, [0x01]),
      .read(0x1D, [0x00, 0x80, 0xF3, 0x40, 0xF3, 0x62]),
      // What the registers hold after a reset.
      .read(0x27, [0x01]), .read(0x1D, [UInt8](repeating: 0x7F, count: 6)),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .atmosphere(pressure: 101_325, temperature: -12.5))
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    device.expectDone()
  }

  @Test("one is not the other, and nothing is written")
  func wrongIdentity() {
    let device = ScriptedDevice([.read(0x01, [0x51])])
    var chip = RegisterDriver(device, BMP58x(chip: .bmp581, outputRate: 25))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "BMP581", register: 0x01, expected: 0x50, found: 0x51))
    device.expectDone()
  }
}

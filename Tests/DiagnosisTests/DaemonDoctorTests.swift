// What the doctor makes of a chip that a daemon has.

import BoardFile
import SensorTypes
import Testing

@testable import Diagnosis

@Suite struct DaemonDoctorTests {
  private static let sensor = Board.Sensor(
    chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))

  private static func status(
    _ state: SensorState, _ change: (inout SensorCounters) -> Void = { _ in }
  ) -> SensorStatus {
    var counters = SensorCounters()
    change(&counters)
    return SensorStatus(
      index: 3, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: state,
      since: Timestamp(seconds: 1), counters: counters)
  }

  @Test("a chip that runs is well, one that does not has its reason and a remedy")
  func states() {
    let running = Doctor.chip(Self.status(.running), Self.sensor)
    #expect(running.level == .good && running.text == "LIS3MDL at /dev/i2c-1:0x1c runs")
    #expect(running.sensor == 3 && running.subject == "LIS3MDL at /dev/i2c-1:0x1c runs")
    let failed = Doctor.chip(Self.status(.failed("nobody answers")), Self.sensor)
    #expect(failed.level == .problem && failed.mend?.contains("SDA") == true)
    #expect(failed.text == "LIS3MDL at /dev/i2c-1:0x1c: nobody answers")
    #expect(Doctor.chip(Self.status(.starting), Self.sensor).level == .problem)
    #expect(Doctor.chip(Self.status(.idle), Self.sensor).level == .note)
  }

  @Test("lost transfers are a problem beyond a twentieth of all")
  func losses() {
    let few = Doctor.chip(
      Self.status(.running) {
        ($0.samples, $0.busErrors, $0.retries) = (960, 20, 20)
      }, Self.sensor)
    #expect(few.level == .good && few.mend == nil)
    #expect(few.text.contains("40 transfers were lost or repeated beside 960 samples"))
    let many = Doctor.chip(
      Self.status(.running) { ($0.samples, $0.busErrors) = (940, 60) }, Self.sensor)
    #expect(many.level == .problem && many.mend == Doctor.quietBus)
  }

  @Test("a receiver has other wires, and a server none")
  func wires() {
    let serial = Board.Sensor(
      chip: "NMEA", attachment: .serial(port: "/dev/ttyAMA0", baudRate: nil))
    #expect(Doctor.chip(Self.status(.failed("silent")), serial).mend?.contains("TX") == true)
  }
}

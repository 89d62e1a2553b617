// What the doctor makes of a chip that a daemon has.

import BoardFile
import SensorBus
import SensorTypes
import Testing

@testable import Diagnosis

@Suite struct DaemonDoctorTests {
  private static let sensor = Board.Sensor(
    chip: "LIS3MDL", attachment: .i2c(bus: "/dev/i2c-1", address: 0x1C))

  private static func status(_ state: SensorState) -> SensorStatus {
    SensorStatus(
      index: 3, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c", state: state,
      since: Timestamp(seconds: 1))
  }

  private static func finding(
    _ state: SensorState, of sensor: Board.Sensor = sensor,
    _ change: (inout SensorCounters) -> Void = { _ in }
  ) -> Doctor.Finding {
    var counters = SensorCounters()
    change(&counters)
    return Doctor.chip(status(state), sensor, counted: counters)
  }

  @Test("a chip that runs is well, one that does not has its reason and a remedy")
  func states() {
    let running = Self.finding(.running)
    #expect(running.level == .good && running.text == "LIS3MDL at /dev/i2c-1:0x1c runs")
    #expect(running.sensor == 3 && running.subject == "LIS3MDL at /dev/i2c-1:0x1c runs")
    let failed = Self.finding(.failed("nobody answers"))
    #expect(failed.level == .problem && failed.mend?.contains("SDA") == true)
    #expect(failed.text == "LIS3MDL at /dev/i2c-1:0x1c: nobody answers")
    #expect(Self.finding(.starting).level == .problem)
    #expect(Self.finding(.idle).level == .note)
  }

  @Test("lost transfers are a problem beyond a twentieth of all, if there are enough to tell")
  func losses() {
    let few = Self.finding(.running) { ($0.samples, $0.busErrors, $0.retries) = (960, 20, 20) }
    #expect(few.level == .good && few.mend == nil)
    let many = Self.finding(.running) { ($0.samples, $0.busErrors) = (940, 60) }
    #expect(many.level == .problem && many.mend == Doctor.quietBus)
    #expect(many.text.contains("60 of 1000 attempts"))
    #expect(Self.finding(.running) { ($0.samples, $0.busErrors) = (3, 16) }.level == .good)
  }

  @Test("a receiver has other wires, and a server none")
  func wires() throws {
    let serial = Board.Sensor(
      chip: "NMEA", attachment: .serial(port: "/dev/ttyAMA0", baudRate: nil))
    #expect(Self.finding(.failed("silent"), of: serial).mend?.contains("TX") == true)
    let lossy = Self.finding(.running, of: serial) { ($0.samples, $0.busErrors) = (50, 50) }
    #expect(lossy.level == .problem && lossy.mend?.contains("TX") == true)
    let server = Board.Sensor(
      chip: "gpsd", attachment: .server(.tcp(host: "localhost", port: 2947)))
    #expect(Self.finding(.failed("gone"), of: server).mend?.contains("gpsd") == true)
  }
}

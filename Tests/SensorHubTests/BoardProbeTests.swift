import SensorBus
import SensorDrivers
import Testing

@testable import SensorHub

struct BoardProbeTests {
  private func finding(_ address: UInt8, _ chips: String...) -> BoardProbe.Finding {
    BoardProbe.Finding(
      bus: "/dev/i2c-1", address: address,
      identifications: chips.map {
        ChipIdentification(chip: $0, kind: .magnetometer, confidence: .likely, evidence: "")
      })
  }

  @Test("the other half of a package tells a chip from one that answers the same")
  func partners() {
    let alike = finding(0x1E, "HMC5883L", "LSM303DLHC-M")
    func first(_ others: BoardProbe.Finding...) -> String? {
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
}

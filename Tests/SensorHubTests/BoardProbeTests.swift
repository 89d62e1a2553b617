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
}

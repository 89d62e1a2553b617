// What single kernel drivers get wrong is corrected, or refused where it cannot be.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct KernelDriverErrataTests {
  /// How 12 bits look that st_magn has of an LSM303DLHC (table 75; X and Y).
  private static var lsm303dlhc: KernelView {
    var view = KernelView.hmc5883l
    view.devices[0].groups[0].mistaken = 1
    view.devices[0].groups[0].scales = [
      "0.000909", "0.001169", "0.001492", "0.002222", "0.002500", "0.003030", "0.004347",
    ]
    return view
  }

  @Test(
    "a scale of st_pressure that is cut off after nine digits is the datasheet's 4096 counts a hectopascal"
  )
  func cutScale() throws {
    var view = KernelView.bmp280
    view.devices[0].groups[1].scales = ["0.000024414"]
    // What the twin shows divides by the scale that it says: counts of the chip's are as many more.
    view.devices[0].groups[1].mistaken = 0.000024414 * 40960
    view.devices[0].groups[1].bits = 24
    view.devices[0].groups[1].storage = 32
    var bench = try KernelBench("LPS22HB", view, kind: .barometer, rate: 25)
    bench.show { $0.pressure = 101_325 }
    try bench.start()
    guard case .atmosphere(let pressure, _, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    // Half a count; cut off it is 0.26 Pa.
    #expect(near(pressure, 101_325, 0.0123))
  }

  // Linux before 6.10 ("iio: chemical: bme680: Fix pressure value output").
  @Test(
    "a BME680 whose kernel puts out hectopascals is read right, and what its driver loses is said",
    arguments: [("1013.250", 101_325.0), ("101.325000", 101_325), ("300.5", 30_050)])
  func hectopascals(said: String, pascals: Double) throws {
    var bench = try KernelBench(
      "BME680", .bmp280, kind: .barometer, rate: 5,
      faults: [.says("iio:device0/in_pressure_input", said)])
    try bench.start()
    guard case .atmosphere(let pressure, _, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, pascals, 1e-6))
    #expect(bench.driver.note?.contains("106 kPa") == true)
  }

  @Test(
    "a DPS310 whose numbers the kernel spoils is refused with the way out",
    arguments: ["DPS310", "DPS368", "SPL06"])
  func spoiled(chip: String) throws {
    var bench = try KernelBench(chip, .bmp280, kind: .barometer, rate: 5)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start() }) else {
      Issue.record("started")
      return
    }
    #expect(what.contains("128 Pa") && what.contains("unbind"))
  }

  @Test("an MMC5603 whose numbers the kernel turns about is refused with the way out")
  func turnedAbout() throws {
    var bench = try KernelBench("MMC5603", .lis3mdl, kind: .magnetometer, rate: 80)
    guard case .notReady(let what) = failure({ () throws(DriverError) in try bench.start() }) else {
      Issue.record("started")
      return
    }
    #expect(what.contains("minus the field") && what.contains("unbind"))
  }

  @Test(
    "a chip whose axes the kernel leaves left-handed is turned as its own driver turns it",
    arguments: ["LIS2MDL", "MMC5983MA"])
  func leftHanded(chip: String) throws {
    let fields = try [chip, "LIS3MDL"].map { name in
      var bench = try KernelBench(name, .lis3mdl, kind: .magnetometer, rate: 80)
      bench.show { $0.magneticField = Vector3(20, -35, 44) }
      try bench.start()
      guard case .magneticField(let field) = try bench.settled() else { return Vector3.zero }
      return field
    }
    #expect(near(fields[0], Vector3(fields[1].x, fields[1].y, -fields[1].z), 1e-9))
    #expect(abs(fields[1].z) > 10)
  }

  @Test(
    "an HMC5883L's field is read in gauss though the kernel's scale is a hundredth of them",
    arguments: [false, true], [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1])
  func honeywell(buffered: Bool, share: Double) throws {
    let view = buffered ? KernelView.hmc5883l.triggered() : .hmc5883l
    var bench = try KernelBench("HMC5883L", view, kind: .magnetometer, rate: 75)
    let shown = 130 * Vector3(share, -share, 0.5 * share)
    bench.show { $0.magneticField = shown }
    try bench.start()
    // 1090 counts a gauss.
    #expect(near(try bench.settledField(), shown, 100 / 1090.0))
  }

  @Test("a scale that a later kernel has put right stays as it is")
  func mended() throws {
    var view = KernelView.hmc5883l
    view.devices[0].groups[0].scales = ["0.000917431"]
    view.devices[0].groups[0].mistaken = 1
    var bench = try KernelBench("HMC5883L", view, kind: .magnetometer, rate: 75)
    bench.show { $0.magneticField = Vector3(10, 20, 30) }
    try bench.start()
    #expect(
      near(try bench.settledField(), Vector3(10, 20, 30), 100 / 1090.0))
  }

  @Test("an LSM9DS1's field is read in its own milligauss, not in an LIS3MDL's")
  func lsm9ds1() throws {
    var view = KernelView.lis3mdl
    view.devices[0].groups[0].scales = ["0.000146"]
    view.devices[0].groups[0].mistaken = 146 / 140.0
    var bench = try KernelBench("LSM9DS1-M", view, kind: .magnetometer, rate: 80)
    bench.show { $0.magneticField = Vector3(-390, 20, 300) }
    try bench.start()
    #expect(near(try bench.settledField(), Vector3(-390, 20, 300), 0.014))
  }

  @Test(
    "an AK09916's count is its own whatever the kernel takes for its sensitivity",
    arguments: [("0.000750", 0.5), ("0.001500", 1.0), ("0.002244", 1.496)])
  func ak09916(scale: String, mistaken: Double) throws {
    var view = KernelView.lis3mdl
    view.devices[0].groups[0].scales = [scale]
    view.devices[0].groups[0].mistaken = mistaken
    var bench = try KernelBench("AK09916", view, kind: .magnetometer, rate: 50)
    bench.show { $0.magneticField = Vector3(-300, 20, 44) }
    try bench.start()
    #expect(near(try bench.settledField(), Vector3(-300, 20, 44), 0.15))
  }

  @Test("a scale that no number of counts has is no reason to fall")
  func endlessScale() throws {
    var bench = try KernelBench(
      "LSM9DS1-M", .lis3mdl, kind: .magnetometer, rate: 80,
      faults: [.says("iio:device0/in_magn_x_scale", "99999999999999999999")])
    try bench.start()
  }

  @Test(
    "an LSM9DS1's left-handed axes come out right-handed, as its own driver has them",
    arguments: [false, true])
  func leftHanded(buffered: Bool) throws {
    var view = KernelView.lsm6dsox
    for index in view.devices.indices {
      view.devices[index].groups[0].mirrored = 0
      view.devices[index].filling = buffered ? .trigger("motion", isSet: true) : .none
    }
    var bench = try KernelBench("LSM9DS1-AG", view, kind: .inertial, rate: 100)
    let (force, rate) = (Vector3(3, -1, 9), Vector3(0.7, 0.5, -0.2))
    bench.show { ($0.specificForce, $0.angularRate) = (force, rate) }
    try bench.start()
    switch (try bench.settled(), buffered) {
    case (.inertial(let turn, let acceleration), true):
      #expect(near(turn, rate, 0.000610865) && near(acceleration, force, 0.001196))
    case (.acceleration(let acceleration), false): #expect(near(acceleration, force, 0.001196))
    case (let reading, _): Issue.record("\(reading)")
    }
  }

  @Test(
    "the number that stands for a field beyond the range is an overflow, and none before it is",
    arguments: [false, true], ["HMC5883L", "LSM303DLHC-M", "BMM150"])
  func marks(buffered: Bool, chip: String) throws {
    var view = chip == "LSM303DLHC-M" ? Self.lsm303dlhc : .hmc5883l
    if chip == "BMM150" {
      // 1300 microtesla in sixteenths, and the least number of 32 bits.
      view.devices[0].groups[0].scales = ["0.000625"]
      view.devices[0].groups[0].mistaken = 1
      view.devices[0].groups[0].bits = 32
      view.devices[0].groups[0].storage = 32
      view.devices[0].groups[0].overflow = .init(limit: 20_800, mark: -2_147_483_648)
    }
    var bench = try KernelBench(
      chip, buffered ? view.triggered() : view, kind: .magnetometer, rate: 75)
    // A count before the end of 1.3 gauss, of the 4 gauss that are wanted where there is a choice, of 1300 microtesla.
    let last = ["HMC5883L": 187.7, "LSM303DLHC-M": buffered ? 454.6 : 186, "BMM150": 1299.9][chip]
    let end = try #require(last)
    bench.show { $0.magneticField = Vector3(end, -end, 0) }
    try bench.start()
    #expect(
      near(try bench.settledField(), Vector3(end, -end, 0), 0.2223))
    bench.show { $0.magneticField = Vector3(end, -end - 1, 0) }
    #expect(bench.failureOfRun() == "overflow")
  }
}

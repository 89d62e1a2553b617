// Readings of chips that the kernel owns, against a twin of the kernel's files.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct KernelSensorTests {
  @Test(
    "a field is read within a count over the whole range, polled and by the buffer",
    arguments: [false, true], [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1])
  func field(buffered: Bool, share: Double) throws {
    let view = buffered ? KernelView.lis3mdl.triggered() : .lis3mdl
    var bench = try KernelBench("LIS3MDL", view, kind: .magnetometer, rate: 80)
    let shown = 400 * Vector3(share, -share, 0.5 * share)
    bench.show { $0.magneticField = shown }
    try bench.start()
    #expect(bench.driver.note?.contains(buffered ? "its buffer" : "polled") == true)
    let field = try bench.settledField()
    // 0.000146 gauss a count.
    #expect(near(field, shown, 0.0146))
  }

  @Test("big-endian numbers of 12 bits that are left-aligned, with an offset, are the same field")
  func packed() throws {
    var view = KernelView.lis3mdl.triggered()
    view.devices[0].groups[0].scales = ["0.002"]
    view.devices[0].groups[0].hasScalePerAxis = false
    view.devices[0].groups[0].offset = "-37"
    view.devices[0].groups[0].bits = 12
    view.devices[0].groups[0].shift = 4
    view.devices[0].groups[0].isBigEndian = true
    var bench = try KernelBench("LIS3MDL", view, kind: .magnetometer, rate: 80)
    let shown = Vector3(-301, 17, 222)
    bench.show { $0.magneticField = shown }
    try bench.start()
    #expect(near(try bench.settledField(), shown, 0.2))
  }

  @Test("an LSM6 gives both halves by its buffers, paired, in the ranges that ours has")
  func inertial() throws {
    var bench = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 100)
    let force = Vector3(3.9 * KernelBench.gravity, -1, 9)
    let rate = Vector3(-17, 0.5, 1)
    bench.show {
      $0.specificForce = force
      $0.angularRate = rate
    }
    try bench.start()
    #expect(bench.driver.outputRate == 104)
    let samples = try bench.run(2)
    #expect((203...210).contains(samples.count))
    for sample in samples {
      guard case .inertial(let angularRate, let acceleration) = sample.reading else {
        Issue.record("\(sample.reading)")
        return
      }
      #expect(near(angularRate, rate, 0.000610865) && near(acceleration, force, 0.001196))
    }
  }

  @Test("without a trigger an LSM6 is an accelerometer, and says so")
  func polledInertial() throws {
    var view = KernelView.lsm6dsox
    for index in view.devices.indices { view.devices[index].filling = .none }
    var bench = try KernelBench("LSM6DSOX", view, kind: .inertial, rate: 100)
    try bench.start()
    #expect(bench.driver.note?.contains("its gyro is not used") == true)
    guard case .acceleration(let force) = try bench.settled() else {
      Issue.record("no acceleration")
      return
    }
    #expect(near(force.length, KernelBench.gravity, 0.2))
  }

  @Test("of an MPU9250 the magnetometer that the kernel reads itself is left out, and that is said")
  func package() throws {
    var bench = try KernelBench("MPU9250", .mpu9250, kind: .inertial, rate: 200)
    let (force, rate) = (Vector3(3, -1, 9), Vector3(0.7, 0.5, -0.2))
    bench.show {
      ($0.specificForce, $0.angularRate, $0.magneticField) = (force, rate, Vector3(20, 0, -44))
    }
    try bench.start()
    #expect(bench.driver.note?.contains("its magnetometer too (in_magn)") == true)
    guard case .inertial(let turn, let acceleration) = try bench.settled() else {
      Issue.record("no inertial sample")
      return
    }
    #expect(near(turn, rate, 0.000532362) && near(acceleration, force, 0.001196))
    var other = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 100)
    try other.start()
    #expect(other.driver.note?.contains("in_magn") == false)
  }

  @Test("one axis beyond the range is marked in the kernel's buffers, too", arguments: 0..<6)
  func clipped(lane: Int) throws {
    var bench = try KernelBench("LSM6DSOX", .lsm6dsox, kind: .inertial, rate: 104)
    var (rate, force) = (Vector3(0.7, 0.5, -0.2), Vector3(3, -1, 9))
    if lane < 3 { rate[lane] = 100 } else { force[lane - 3] = -1000 }
    bench.show { ($0.specificForce, $0.angularRate) = (force, rate) }
    try bench.start()
    guard case .clippedInertial(let turn, let found, let clipped) = try bench.settled() else {
      Issue.record("nothing is marked")
      return
    }
    let axis = ClippedAxes(axis: lane % 3)
    #expect(
      clipped
        == (lane < 3 ? InertialClipping(angularRate: axis) : InertialClipping(acceleration: axis)))
    for other in 0..<3 {
      if other != lane { #expect(abs(turn[other] - rate[other]) < 0.01) }
      if other != lane - 3 { #expect(abs(found[other] - force[other]) < 0.1) }
    }
  }

  @Test(
    "pressure and temperature in the ABI's units and as raw numbers",
    arguments: [false, true], [(30_000.0, -40.0), (101_325, 21.5), (110_000, 85)])
  func air(raw: Bool, air: (pressure: Double, temperature: Double)) throws {
    var view = KernelView.bmp280
    if raw {
      // As st_pressure shows an LPS22HB, and a temperature with an offset.
      view.devices[0].groups[0].scales = ["10"]
      view.devices[0].groups[0].offset = "-1500"
      view.devices[0].groups[1].scales = ["0.000024414"]
      view.devices[0].groups[1].bits = 24
      view.devices[0].groups[1].storage = 32
    }
    var bench = try KernelBench("BMP280", view, kind: .barometer, rate: 25)
    bench.show { ($0.pressure, $0.temperature) = (air.pressure, air.temperature) }
    try bench.start()
    guard case .atmosphere(let pressure, let temperature, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, air.pressure, 0.025) && near(temperature, air.temperature, 0.0101))
  }

  @Test("of two forms the one without a rounded scale is taken")
  func processed() throws {
    var view = KernelView.bmp280
    view.devices[0].filling = .trigger("bmp280-trigger", isSet: true)
    view.devices[0].groups[1].scales = ["0.000003906"]
    view.devices[0].groups[1].bits = 32
    view.devices[0].groups[1].storage = 32
    view.devices[0].groups[1].isProcessedToo = true
    var bench = try KernelBench("BMP280", view, kind: .barometer, rate: 25)
    bench.show { $0.pressure = 95_000 }
    try bench.start()
    guard case .atmosphere(let pressure, _, _) = try bench.settled() else {
      Issue.record("no pressure")
      return
    }
    #expect(near(pressure, 95_000, 0.001))
  }

  @Test("asleep, the kernel's buffer is off; awake it goes on")
  func sleep() throws {
    var bench = try KernelBench(
      "LIS3MDL", KernelView.lis3mdl.triggered(), kind: .magnetometer, rate: 80)
    try bench.start()
    try bench.driver.sleep()
    let device = try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    #expect(try device.read("iio:device0/buffer/enable") == "0")
    #expect(try bench.driver.poll() == nil)
    try bench.start()
    #expect(try bench.run(1).count > 75)
  }
}

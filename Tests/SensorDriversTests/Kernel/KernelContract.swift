// The views of kernel drivers that the contract of the chips is held against, and what each owes.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// One view, polled or by its buffer, and what is owed.
struct KernelContract: Sendable, CustomTestStringConvertible {
  /// The name in the catalogue.
  let chip: String
  let kind: ChipKind
  let view: KernelView
  let rate: Double
  /// What is measured; empty for a barometer.
  var channels: [AxisChannel] = []
  /// A barometer's steps, pascals and degrees.
  var steps: (pressure: Double, temperature: Double) = (0, 0)
  /// Without `scan_elements` nobody knows how wide a polled number is, and of no barometer which pressures are its own:
  /// what any of them can have passes.
  var marksOverflow = true

  var isBuffered: Bool { view.devices[0].filling != .none }
  var testDescription: String {
    "\(view.devices[0].name) \(isBuffered ? "buffer" : "polled")"
  }

  /// The first that is read: of a chip that is polled no gyro.
  private var first: (device: Int, group: KernelView.Group)? {
    for (index, device) in view.devices.enumerated() {
      for group in device.groups where isBuffered || group.quantity != .anglvel {
        return (index, group)
      }
    }
    return nil
  }

  /// A number that is polled.
  var attribute: String {
    guard let (device, group) = first else { return "" }
    let kind = group.scales.isEmpty ? "input" : "raw"
    return "iio:device\(device)/\(group.quantity.channels[0])_\(kind)"
  }

  /// The scale of one; `nil` for one in the ABI's unit.
  var scale: String? {
    guard let (device, group) = first, !group.scales.isEmpty else { return nil }
    let name =
      group.hasScalePerAxis ? group.quantity.channels[0] : "in_\(group.quantity.rawValue)"
    return "iio:device\(device)/\(name)_scale"
  }

  private func polled(_ channels: [AxisChannel], marksOverflow: Bool = false) -> KernelContract {
    var view = view
    for index in view.devices.indices { view.devices[index].filling = .none }
    return KernelContract(
      chip: chip, kind: kind, view: view, rate: rate, channels: channels, steps: steps,
      marksOverflow: marksOverflow)
  }

  /// As st_pressure shows it: raw numbers, one of them with an offset.
  private static var pressure: KernelView {
    var view = KernelView.bmp280
    view.devices[0].name = "lps22hb"
    view.devices[0].groups[0].scales = ["10"]
    view.devices[0].groups[0].offset = "-1500"
    view.devices[0].groups[1].scales = ["0.000024414"]
    view.devices[0].groups[1].mistaken = 0.000024414 * 40960
    view.devices[0].groups[1].bits = 24
    view.devices[0].groups[1].storage = 32
    view.devices[0].rates = ["25", "1", "10", "50", "75"]
    return view.triggered()
  }

  static let all: [KernelContract] = {
    let lis3mdl = KernelContract(
      chip: "LIS3MDL", kind: .magnetometer, view: KernelView.lis3mdl.triggered(), rate: 80,
      channels: [.field(limit: 400, lsb: Vector3(repeating: 0.0146))])
    // 12 bits of 0.0917 microtesla.
    let hmc5883l = KernelContract(
      chip: "HMC5883L", kind: .magnetometer, view: KernelView.hmc5883l.triggered(), rate: 75,
      channels: [.field(limit: 130, lsb: Vector3(repeating: 100 / 1090.0))])
    let lsm6dsox = KernelContract(
      chip: "LSM6DSOX", kind: .inertial, view: .lsm6dsox, rate: 104,
      channels: [.rate(limit: 17.4, lsb: 0.000610865), .force(limit: 39, lsb: 0.001196)])
    let mpu9250 = KernelContract(
      chip: "MPU9250", kind: .inertial, view: .mpu9250, rate: 100,
      channels: [.rate(limit: 17.4, lsb: 0.000532362), .force(limit: 39, lsb: 0.001196)])
    // A polled range is the one after power-on: 2 g.
    let force = [AxisChannel.force(limit: 19.5, lsb: 0.000598)]
    let lps22hb = KernelContract(
      chip: "LPS22HB", kind: .barometer, view: pressure, rate: 25, steps: (100.0 / 4096, 0.01),
      marksOverflow: false)
    // In the ABI's unit: nine digits of a kilopascal, thousandths of a degree.
    let bmp280 = KernelContract(
      chip: "BMP280", kind: .barometer, view: .bmp280, rate: 10, steps: (1e-6, 1e-3),
      marksOverflow: false)
    return [
      lis3mdl, lis3mdl.polled(lis3mdl.channels), hmc5883l,
      hmc5883l.polled(hmc5883l.channels, marksOverflow: true), lsm6dsox, lsm6dsox.polled(force),
      mpu9250, mpu9250.polled(force), lps22hb, lps22hb.polled([]), bmp280,
    ]
  }()

  func bench(changes: Bool = false) throws -> KernelBench {
    var bench = try KernelBench(
      chip, view, kind: kind, rate: rate, checks: DriverChecks(change: changes))
    bench.show(FaultContract.world)
    try bench.start()
    let note = try #require(bench.driver.note)
    #expect(note.contains(isBuffered ? "its buffer" : "polled"), "\(note)")
    return bench
  }
}

extension KernelBench {
  /// The whole of a world, so that nothing of the walk is left.
  func show(_ world: Stimulus) {
    show {
      ($0.magneticField, $0.specificForce, $0.angularRate) =
        (world.magneticField, world.specificForce, world.angularRate)
      ($0.pressure, $0.temperature) = (world.pressure, world.temperature)
    }
  }

  /// What comes within so many periods, or the error that ends it.
  mutating func outcome(_ periods: Double) -> (readings: [Reading], error: DriverError?) {
    var readings: [Reading] = []
    let end = clock.now().advanced(bySeconds: periods / driver.outputRate)
    while clock.now() < end {
      clock.advance(bySeconds: 0.25 / driver.outputRate)
      do throws(DriverError) {
        while let reading = try driver.poll() { readings.append(reading) }
      } catch {
        return (readings, error)
      }
    }
    return (readings, nil)
  }
}

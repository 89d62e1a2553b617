// Which way the axes of each magnetometer point by themselves, and that driver and twin both know it.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// How a magnetometer's own axes lie, and who says so.
private struct OwnAxes: CustomTestStringConvertible {
  let chip: ChipContract
  /// Where the outputs of X, Y and Z begin with their most telling 16 bits, with the flag for a burst that ST's chips want.
  let registers: [UInt8]
  var isBigEndian = false
  /// Bytes that come before what a register holds.
  var dummies = 0
  /// The axis that points against what right-handed axes have there.
  var turned: Int?

  var testDescription: String { chip.faults.chip }

  /// With the source of each: a figure of the datasheet, or what published drivers turn. An odd number of turned axes is
  /// a mirror image; none, or two, is a rotation, which `mount:` is for.
  static let all = [
    // PS-MPU-9250A-01, 9.1: X and Y exchanged and Z turned against those of the MPU9250.
    OwnAxes(chip: .ak8963, registers: [0x03, 0x05, 0x07]),
    // DS-000189 (ICM20948), figure of the axes: Y and Z turned against those of the ICM20948.
    OwnAxes(chip: .ak09916, registers: [0x11, 0x13, 0x15]),
    // As the AK09916; its own figure was not at hand.
    OwnAxes(chip: .ak09918, registers: [0x11, 0x13, 0x15]),
    // Its figure was not at hand, and no public driver is known that mirrors it.
    OwnAxes(chip: .bmm150, registers: [0x42, 0x44, 0x46]),
    // PX4's driver takes the outputs as they are.
    OwnAxes(chip: .bmm350, registers: [0x32, 0x35, 0x38], dummies: 2),
    // Datasheet 900405, figure of the pins.
    OwnAxes(chip: .hmc5883l, registers: [0x03, 0x07, 0x05], isBigEndian: true),
    // ArduPilot's and PX4's drivers turn Z, and nothing else.
    OwnAxes(chip: .ist8310, registers: [0x03, 0x05, 0x07], turned: 2),
    // Datasheet rev. 5, 1.2; Betaflight's, ArduPilot's and PX4's drivers turn one axis.
    OwnAxes(chip: .lis2mdl, registers: [0x68, 0x6A, 0x6C], turned: 2),
    // DocID024204, figure of the axes.
    OwnAxes(chip: .lis3mdl, registers: [0xA8, 0xAA, 0xAC]),
    // DocID018771, figure of the axes.
    OwnAxes(chip: .lsm303dlhcMagnetometer, registers: [0x03, 0x07, 0x05], isBigEndian: true),
    // DocID025715, figure 1: accelerometer and gyro are what is left-handed there.
    OwnAxes(chip: .lsm9ds1Magnetometer, registers: [0xA8, 0xAA, 0xAC]),
    // Unconfirmed: its figure was not at hand. ArduPilot's AP_Compass_MMC5603 takes the outputs as they are; a driver that
    // comes from it (AP_Compass_MMC5xx3) turns all three.
    OwnAxes(chip: .mmc5603, registers: [0x00, 0x02, 0x04], isBigEndian: true),
    // ArduPilot's and PX4's drivers turn all three; SparkFun's example of a compass has X and Y as they are.
    OwnAxes(chip: .mmc5983ma, registers: [0x00, 0x02, 0x04], isBigEndian: true, turned: 2),
    // ArduPilot's driver turns two.
    OwnAxes(chip: .qmc5883l, registers: [0x00, 0x02, 0x04]),
    // ArduPilot's driver takes the outputs as they are, PX4's turns all three and exchanges two, which is no mirror image.
    // Both leave the signs alone; 0x06, which the driver writes, turns two of them (Core Electronics' code: a bit an axis).
    OwnAxes(chip: .qmc5883p, registers: [0x01, 0x03, 0x05]),
    // Datasheet rev. A, figure 2, with the signs of 7.1.
    OwnAxes(chip: .qmc6310, registers: [0x01, 0x03, 0x05]),
    // ArduPilot's and PX4's drivers take the outputs as they are.
    OwnAxes(chip: .rm3100, registers: [0x24, 0x27, 0x2A], isBigEndian: true),
  ]

  /// The sixteen bits of every axis, as the bus has them.
  func outputs(of device: SimulatedRegisterDevice) throws -> [Int] {
    try registers.map { register in
      let block = try device.burst(register, count: dummies + 2)
      let bytes = (block[dummies], block[dummies + 1])
      let (high, low) = isBigEndian ? bytes : (bytes.1, bytes.0)
      return Int(high) << 8 | Int(low)
    }
  }
}

@Suite("Axes of the magnetometers")
struct MagnetometerAxesTests {
  @Test("every magnetometer has its line")
  func complete() {
    let listed = Set(OwnAxes.all.map(\.chip.faults.chip))
    let known = ChipCatalog.chips.filter { $0.kind == .magnetometer }.map(\.name)
    #expect(listed == Set(known))
  }

  // A field along one axis, and then against it: the register of that axis must follow it (of the axis that is turned
  // go against it), the others stay, and the driver must give the field as it was.
  @Test("as they are known, and made right-handed", arguments: OwnAxes.all)
  fileprivate func own(_ axes: OwnAxes) throws {
    for axis in 0..<3 {
      var outputs: [[Int]] = []
      for field in [100.0, -100.0] {
        let faults = axes.chip.faults
        let (bench, driver) = try ContractBench.started(
          address: faults.address, faults.twin, { faults.driver($0, DriverChecks()) })
        var stimulus = Stimulus()
        stimulus.magneticField[axis] = field
        bench.source.set(stimulus)
        _ = try bench.nextReading(driver)
        let reading = try #require(try bench.nextReading(driver))
        #expect(faults.isRight(reading, stimulus), "\(reading)")
        outputs.append(try axes.outputs(of: bench.device))
      }
      for other in 0..<3 {
        // As a number with a sign or from the middle of the range, the difference of two is the same.
        let change = Int(Int16(truncatingIfNeeded: outputs[0][other] - outputs[1][other]))
        if other == axis {
          #expect((change > 0) == (axes.turned != axis), "axis \(axis): \(change)")
          #expect(abs(change) > 50)
        } else {
          #expect(abs(change) < 20, "axis \(other) follows \(axis): \(change)")
        }
      }
    }
  }
}

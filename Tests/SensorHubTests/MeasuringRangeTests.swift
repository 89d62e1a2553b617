import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A chip whose measuring range is too narrow for what there is.
struct MeasuringRangeTests {
  struct Chip: Sendable, CustomTestStringConvertible {
    let name: String
    let address: UInt8
    /// Hz.
    var rate = 80.0
    /// What its usual range does not hold: a magnet's microtesla, or degrees of heading in two seconds.
    let beyond: Double
    /// How often it takes its next range until that holds.
    let steps: Int
    /// A count in the range that holds it, microtesla or rad/s, by the datasheet.
    let count: Double
    var testDescription: String { name }
  }

  /// Magnetometers in a steel box, and what fills the next range, or the one after it.
  static let magnetometers = [
    // 2.5 G usual; 4.0 G: 440 counts a gauss, 4.7 G: 390, 5.6 G: 330.
    Chip(name: "HMC5883L", address: 0x1E, beyond: 360, steps: 1, count: 100 / 440),
    Chip(name: "HMC5883L", address: 0x1E, beyond: 510, steps: 3, count: 100 / 330),
    // 1.9 G usual; 2.5 G: 670 counts a gauss, and 600 of Z.
    Chip(name: "LSM303DLHC-M", address: 0x1E, beyond: 280, steps: 1, count: 100 / 600),
    Chip(name: "LIS3MDL", address: 0x1C, beyond: 600, steps: 1, count: 100 / 3421),
    Chip(name: "LIS3MDL", address: 0x1C, beyond: 1000, steps: 2, count: 100 / 2281),
    Chip(name: "LIS3MDL", address: 0x1C, rate: 5, beyond: 600, steps: 1, count: 100 / 3421),
    Chip(name: "LSM9DS1-M", address: 0x1E, beyond: 600, steps: 1, count: 0.029),
    Chip(name: "QMC5883P", address: 0x2C, beyond: 1000, steps: 1, count: 100 / 2500),
    Chip(name: "QMC5883P", address: 0x2C, beyond: 1500, steps: 2, count: 100 / 1000),
  ]

  /// Gyros in a spin of 1,500 degrees a second at its fastest.
  static let gyros = [
    spun("LSM6DSOX", 0x6A, 208, 0.070), spun("LSM6DSOX", 0x6A, 833, 0.070),
    spun("MPU6050", 0x68, 200, 1 / 16.4), spun("MPU9250", 0x68, 1000, 1 / 16.4),
    spun("ICM20948", 0x69, 225, 1 / 16.4), spun("ICM42688P", 0x68, 200, 1 / 16.4),
    spun("BMI160", 0x68, 200, 1 / 16.4), spun("QMI8658", 0x6B, 224, 1 / 16.0),
  ]

  private static func spun(
    _ name: String, _ address: UInt8, _ rate: Double, _ degreesPerCount: Double
  ) -> Chip {
    Chip(
      name: name, address: address, rate: rate, beyond: 1500, steps: 1,
      count: degreesPerCount * .pi / 180)
  }

  private static func words(_ chip: Chip) -> String {
    "\(chip.name) at \(SensorTaskBench.bus)"
  }

  /// A chip at rest with a magnet that comes after two seconds, on its Z axis.
  private func steelBox(_ chip: Chip, until: Double = .infinity) -> SensorTaskBench {
    let bench = SensorTaskBench(
      chip.name, address: chip.address, rate: chip.rate, isImperfect: false, trajectory: .still,
      world: WorldDescription(magnets: [
        Magnet(field: Vector3(0, 0, -chip.beyond), place: .board, from: 2, until: until)
      ]))
    bench.task.setWanted(true)
    return bench
  }

  /// The field that a reading is of.
  private func field(_ sample: Sample<Reading>) throws -> Vector3 {
    guard case .magneticField(let field) = sample.value else { throw CancellationError() }
    return field
  }

  /// How far from the truth the worst of the readings is on its worst axis.
  private func worst(_ samples: [Sample<Reading>], _ bench: SensorTaskBench) throws -> Double {
    try samples.map { sample in
      let truth = bench.provider.truth(at: sample.time)
      let error = try field(sample) - truth.attitude.conjugate.rotate(truth.magneticField)
      return max(abs(error.x), abs(error.y), abs(error.z))
    }.max() ?? .infinity
  }

  @Test("a magnetometer in a steel box takes the range that holds it", arguments: magnetometers)
  func magnetometer(_ chip: Chip) throws {
    let bench = steelBox(chip)
    #expect(bench.run(seconds: 2).count > Int(chip.rate))
    #expect(bench.words.isEmpty)
    _ = bench.run(seconds: 2 + 4 / chip.rate)
    #expect(bench.words.count == chip.steps, "\(bench.words)")
    #expect(bench.words.allSatisfy { $0.hasPrefix(Self.words(chip)) && $0.contains("next wider") })
    let before = bench.task.status.counters
    let samples = bench.run(seconds: 4)
    #expect(Double(samples.count) > 3.9 * chip.rate)
    #expect(try worst(samples, bench) <= chip.count)
    let after = bench.task.status.counters
    #expect(bench.task.status.state == .running)
    #expect(after.overflows == before.overflows && after.overflows >= 3 * UInt64(chip.steps))
    #expect(after.starts == 1 && after.busErrors == 0 && after.configurationsLost == 0)
  }

  @Test(
    "a gyro in a spin takes the range that holds it, and tells of no spin but the true one",
    arguments: gyros)
  func gyro(_ chip: Chip) throws {
    // The turn is fastest in its middle: 1.5 times the mean, or more.
    let bench = SensorTaskBench(
      chip.name, address: chip.address, rate: chip.rate, isImperfect: false,
      trajectory: Trajectory(segments: [
        .init(duration: 2), .init(duration: 2, turn: 1.25 * chip.beyond), .init(duration: 4),
      ]))
    bench.task.setWanted(true)
    let samples = bench.run(seconds: 8)
    #expect(bench.words.count == 1 && bench.words[0].contains("next wider"), "\(bench.words)")
    var (fastest, worst) = (0.0, 0.0)
    var clipped: [Sample<Reading>] = []
    for sample in samples {
      if case .clippedInertial(let rate, _, let axes) = sample.value {
        // It is published, and says less than there was.
        clipped.append(sample)
        let truth = bench.provider.truth(at: sample.time).angularRate
        #expect(axes == InertialClipping(angularRate: .z))
        #expect(abs(truth.z) > abs(rate.z) - chip.count - 60 * 0.5 / chip.rate)
      }
      guard case .inertial(let rate, _) = sample.value else { continue }
      let truth = bench.provider.truth(at: sample.time).angularRate
      fastest = max(fastest, abs(rate.z))
      worst = max(worst, abs(rate.z - truth.z))
    }
    let counts = worst / chip.count
    print("\(chip.name) at \(chip.rate) Hz: at most \(fastest) rad/s, wrong by \(counts) counts")
    #expect(fastest > 1.05 * 1000 * .pi / 180)
    // A queue's moments are known to half a period, in which the spin changes by what this is.
    #expect(worst < chip.count + 60 * 0.5 / chip.rate)
    #expect(bench.task.status.state == .running && bench.task.status.counters.starts == 1)
    // The chip takes the wider range at the third separate overflow; until then its samples are marked.
    let counters = bench.task.status.counters
    #expect(!clipped.isEmpty && counters.samples == samples.count)
  }

  @Test("a magnet that comes near for a moment changes nothing")
  func moment() throws {
    let chip = Self.magnetometers[3]
    let bench = steelBox(chip, until: 2.44)
    // It is there for 0.44 s, beyond the range for a few samples of these.
    _ = bench.run(seconds: 4)
    #expect(bench.task.status.counters.overflows > 0)
    #expect(bench.words.isEmpty)
  }

  @Test("the range stays over sleep, another rate, and a failure")
  func stays() throws {
    let chip = Self.magnetometers[3]
    let bench = steelBox(chip)
    _ = bench.run(seconds: 5)
    #expect(bench.words.count == 1)
    let overflows = bench.task.status.counters.overflows
    bench.task.setWanted(false)
    _ = bench.run(seconds: 2)
    bench.task.setWanted(true)
    #expect(try worst(bench.run(seconds: 2), bench) <= chip.count)
    bench.task.setInterval(0.05)
    #expect(try worst(bench.run(seconds: 2), bench) <= chip.count)
    let now = bench.clock.now()
    bench.provider.inject(.noAnswer, chip: 0, from: now, until: now.advanced(bySeconds: 3))
    _ = bench.run(seconds: 8)
    #expect(try worst(bench.run(seconds: 2), bench) <= chip.count)
    #expect(bench.task.status.counters.overflows == overflows)
    #expect(bench.words.count == 1)
  }

  @Test(
    "beyond the widest range there is no sample, and it is said within two seconds or three periods",
    arguments: [("HMC5883L", 0x1E, 4), ("LIS3MDL", 0x1C, 3), ("QMC5883L", 0x0D, 0)]
      as [(String, UInt8, Int)], [80.0, 20, 10, 5, 2, 1, 0.7])
  func tooStrong(_ chip: (name: String, address: UInt8, steps: Int), rate: Double) throws {
    let driver = try #require(ChipCatalog.chip(named: chip.name)?.chip?(rate))
    let limit = max(2, 3 / driver.outputRate)
    let bench = steelBox(
      Chip(
        name: chip.name, address: chip.address, rate: rate, beyond: 4000, steps: chip.steps,
        count: 1))
    // What was measured before it came.
    let before = max(0.3, 1.1 / driver.outputRate)
    _ = bench.run(seconds: 2 + before)
    #expect(bench.run(seconds: limit - before).isEmpty)
    func checkWords() {
      guard case .failed(let reason) = bench.task.status.state else {
        Issue.record("\(driver.outputRate) Hz: \(bench.task.status.state)")
        return
      }
      #expect(reason.contains("beyond the measuring range"))
    }
    checkWords()
    #expect(bench.run(seconds: 30).isEmpty)
    #expect(bench.words.count == chip.steps)
    #expect(bench.task.status.counters.stalls == 0)
    checkWords()
  }
}

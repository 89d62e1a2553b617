// LIS3DH and the accelerometer half of the LSM303DLHC: worked numbers, and when an output is stuck.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct LIS3DHTests {
  typealias Range = LIS3DH.Range
  @Test(
    "one g is the datasheet's number of 12-bit counts in every range",
    arguments: [(Range.g2, 1000), (.g4, 500), (.g8, 250), (.g16, 0)])
  func sensitivity(range: Range, counts: Int) throws {
    // 12 mg a count has no whole number of counts in 1 g: 250 counts are 3 g.
    let expected = range == .g16 ? 3 * 9.80665 : 9.80665
    let justified = (range == .g16 ? 250 : counts) << 4
    let bytes: [UInt8] = [0, 0, 0, 0, UInt8(justified & 0xFF), UInt8(justified >> 8)]
    let force = try LIS3DHConversion.acceleration(block(bytes), range: range)
    #expect(near(force, Vector3(0, 0, expected), 1e-9))
  }

  @Test("the four low bits do not count and the sign is kept")
  func justified() throws {
    // -1 count with rubbish below, +1 count.
    let force = try LIS3DHConversion.acceleration(
      block([0xFF, 0xFF, 0x1F, 0x00, 0x00, 0x00]), range: .g4)
    #expect(near(force, Vector3(-0.0196133, 0.0196133, 0), 1e-12))
  }

  @Test("both ends of the 12 bits are an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xF0, 0x7F], [0x00, 0x80]] {
      var bytes: [UInt8] = [0, 0, 0, 0, 0, 0]
      bytes.replaceSubrange(axis..<axis + 2, with: value)
      #expect(
        failure { () throws(DriverError) in
          try LIS3DHConversion.acceleration(block(bytes), range: .g4)
        } == .overflow)
    }
  }

  // By another program (Python's math.erf): 220 micro-g a root hertz over a ninth of the rate, each axis in the middle of a
  // step, an independent value every 4.5 conversions, one in a thousand million of them; none where it
  // would take more than ten minutes.
  @Test(
    "as many outputs alike as the noise of a resting chip makes impossible",
    arguments: [
      (Range.g2, [1: nil, 10: 985, 25: 164, 50: 77, 100: 50, 200: 50, 400: 50, 1344: 50]),
      (.g4, [1: nil, 10: nil, 25: 4853, 50: 563, 100: 164, 200: 77, 400: 50, 1344: 50]),
      (.g8, [1: nil, 10: nil, 25: nil, 50: nil, 100: 4853, 200: 563, 400: 164, 1344: 51]),
      (.g16, [1: nil, 10: nil, 25: nil, 50: nil, 100: nil, 200: nil, 400: nil, 1344: 1198]),
    ] as [(Range, [Double: Int?])])
  func alike(range: Range, limits: [Double: Int?]) {
    #expect(limits.count == LIS3DH.outputRates.count)
    for (rate, limit) in limits {
      for chip in LIS3DHVariant.allCases {
        #expect(LIS3DH(chip, outputRate: rate, range: range).alikeLimit == limit ?? .max)
      }
    }
  }

  @Test("at 25 Hz a chip that stands still is stuck after a few minutes, and a resting one is not")
  func slow() throws {
    let bench = ContractBench(address: 0x19) { LIS3DHTwin(TwinCore(source: $0), .lsm303dlhc) }
    bench.source.set(Stimulus(specificForce: 9.80665 * Vector3(0.1, 0.2, 0.96)))
    let driver = BoxedDriver(RegisterDriver(bench.device, LIS3DH(.lsm303dlhc, outputRate: 25)))
    try bench.start(driver)
    for _ in 0..<10_000 { #expect(try bench.nextReading(driver) != nil) }
    bench.begin(.stuckData)
    var readings = 0
    let error = failure { () throws(DriverError) in
      while readings < 5000, try bench.nextReading(driver) != nil { readings += 1 }
    }
    #expect(error == .stuck)
    #expect(readings < 4853)
  }
}

import BoardFile
import SensorTypes
import Testing

@testable import SensorHub

/// A position that a receiver does not measure is passed on, and teaches nothing.
struct GuessedPositionTests {
  /// What comes out of a barometer on a table and a receiver whose height is 100 m for a minute, and 400 m from then on.
  private func run(then kind: FixKind) -> (locations: [LocationEstimate], altitudes: [Double]) {
    let board = Board(
      name: "table",
      sensors: [
        Board.Sensor(chip: "BMP280", attachment: .i2c(bus: "/dev/i2c-1", address: 0x76)),
        Board.Sensor(chip: "GNSS", attachment: .serial(port: "/dev/serial0", baudRate: nil)),
      ])
    var pipeline = Pipeline(board: board, models: [], isSimulated: true)
    var locations: [LocationEstimate] = []
    var altitudes: [Double] = []
    func take(_ delivery: WorkerOutput) {
      pipeline.process(delivery) { observation in
        switch observation {
        case .location(let location): locations.append(location)
        case .absoluteAltitude(let estimate): altitudes.append(estimate.altitude)
        default: break
        }
      }
    }
    for tick in 0..<1_500 {
      let time = Timestamp(nanoseconds: Int64(tick) * 80_000_000)
      take(
        .reading(
          SensorReading(
            sensor: 0,
            sample: Sample(time: time, value: .atmosphere(pressure: 100_000, temperature: 20)),
            edge: nil, outputRate: 12.5)))
      guard tick % 25 == 0 else { continue }
      var fix = GNSSFix(received: time, mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.utc) = (52.5163, 13.3777, 1.795e9 + Double(tick) * 0.08)
      let isLate = tick >= 750
      (fix.altitude, fix.kind) = isLate ? (400, kind) : (100, .autonomous)
      (fix.horizontalAccuracy, fix.verticalAccuracy, fix.accuracySource) = (2, 3, .receiver)
      take(.fix(sensor: 1, fix))
    }
    return (locations, altitudes)
  }

  @Test(
    "dead reckoning moves no altitude, and is told as it came",
    arguments: [FixKind.deadReckoning, .manual, .simulated])
  func guess(kind: FixKind) throws {
    let (locations, altitudes) = run(then: kind)
    #expect(locations.count == 60)
    #expect(locations.suffix(30).allSatisfy { $0.fix.kind == kind && $0.fix.altitude == 400 })
    #expect(abs(try #require(altitudes.last) - 100) < 3)
    #expect(altitudes.allSatisfy { abs($0 - 100) < 10 })
  }

  @Test("what is measured moves it")
  func measurement() throws {
    let (_, altitudes) = run(then: .autonomous)
    #expect(try #require(altitudes.last) > 150)
  }
}

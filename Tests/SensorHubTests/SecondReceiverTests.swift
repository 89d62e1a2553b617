import BoardFile
import SensorTypes
import Testing

@testable import SensorHub

/// A board with two receivers.
struct SecondReceiverTests {
  @Test("where the board is is its first receiver's to say, when it is lost too")
  func second() {
    let board = Board(
      name: "two",
      sensors: ["/dev/serial0", "/dev/serial1"].map {
        Board.Sensor(chip: "GNSS", attachment: .serial(port: $0, baudRate: nil))
      })
    var pipeline = Pipeline(board: board, models: [], isSimulated: true)
    var latitudes: [Double?] = []
    var losses = 0
    func take(_ delivery: WorkerOutput) {
      pipeline.process(delivery) { observation in
        switch observation {
        case .location(let location): latitudes.append(location.fix.latitude)
        case .locationUnavailable: losses += 1
        default: break
        }
      }
    }
    func fixes(at second: Int64) {
      // 0.0009 degrees are 100 m.
      for (sensor, latitude) in [(0, 52.5163), (1, 52.5172)] {
        if sensor == 0, second > 3 { continue }
        var fix = GNSSFix(
          received: Timestamp(nanoseconds: second * 1_000_000_000), mode: .threeDimensional)
        (fix.latitude, fix.longitude) = (latitude, 13.3777)
        take(.fix(sensor: sensor, fix))
      }
    }
    for second in 1...3 { fixes(at: Int64(second)) }
    #expect(latitudes == [52.5163, 52.5163, 52.5163] && losses == 0)
    // A second one without a fix takes nothing away.
    take(.fix(sensor: 1, GNSSFix(received: Timestamp(nanoseconds: 3_500_000_000))))
    #expect(losses == 0)
    var lost = pipeline.status[0]
    (lost.state, lost.since) = (.failed("unplugged"), Timestamp(nanoseconds: 3_600_000_000))
    take(.status(lost))
    for second in 4...6 { fixes(at: Int64(second)) }
    #expect(latitudes.count == 3 && losses == 1)
    #expect(pipeline.status[1].counters.samples == 7)
    // The sky is the first one's too.
    var skies = 0
    for sensor in [0, 1] {
      let sky = GNSSSky(received: Timestamp(nanoseconds: 7_000_000_000), satellites: [])
      pipeline.process(.sky(sensor: sensor, sky)) { if case .sky = $0 { skies += 1 } }
    }
    #expect(skies == 1)
  }
}

import BoardFile
import Geomagnetism
import SensorTypes
import Testing

@testable import SensorHub

/// A receiver that gives positions and no heading, on a board whose heading is that of its antennas.
struct AntennaLossTests {
  private struct Desk {
    var pipeline: Pipeline
    var losses: [String] = []
    var headings = 0

    init(antennas: Double?) {
      var sensor = Board.Sensor(
        chip: "NMEA", attachment: .serial(port: "/dev/serial0", baudRate: nil))
      sensor.antennas = antennas
      pipeline = Pipeline(
        board: Board(name: "boat", sensors: [sensor]), models: [.wmm2025], isSimulated: false)
    }

    mutating func take(_ delivery: WorkerOutput) {
      var (losses, headings): ([String], Int) = ([], 0)
      pipeline.process(delivery) { observation in
        switch observation {
        case .headingUnavailable(let reason, _): losses.append("\(reason)")
        case .heading: headings += 1
        default: break
        }
      }
      self.losses += losses
      self.headings += headings
    }

    mutating func fix(_ second: Double) {
      var fix = GNSSFix(received: Timestamp(seconds: 100 + second), mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.utc) = (52.5163, 13.3777, 1.795e9 + second)
      take(.fix(sensor: 0, fix))
    }

    mutating func heading(_ second: Double) {
      var heading = ReceiverHeading(received: Timestamp(seconds: 100 + second))
      heading.trueHeading = 123.4
      take(.receiverHeading(sensor: 0, heading))
    }
  }

  @Test("that no heading comes is said once after five seconds, and again after the next loss")
  func loss() {
    var desk = Desk(antennas: 0)
    for second in 0..<5 { desk.fix(Double(second)) }
    #expect(desk.losses == [])
    for second in 5..<30 { desk.fix(Double(second)) }
    #expect(desk.losses.count == 1 && desk.losses[0].contains("'antennas'"), "\(desk.losses)")
    for second in 30..<60 {
      desk.fix(Double(second))
      desk.heading(Double(second) + 0.1)
    }
    #expect(desk.losses.count == 1 && desk.headings == 30)
    for second in 60..<90 { desk.fix(Double(second)) }
    #expect(desk.losses.count == 2)
  }

  @Test("one that speaks every half minute, and a board without antennas, lack nothing")
  func slow() {
    var slow = Desk(antennas: 0)
    for round in 0..<10 {
      slow.fix(Double(round) * 30)
      slow.heading(Double(round) * 30 + 0.1)
    }
    #expect(slow.losses == [] && slow.headings == 10)
    var none = Desk(antennas: nil)
    for second in 0..<30 { none.fix(Double(second)) }
    #expect(none.losses == [])
  }
}

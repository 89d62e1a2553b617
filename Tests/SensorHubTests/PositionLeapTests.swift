import BoardFile
import SensorTypes
import StateStore
import Testing

@testable import SensorHub

/// A receiver whose positions leap is named, and its positions are not published as good ones.
struct PositionLeapTests {
  /// A board with a receiver, and what comes out of it.
  private struct Desk {
    var pipeline = Pipeline(
      board: Board(
        name: "table",
        sensors: [
          Board.Sensor(chip: "GNSS", attachment: .serial(port: "/dev/serial0", baudRate: nil))
        ]), models: [], isSimulated: false)
    var fixes: [GNSSFix] = []
    var notes: [String] = []

    mutating func take(
      _ second: Double, _ latitude: Double, _ longitude: Double = 13.3777,
      _ change: (inout GNSSFix) -> Void = { _ in }
    ) {
      var fix = GNSSFix(received: Timestamp(seconds: 100 + second), mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.altitude) = (latitude, longitude, 100)
      (fix.kind, fix.hdop, fix.utc) = (.autonomous, 1, 1.8e9 + second)
      change(&fix)
      var (fixes, notes): ([GNSSFix], [String]) = ([], [])
      pipeline.process(.fix(sensor: 0, fix)) { observation in
        switch observation {
        case .location(let estimate): fixes.append(estimate.fix)
        case .diagnostic(let text, _) where text.contains("leaps"): notes.append(text)
        default: break
        }
      }
      self.fixes += fixes
      self.notes += notes
    }

    var accuracies: [Double] { fixes.compactMap(\.horizontalAccuracy) }
  }

  @Test("one that leaps each second has the distance as its accuracy, and a single note")
  func leaping() throws {
    var desk = Desk()
    for second in 0..<60 { desk.take(Double(second), second % 2 == 0 ? 52.5163 : 11.1) }
    #expect(desk.fixes.count == 60 && desk.accuracies.count == 60)
    #expect(desk.accuracies[0] == 5)
    #expect(desk.accuracies.dropFirst().allSatisfy { (4.5e6...4.7e6).contains($0) })
    #expect(desk.fixes.dropFirst().allSatisfy { $0.accuracySource == .worstCase })
    #expect(desk.fixes.dropFirst().allSatisfy { ($0.verticalAccuracy ?? 0) >= 9_000 })
    #expect(desk.notes.count == 1)
    #expect(try #require(desk.notes.first).contains("4605 km within 1.0 s"), "\(desk.notes)")
    // Nothing is kept of the second place.
    let kept = desk.pipeline.takePositionToKeep()
    #expect(kept?.latitude != 11.1)
  }

  @Test("one that stays is believed again after ten seconds, and is named again after ten minutes")
  func settled() {
    var desk = Desk()
    desk.take(0, 52.5163)
    for second in 1...20 { desk.take(Double(second), 11.1) }
    #expect(desk.accuracies[1...10].allSatisfy { $0 > 4e6 })
    #expect(desk.accuracies[11...].allSatisfy { $0 == 5 })
    desk.take(60, 52.5163)
    #expect(desk.notes.count == 1)
    for second in 61...700 { desk.take(Double(second), 52.5163) }
    desk.take(701, 11.1)
    #expect(desk.notes.count == 2 && desk.notes.last?.contains("leaps so far: 3") == true)
  }

  @Test("what can be travelled is no leap")
  func travelled() {
    let degree = 111_195.0
    var desk = Desk()
    // A jet at 300 m/s, whose epochs come late, and over the date line.
    for second in 0..<30 {
      let late = second % 3 == 0 ? 0.8 : 0
      let longitude = 179.99 + 300 * Double(second) / degree
      desk.take(Double(second) + late, 0, longitude.remainder(dividingBy: 360))
    }
    // A loss of an hour, at that speed.
    desk.take(3_630, 9, -179.9)
    // A board that slept for half a day, by its own clock for a second.
    desk.take(3_631, 40, -179.9) { $0.utc = 1.8e9 + 43_200 }
    // A rough position, 4 km off.
    desk.take(3_632, 40 + 4_000 / degree, -179.9) {
      ($0.utc, $0.horizontalAccuracy) = (1.8e9 + 43_201, 900)
    }
    // An orbit, by its own word.
    desk.take(3_633, 40 + 4_000 / degree, -179.9) {
      ($0.utc, $0.speed) = (1.8e9 + 43_202, 7_600)
    }
    desk.take(3_634, 40 + 11_600 / degree, -179.9) {
      ($0.utc, $0.speed) = (1.8e9 + 43_203, 7_600)
    }
    #expect(desk.notes == [] && desk.accuracies.allSatisfy { $0 <= 900 })
  }

  @Test("a speed that nothing has excuses no leap, and a guess is none")
  func excuses() {
    var desk = Desk()
    desk.take(0, 52.5163)
    desk.take(1, 11.1) { $0.speed = 1e7 }
    #expect(desk.notes.count == 1)
    var guess = Desk()
    guess.take(0, 52.5163)
    guess.take(1, 11.1) { $0.kind = .deadReckoning }
    guess.take(2, 52.5163)
    #expect(guess.notes == [])
  }
}

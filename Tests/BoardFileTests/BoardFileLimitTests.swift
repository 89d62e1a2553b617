import BoardFile
import SensorDrivers
import Testing

/// Limits of a board file.
@Suite struct BoardFileLimitTests {
  private func message(_ sensors: Int) -> String {
    let lines = (0..<sensors).map { "  - {chip: NMEA, port: /dev/ttyUSB\($0)}\n" }
    do {
      let text = "schema: 1\nname: many\nsensors:\n" + lines.joined()
      return "\(try BoardFile.parse(text, file: "board.yaml").sensors.count) sensors"
    } catch {
      return error.description
    }
  }

  @Test("the number of chips and the length of the file are limited, and checked in linear time")
  func limits() {
    #expect(message(BoardFile.mostSensors) == "256 sensors")
    #expect(
      message(BoardFile.mostSensors + 1)
        == "board.yaml:3: 'sensors' has 257 chips; a board has 256 at most")
    let clock = ContinuousClock()
    var said = ""
    // Comparing each chip with all others took 20 s.
    let time = clock.measure { said = message(400_000) }
    #expect(said == "board.yaml: longer than a board file may be, 1048576 bytes")
    #expect(time < .seconds(5))
  }
}

import BoardFile
import SensorTypes
import Testing

/// The key `base` of a receiver.
struct BaseKeyTests {
  private func sensor(
    _ base: String, _ receiver: String = "chip: u-blox, port: /dev/serial0"
  ) throws(BoardFileError) -> Board.Sensor {
    try BoardFile.parse(
      "schema: 1\nname: x\nsensors:\n  - {\(receiver), base: \(base)}\n", file: "x"
    ).sensors[0]
  }

  @Test("a survey, or a place that is known with its accuracy or without it")
  func forms() throws {
    #expect(try sensor("{survey: 300, accuracy: 2}").base == .survey(seconds: 300, accuracy: 2))
    #expect(
      try sensor("{latitude: 48.1374, longitude: 11.5755, height: 564.7}").base
        == .known(latitude: 48.1374, longitude: 11.5755, height: 564.7, accuracy: nil))
    #expect(
      try sensor("{latitude: -33.85, longitude: -70.65, height: 0, accuracy: 0.05}").base
        == .known(latitude: -33.85, longitude: -70.65, height: 0, accuracy: 0.05))
    for receiver in [
      "chip: GNSS, port: /dev/serial0", "chip: u-blox, bus: /dev/i2c-1, address: 0x42",
    ] {
      #expect(try sensor("{survey: 60, accuracy: 5}", receiver).base != nil)
    }
    let plain = try BoardFile.parse(
      "schema: 1\nname: x\nsensors:\n  - {chip: u-blox, port: /dev/serial0}\n", file: "x")
    #expect(plain.sensors[0].base == nil)
  }

  @Test(
    "what is wrong is said with its line",
    arguments: [
      ("{survey: 300}", "needs 'accuracy'"), ("{survey: 0, accuracy: 2}", "1 to 86400 s"),
      ("{survey: 300, accuracy: 0}", "0.01 to 100 m"), ("{survey: x, accuracy: 2}", "a number"),
      ("{survey: 300, accuracy: 2, height: 3}", "either 'survey' or a place"),
      ("{latitude: 48}", "needs 'longitude'"), ("{longitude: 11}", "needs 'latitude'"),
      ("{latitude: 48, longitude: 11}", "needs 'height'"),
      ("{latitude: 91, longitude: 11, height: 0}", "-90 to 90"),
      ("{latitude: 48, longitude: 11, height: 0, altitude: 3}", "unknown key 'altitude'"),
      ("{}", "{survey: SECONDS"), ("survey", "{survey: SECONDS"),
      ("{survey: 300, accuracy: nan}", "a number"),
      ("{survey: 300, accuracy: 1e-320}", "'accuracy' must be a number (m)"),
      (
        "{survey: '300', accuracy: 2}",
        "'survey' is a text in quotes; a number has none: survey: 300"
      ),
      ("{latitude: \"48\", longitude: 11, height: 0}", "a number has none: latitude: 48"),
    ])
  func mistakes(text: String, words: String) {
    do throws(BoardFileError) {
      Issue.record("\(try sensor(text))")
    } catch {
      #expect(error.description.hasPrefix("x:4: ") && error.description.contains(words), "\(error)")
    }
  }

  @Test(
    "a base station stands still, takes no corrections, does not sleep, and is configured",
    arguments: [
      (
        "chip: u-blox, port: /dev/serial0, corrections: 'ntrip://caster.example/ROOF'",
        "corrections"
      ),
      ("chip: u-blox, port: /dev/serial0, dynamicModel: stationary", "dynamicModel"),
      ("chip: u-blox, port: /dev/serial0, standby: true", "standby"),
      ("chip: NMEA, port: /dev/serial0", "u-blox or GNSS"), ("chip: gpsd", "u-blox or GNSS"),
      ("chip: BMP280, bus: /dev/i2c-1, address: 0x76", "u-blox or GNSS"),
    ])
  func contradictions(receiver: String, words: String) {
    do throws(BoardFileError) {
      Issue.record("\(try sensor("{survey: 300, accuracy: 2}", receiver))")
    } catch {
      #expect(error.description.contains(words), "\(error)")
    }
  }
}

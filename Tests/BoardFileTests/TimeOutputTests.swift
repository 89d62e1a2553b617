import Testing

@testable import BoardFile

/// Where a receiver's time goes, in a board file.
struct TimeOutputTests {
  private static let pps = ", pps: {chip: x, line: y}"

  private func sensor(_ keys: String) throws -> Board.Sensor {
    let text = "schema: 1\nname: boat\nsensors:\n  - {chip: GNSS, port: /dev/serial0\(keys)}\n"
    return try BoardFile.parse(text, file: "boat.yaml").sensors[0]
  }

  private func mistake(_ sensor: String) -> String? {
    do {
      _ = try BoardFile.parse(
        "schema: 1\nname: boat\nsensors:\n  - {\(sensor)}\n", file: "boat.yaml")
      return nil
    } catch { return "\(error)" }
  }

  @Test("a board whose receiver gives the time, or is a base, has work to do without a program")
  func worksAlone() throws {
    func works(_ receiver: String) throws -> Bool {
      try BoardFile.parse(
        "schema: 1\nname: boat\nsensors:\n  - {chip: GNSS, port: /dev/serial0\(receiver)}\n",
        file: "boat.yaml"
      ).worksAlone
    }
    #expect(try !works(""))
    #expect(try works(", time: chrony"))
    #expect(try works(", base: {survey: 300, accuracy: 2}"))
  }

  @Test("chrony has a socket for messages, and one for pulses where they are wired")
  func places() throws {
    #expect(try sensor("").time == nil)
    let (messages, pulses) = ("/run/chrony.lodestone.sock", "/run/chrony.lodestone.pps.sock")
    #expect(try sensor(", time: chrony").time == TimeOutput(messages: messages))
    #expect(
      try sensor(", time: chrony" + Self.pps).time == TimeOutput(messages: messages, pulses: pulses)
    )
    #expect(
      try sensor(", time: {chrony: /run/x}" + Self.pps).time == TimeOutput(messages: "/run/x"))
    #expect(
      try sensor(", time: {chrony: /run/x, pulse: /run/y}" + Self.pps).time
        == TimeOutput(messages: "/run/x", pulses: "/run/y"))
    #expect(try sensor(", time: {pulse: /run/y}" + Self.pps).time == TimeOutput(pulses: "/run/y"))
  }

  @Test(
    "every mistake says what would be right",
    arguments: [
      ("chip: GNSS, port: /dev/serial0, time: ntp", "'time' is chrony"),
      ("chip: GNSS, port: /dev/serial0, time: {chrony: run/x}", "absolute path"),
      ("chip: GNSS, port: /dev/serial0, time: {pulse: /run/y}", "has 'pps'"),
      ("chip: GNSS, port: /dev/serial0, standby: true, time: chrony", "never sleeps"),
      ("chip: GNSS, port: /dev/serial0, time: {}", "needs 'chrony' or 'pulse'"),
      ("chip: GNSS, port: /dev/serial0, time: {ntp: /run/y}", "unknown key 'ntp'"),
      ("chip: GNSS, port: /dev/serial0, time: {chrony: /x, pulse: /x}\(pps)", "a socket each"),
      ("chip: BMP280, bus: /dev/i2c-1, address: 0x77, time: chrony", "goes with a receiver"),
      ("chip: gpsd, time: chrony", "gpsd gives chrony the time itself"),
      ("chip: NMEA, host: tcp://boat, time: chrony", "nobody knows how late"),
    ])
  func mistakes(sensor: String, says: String) throws {
    let words = try #require(mistake(sensor))
    #expect(words.contains(says) && words.hasPrefix("boat.yaml:4: "), "\(words)")
  }
}

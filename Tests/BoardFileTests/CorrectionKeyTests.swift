import BoardFile
import SensorTypes
import Testing

/// The key `corrections` of a receiver.
struct CorrectionKeyTests {
  private func sensor(
    _ corrections: String, _ receiver: String = "chip: u-blox, port: /dev/serial0"
  ) throws(BoardFileError) -> Board.Sensor {
    try BoardFile.parse(
      "schema: 1\nname: x\nsensors:\n  - {\(receiver), corrections: \(corrections)}\n", file: "x"
    ).sensors[0]
  }

  private func message(
    _ corrections: String, _ receiver: String = "chip: u-blox, port: /dev/serial0"
  ) -> String {
    do {
      return "\(try sensor(corrections, receiver))"
    } catch {
      return error.description
    }
  }

  @Test(
    "an address is the short form, with ports and encryption",
    arguments: [
      ("ntrip://caster.example/ROOF", CorrectionSource(host: "caster.example", mountpoint: "ROOF")),
      (
        "'ntrip://caster.example:2102/ROOF'",
        CorrectionSource(host: "caster.example", port: 2_102, mountpoint: "ROOF")
      ),
      (
        "'ntrips://caster.example/ROOF-1_x.y'",
        CorrectionSource(
          host: "caster.example", port: 443, isEncrypted: true, mountpoint: "ROOF-1_x.y")
      ),
      (
        "'ntrips://[::1]:2101/A:B'",
        CorrectionSource(host: "::1", isEncrypted: true, mountpoint: "A:B")
      ),
    ])
  func address(text: String, source: CorrectionSource) throws {
    #expect(try sensor(text).corrections == source)
    #expect(try sensor(text, "chip: NMEA, port: /dev/serial0").corrections == source)
    #expect(try sensor(text, "chip: GNSS, port: /dev/serial0").corrections == source)
  }

  @Test("the long form has credentials and says whether the position is sent")
  func mapping() throws {
    let whole = try sensor(
      "{caster: 'caster.example:2102', mountpoint: ROOF, credentials: /etc/lodestone/caster, sendsPosition: false}"
    ).corrections
    #expect(
      whole
        == CorrectionSource(
          host: "caster.example", port: 2_102, mountpoint: "ROOF",
          credentials: "/etc/lodestone/caster",
          sendsPosition: false))
    let short = try sensor("{caster: 'ntrips://caster.example/ROOF', credentials: /etc/caster}")
      .corrections
    #expect(
      short?.isEncrypted == true && short?.sendsPosition == true && short?.mountpoint == "ROOF")
    #expect(short?.description == "caster.example:443/ROOF")
  }

  @Test(
    "what is wrong is said with its line",
    arguments: [
      ("caster.example/ROOF", "an address such as ntrip://"),
      ("http://caster.example/ROOF", "an address such as ntrip://"),
      ("ntrip://caster.example", "needs a mountpoint"),
      ("ntrip://caster.example/", "needs a mountpoint"),
      ("'ntrip:///ROOF'", "names no caster"),
      ("'ntrip://caster.example:0/ROOF'", "names no caster"),
      ("'ntrip://caster.example:70000/ROOF'", "'70000' is no port"),
      ("'ntrip://::1:2101/ROOF'", "stands in brackets"),
      ("'NTRIP://caster.example/ROOF'", "write ntrip:// in small letters"),
      ("'ntrip://::1/ROOF'", "names no caster"),
      ("'ntrip://caster.example/A/B'", "up to 100 ASCII characters"),
      ("'ntrip://caster.example/A B'", "up to 100 ASCII characters"),
      ("'ntrip://caster.example/Ä'", "up to 100 ASCII characters"),
      ("{caster: caster.example}", "--ntrip-sources caster.example:2101"),
      ("{mountpoint: ROOF}", "needs 'caster'"),
      ("{caster: caster.example, mountpoint: A, credentials: pass}", "mode 0600"),
      ("{caster: 'ntrip://caster.example/A', mountpoint: B}", "stands in 'caster' already"),
      ("{caster: caster.example, mountpoint: A, sendsPosition: maybe}", "true or false"),
      ("{caster: caster.example, mountpoint: A, password: x}", "unknown key 'password'"),
      ("[a]", "must be a mapping"),
    ])
  func mistakes(text: String, words: String) {
    let said = message(text)
    #expect(said.hasPrefix("x:4: ") && said.contains(words), "\(said)")
  }

  @Test(
    "a password in the board file is refused and not repeated",
    arguments: [
      "'ntrip://me:hush@caster.example/ROOF'", "'me:hush@caster.example/ROOF'",
      "{caster: 'me:hush@caster.example', mountpoint: ROOF}",
      "{caster: caster.example, mountpoint: ROOF, credentials: 'me:hush'}",
    ])
  func secrecy(text: String) {
    let said = message(text)
    #expect(said.contains("credentials") && !said.contains("hush"), "\(said)")
  }

  @Test("only a receiver that takes RTCM has corrections, at a serial port or on I2C")
  func receivers() throws {
    let address = "ntrip://caster.example/ROOF"
    #expect(message(address, "chip: gpsd").contains("takes RTCM"))
    #expect(message(address, "chip: BMP280, bus: /dev/i2c-1, address: 0x76").contains("takes RTCM"))
    #expect(
      try sensor(address, "chip: u-blox, bus: /dev/i2c-1, address: 0x42").corrections
        == CorrectionSource(host: "caster.example", mountpoint: "ROOF"))
  }

  @Test("a login in a mountpoint is refused and not repeated")
  func mountpoint() {
    for text in [
      "{caster: caster.example, mountpoint: 'me:hush@ROOF'}",
      "'ntrip://caster.example/me:hush@ROOF'",
      "{caster: caster.example, mountpoint: 'ROOF;hush'}",
    ] {
      let said = message(text)
      #expect(said.hasPrefix("x:4: ") && !said.contains("hush"), "\(said)")
    }
  }
}

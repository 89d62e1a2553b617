import GNSSProtocol
import SensorTypes
import Testing

/// The satellites of gpsd's SKY, as gpsd_json(5) describes them.
struct GPSDSkyTests {
  private func listener(_ reports: [String], device: String? = nil) -> GPSDListener {
    var listener = GPSDListener(decoder: GPSDDecoder(device: device))
    for (second, report) in reports.enumerated() { listener.hear(report, at: Double(second)) }
    return listener
  }

  private func sky(_ satellites: String, more: String = "") -> String {
    "{\"class\":\"SKY\"\(more),\"hdop\":0.8,\"uSat\":1,\"satellites\":[\(satellites)]}"
  }

  @Test("a satellite is whose gnssid says, with what is known of it")
  func named() throws {
    let listener = listener([
      sky(
        """
        {"PRN":5,"gnssid":0,"svid":5,"el":35.0,"az":120.0,"ss":41.5,"used":true,"health":1},\
        {"PRN":305,"gnssid":2,"svid":5,"ss":0.0,"used":false},\
        {"PRN":68,"gnssid":6,"svid":4,"el":-91.0,"az":360.0,"ss":30.0,"used":true,"freqid":6},\
        {"PRN":136,"gnssid":1,"svid":136,"el":0.0,"az":0.0,"ss":33.0,"used":false}
        """)
    ])
    #expect(listener.events == [.sky])
    let satellites = listener.decoder.satellites
    try #require(satellites.count == 4)
    #expect(satellites.map(\.system) == [.gps, .galileo, .glonass, .sbas])
    #expect(satellites.map(\.number) == [5, 5, 4, 136])
    #expect(satellites.map(\.elevation) == [35, nil, nil, 0])
    #expect(satellites.map(\.azimuth) == [120, nil, 0, 0])
    #expect(satellites.map(\.carrierToNoise) == [41.5, nil, 30, 33])
    #expect(satellites.map(\.isUsed) == [true, false, true, false])
  }

  @Test("before gpsd 3.18 one number names all systems; what it does not name is left out")
  func numbered() {
    let numbers = [5, 40, 70, 136, 195, 203, 311, 437, 999, 0, -3]
    let text = numbers.map { "{\"PRN\":\($0),\"used\":false}" }.joined(separator: ",")
    let satellites = listener([sky(text + ",7,{},\"x\"")]).decoder.satellites
    #expect(
      satellites.map { "\($0.system)\($0.number)" } == [
        "gps5", "sbas127", "glonass6", "sbas136", "qzss3", "beidou3", "galileo11", "beidou37",
      ])
  }

  @Test("two signals of a satellite are one, the stronger")
  func signals() {
    let satellites = listener([
      sky(
        "{\"gnssid\":0,\"svid\":5,\"sigid\":0,\"ss\":40,\"used\":true},"
          + "{\"gnssid\":0,\"svid\":5,\"sigid\":3,\"ss\":44,\"used\":false}")
    ]).decoder.satellites
    #expect(satellites.count == 1)
    #expect(satellites.first?.carrierToNoise == 44 && satellites.first?.isUsed == true)
  }

  @Test("each report is a whole round; dilutions alone are none, an empty list is one")
  func rounds() {
    let listener = listener([
      sky("{\"PRN\":5,\"used\":true}"), "{\"class\":\"SKY\",\"hdop\":0.9}",
      sky("{\"PRN\":6,\"used\":false}"),
    ])
    #expect(listener.events == [.sky, .message, .sky])
    #expect(listener.decoder.satellites.map(\.number) == [6])
    #expect(listener.decoder.satellites.map(\.isUsed) == [false])
    let empty = self.listener([sky("{\"PRN\":5,\"used\":true}"), sky("")])
    #expect(empty.events == [.sky, .sky] && empty.decoder.satellites.isEmpty)
  }

  @Test("another receiver's sky is not this one's, and a damaged one is none")
  func foreign() {
    let ours = sky("{\"PRN\":5,\"used\":true}", more: ",\"device\":\"/dev/a\"")
    let others = sky("{\"PRN\":6,\"used\":true}", more: ",\"device\":\"/dev/b\"")
    let listener = listener([ours, others, String(ours.dropLast())], device: "/dev/a")
    #expect(listener.events == [.sky, .message])
    #expect(listener.decoder.satellites.map(\.number) == [5])
    #expect(listener.decoder.counters.foreign == 1 && listener.decoder.counters.damaged == 1)
  }
}

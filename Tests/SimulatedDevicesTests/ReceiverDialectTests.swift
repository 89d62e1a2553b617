// The sentences by which receivers other than u-blox's are configured.

import Testing

@testable import SimulatedDevices

@Suite("Dialects of receiver twins")
struct ReceiverDialectTests {
  // MT3339's PMTK command packet: 0 invalid, 1 not supported, 2 valid and failed, 3 done.
  @Test("MediaTek: every command is acknowledged with its flag, but for the rate of the line")
  func mediaTek() {
    // A line on which answers do not wait behind epochs.
    var twin = ReceiverTwin.started(.mediaTek, .uart, baudRate: 115_200)
    #expect(
      nmeaSentences(twin.listen(from: -5000, to: -4500)) == ["PMTK011,MTKGPS", "PMTK010,001"])
    for (index, (body, answer)) in [
      ("PMTK605", "PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0"),
      ("PMTK220,200", "PMTK001,220,3"), ("PMTK220,99", "PMTK001,220,2"),
      ("PMTK220,10001", "PMTK001,220,2"), ("PMTK886,4", "PMTK001,886,3"),
      ("PMTK886,5", "PMTK001,886,2"), ("PMTK999", "PMTK001,999,1"), ("PMTKxyz", "PMTK001,0,0"),
      ("PMTK314,0,1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "PMTK001,314,3"),
      ("PMTK314,0,1,0,1", "PMTK001,314,2"), ("PMTK161,1", "PMTK001,161,2"),
    ].enumerated() {
      #expect(twin.answers(to: body, at: Double(index) * 1_000 + 500) == [answer], "\(body)")
    }
    #expect(twin.configuration.epochPeriod == 200 && twin.configuration.dynamicModel == 4)
    let lines = nmeaSentences(twin.listen(from: 12_000, to: 13_000))
    #expect(Set(lines.map { $0.prefix(5) }) == ["GPRMC", "GPGGA"])
    twin.say(Array("$PMTK220,1000*00\r\n".utf8), at: 13_000)
    #expect(twin.configuration.epochPeriod == 200)
    #expect(twin.answers(to: "PMTK251,38400", at: 13_100).isEmpty && twin.baudRate == 38_400)
  }

  @Test("MediaTek in standby says nothing, and any byte wakes it with its settings")
  func standby() {
    // A line on which answers do not wait behind epochs.
    var twin = ReceiverTwin.started(.mediaTek, .uart, baudRate: 115_200)
    _ = twin.listen(from: 0, to: 1_500)
    #expect(twin.answers(to: "PMTK220,500", at: 1_500) == ["PMTK001,220,3"])
    #expect(twin.answers(to: "PMTK161,0", at: 2_200).first == "PMTK001,161,3")
    #expect(twin.listen(from: 3_000, to: 60_000).isEmpty && twin.isAsleep)
    twin.say([0xFF], at: 60_100)
    #expect(!twin.isAsleep && twin.configuration.epochPeriod == 500)
    #expect(nmeaSentences(twin.listen(from: 60_100, to: 63_000)).count >= 8)
  }

  // LC29H's protocol specification: 0 done, 1 under way, 3 not supported, 4 wrong parameter.
  @Test("Airoha: results, and the module's name beside the chip's")
  func airoha() {
    var twin = ReceiverTwin.started(.airoha, .uart)
    #expect(twin.baudRate == 115_200)
    _ = twin.listen(from: 0, to: 400)
    for (index, (body, expected)) in [
      ("PAIR050,200", ["PAIR001,050,1", "PAIR001,050,0"]),
      ("PAIR050,5000", ["PAIR001,050,1", "PAIR001,050,4"]),
      ("PAIR062,5,0", ["PAIR001,062,0"]), ("PAIR062,6,0", ["PAIR001,062,4"]),
      ("PAIR062,0,21", ["PAIR001,062,4"]), ("PAIR080,1", ["PAIR001,080,0"]),
      ("PAIR080,2", ["PAIR001,080,4"]), ("PAIR999", ["PAIR001,999,3"]),
      ("PQTMVERNO", ["PQTMVERNO,LC29HAANR11A03S,2022/08/31,14:22:50"]),
    ].enumerated() {
      #expect(twin.answers(to: body, at: Double(index) * 1_000 + 500) == expected, "\(body)")
    }
    let chip = twin.answers(to: "PAIR021", at: 10_500)
    #expect(chip.count == 2 && chip[0] == "PAIR001,021,0" && chip[1].hasPrefix("PAIR021,AG3335M_"))
    #expect(twin.configuration.epochPeriod == 200 && twin.configuration.dynamicModel == 1)
    let kinds = Set(
      nmeaSentences(twin.listen(from: 11_000, to: 12_000)).map {
        $0.suffix(from: $0.index($0.startIndex, offsetBy: 2)).prefix(3)
      })
    #expect(!kinds.contains("VTG") && kinds.contains("RMC"))
  }

  // CASIC's receiver protocol: nothing is acknowledged; what cannot be is passed over.
  @Test("CASIC: commands without answers, but for the names")
  func casic() {
    var twin = ReceiverTwin.started(.casic, .uart)
    _ = twin.listen(from: 0, to: 900)
    #expect(
      twin.answers(to: "PCAS06,0", at: 1_500) == ["GPTXT,01,01,02,SW=URANUS5,V5.3.0.0"])
    #expect(
      twin.answers(to: "PCAS06,1", at: 2_500) == ["GPTXT,01,01,02,HW=ATGM336H,0004090746370"])
    for (index, body) in [
      "PCAS02,500", "PCAS02,300", "PCAS11,3", "PCAS11,9", "PCAS01,5", "PCAS01,9",
    ]
    .enumerated() {
      #expect(twin.answers(to: body, at: Double(index) * 1_000 + 3_500).isEmpty)
    }
    #expect(twin.configuration.epochPeriod == 500 && twin.configuration.dynamicModel == 3)
    #expect(twin.baudRate == 115_200)
  }
}

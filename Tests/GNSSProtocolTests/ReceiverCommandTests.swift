// Commands and answers of receivers, against sentences and messages that others have published.

import GNSSProtocol
import SensorTypes
import Testing

struct ReceiverCommandTests {
  private func said(_ sentences: [String]) -> (
    events: [GNSSEvent], identity: ReceiverIdentity
  ) {
    var decoder = GNSSDecoder()
    let bytes = sentences.flatMap { Array("\($0)\r\n".utf8) }
    let events = Stream.events(bytes, by: &decoder)
    #expect(decoder.counters.badChecksums == 0, "\(sentences)")
    return (events, decoder.identity)
  }

  // Check sums as published: Adafruit's and Quectel's manuals (PMTK), Quectel's LC29H specification (PAIR, PQTM), CASIC's
  // receiver protocol (PCAS).
  @Test(
    "sentences are framed as in the makers' manuals",
    arguments: [
      "$PMTK605*31", "$PMTK220,100*2F", "$PMTK886,1*29", "$PMTK161,0*28", "$PMTK251,115200*1F",
      "$PAIR021*39", "$PQTMVERNO*58", "$PAIR050,1000*12", "$PAIR062,0,3*3D", "$PCAS06,0*1B",
      "$PCAS06,1*1A", "$PCAS02,1000*2E", "$PCAS11,3*1E", "$PQTMCFGMSGRATE,W,PQTMTAR,1,1*09",
      "$PQTMCFGMSGRATE,W,GGA,1*0A", "$PQTMCFGMSGRATE,W,VTG,1*0E",
      "$PQTMCFGMSGRATE,W,PQTMEPE,1,2*1D",
    ])
  func frames(sentence: String) throws {
    let content = try #require(sentence.dropFirst().split(separator: "*").first)
    #expect(
      String(decoding: ReceiverSentences.frame(String(content)), as: UTF8.self) == sentence + "\r\n"
    )
  }

  @Test(
    "names and versions that modules have given",
    arguments: [
      (["$PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0*6B"], "PA6H", "AXN_2.31_3339_13101700"),
      (
        ["$PMTK705,AXN_5.1.7_3333_19020118,0027,PA1010D,1.0*76"], "PA1010D",
        "AXN_5.1.7_3333_19020118"
      ),
      (
        ["$PMTK705,MT3333_AXN5.1.9_MODULE_STD_F1_P1,0007,Quectel-L76L,1.0*08"], "Quectel-L76L",
        "MT3333_AXN5.1.9_MODULE_STD_F1_P1"
      ),
      (["$PQTMVERNO,LC29HDANR11A03S_RSA*2F"], "Quectel LC29HDA", "LC29HDANR11A03S_RSA"),
      (
        ["$PQTMVERNO,LG290P03AANR01A03S,2024/04/30,10:53:07*18"], "Quectel LG290P",
        "LG290P03AANR01A03S"
      ),
      (
        ["$PQTMVERNO,LC02HBANR01A01S_CLQ,2024/04/23,16:07:36*39"], "Quectel LC02HBA",
        "LC02HBANR01A01S_CLQ"
      ),
      (
        [
          "$GPTXT,01,01,02,HW=ATGM336H,0004090746370*1E", "$GPTXT,01,01,02,SW=URANUS5,V5.3.0.0*1D",
        ], "ATGM336H", "URANUS5 V5.3.0.0"
      ),
      (["$GPTXT,01,01,02,SW=URANUS5,V5.3.0.0*1D"], "CASIC receiver", "URANUS5 V5.3.0.0"),
    ] as [([String], String, String)])
  func identities(sentences: [String], name: String, firmware: String) {
    let (events, identity) = said(sentences)
    #expect(events.filter { $0 == .identity }.count == sentences.count)
    #expect(identity.summary == SensorIdentity(name: name, firmware: firmware))
  }

  @Test("Quectel's name of a module stays, whichever of its two answers comes first")
  func twoNames() {
    let chip = String(
      decoding: Stream.sentence("PAIR021,AG3335M_V2.3.0.AG3335_20220831,S,N"), as: UTF8.self
    ).dropLast(1)
    let module = "$PQTMVERNO,LC29HDANR11A03S_RSA*2F"
    #expect(said([String(chip)]).identity.summary?.name == "AG3335M")
    for order in [[String(chip), module], [module, String(chip)]] {
      #expect(said(order).identity.summary?.name == "Quectel LC29HDA")
    }
  }

  @Test("a u-blox receiver is named by its module, else by its generation")
  func uBlox() {
    var identity = ReceiverIdentity()
    #expect(identity.summary == nil)
    identity.family = .uBlox
    identity.software = "EXT CORE 4.04 (7f89f7)"
    identity.hardware = "00190000"
    #expect(identity.summary?.description == "u-blox M9 or F9, firmware EXT CORE 4.04 (7f89f7)")
    identity.extensions = ["FWVER=SPG 4.04", "PROTVER=32.01", "MOD=NEO-M9N"]
    #expect(identity.summary?.description == "u-blox NEO-M9N, firmware SPG 4.04")
  }

  @Test(
    "answers carry their command and what became of it",
    arguments: [
      ("PMTK001,220,3", ReceiverAnswer(.pmtk, 220, .accepted)),
      ("PMTK001,886,0", ReceiverAnswer(.pmtk, 886, .refused)),
      ("PMTK001,886,1", ReceiverAnswer(.pmtk, 886, .refused)),
      ("PMTK001,314,2", ReceiverAnswer(.pmtk, 314, .refused)),
      ("PMTK001,838,3,1", ReceiverAnswer(.pmtk, 838, .accepted)),
      ("PAIR001,050,0", ReceiverAnswer(.pair, 50, .accepted)),
      ("PAIR001,050,1", ReceiverAnswer(.pair, 50, .pending)),
      ("PAIR001,062,2", ReceiverAnswer(.pair, 62, .refused)),
      ("PAIR001,062,3", ReceiverAnswer(.pair, 62, .refused)),
      ("PAIR001,062,4", ReceiverAnswer(.pair, 62, .refused)),
      ("PAIR001,062,5", ReceiverAnswer(.pair, 62, .refused)),
    ])
  func answers(content: String, answer: ReceiverAnswer) {
    #expect(Stream.events(Stream.sentence(content)) == [.answer(answer)])
  }

  // LG290P: its specification's examples, and captures of one.
  @Test(
    "Quectel's answers carry their command's name, and the number that was asked for",
    arguments: [
      ("$PQTMCFGMSGRATE,OK*29", "CFGMSGRATE", AnswerStatus.accepted, Int?.none),
      ("$PQTMCFGMSGRATE,ERROR,1*68", "CFGMSGRATE", .refused, nil),
      ("$PQTMCFGFIXRATE,OK*27", "CFGFIXRATE", .accepted, nil),
      ("$PQTMCFGFIXRATE,OK,1000*0A", "CFGFIXRATE", .accepted, 1_000),
      ("$PQTMVER,ERROR,3*32", "VER", .refused, nil),
    ] as [(String, String, AnswerStatus, Int?)])
  func quectel(line: String, name: String, verdict: AnswerStatus, value: Int?) throws {
    let command = try #require(ReceiverAnswer.number(of: name.utf8))
    // The sentence that tells of a start is no command.
    let expected: GNSSEvent =
      name == "VER"
      ? .message : .answer(ReceiverAnswer(.pqtm, command, verdict, value: value))
    #expect(said([line]).events == [expected])
  }

  @Test("the families of Quectel's modules, and what tells of a start")
  func quectelFamilies() {
    #expect(
      said(["$PQTMVERNO,LG290P03AANR01A03S,2024/04/30,10:53:07*18"]).identity.family == .quectel)
    #expect(said(["$PQTMVERNO,LC29HDANR11A03S_RSA*2F"]).identity.family == .airoha)
    let line = "$PQTMVER,1,MODULE,LG290P03AANR01A03S,2024/04/30,10:53:07*32"
    #expect(said([line]).events == [.restarted])
    for content in [
      "PQTMEOE,1,162200.300,20260929,2438,231738300", "PQTM,OK", "PQTMX", "PQTMABCDEFGHIJKL,OK",
    ] {
      #expect(Stream.events(Stream.sentence(content)) == [.message], "\(content)")
    }
  }

  // Unicore's manual: GPGGA 1; 1, 0.5, 0.2 and 0.1 are 1, 2, 5 and 10 Hz.
  @Test("Unicore's commands are lines, with intervals in seconds")
  func unicore() {
    #expect(ReceiverSentences.line("VERSIONA") == Array("VERSIONA\r\n".utf8))
    for (milliseconds, text) in [
      (1_000, "1"), (500, "0.5"), (200, "0.2"), (100, "0.1"), (50, "0.050"), (2_000, "2"),
      (60_000, "60"), (1_500, "1.5"),
    ] {
      #expect(
        ReceiverSentences.unicoreHeading(milliseconds: milliseconds) == "UNIHEADINGA \(text)")
    }
    #expect(
      ReceiverSentences.unicoreSentences(hasRoom: true) == [
        "UNLOG", "GPRMC 1", "GPGGA 1", "GPGSA 1", "GPGST 1", "GPGSV 5",
      ])
    #expect(!ReceiverSentences.unicoreSentences(hasRoom: false).contains("GPGSV 5"))
    // Nothing is ever stored.
    let all =
      ReceiverSentences.unicoreSentences(hasRoom: true)
      + DynamicModel.allCases.compactMap { ReceiverSentences.unicore($0) }
      + ReceiverSentences.quectelRate(fixes: 2) + ReceiverSentences.quectelSentences
    #expect(!all.contains { $0.contains("SAVE") || $0.contains("RESET") })
    #expect(ReceiverSentences.unicore(.sea) == nil)
    #expect(ReceiverSentences.unicore(.airborne) == "MODE ROVER UAV")
  }

  @Test("Quectel's messages come with every so many fixes, the twentieth at most")
  func quectelRates() {
    #expect(
      ReceiverSentences.quectelRate(fixes: 2) == [
        "PQTMCFGMSGRATE,W,RMC,2", "PQTMCFGMSGRATE,W,GGA,2", "PQTMCFGMSGRATE,W,GSA,2",
        "PQTMCFGMSGRATE,W,PQTMEPE,2,2",
      ])
    #expect(ReceiverSentences.quectelHeading(fixes: 33) == "PQTMCFGMSGRATE,W,PQTMTAR,20,1")
  }

  // LC29H (EA): its messages come with every epoch or never.
  @Test("Airoha: GSV with every fifth epoch, but for one that cannot")
  func airoha() {
    #expect(ReceiverSentences.airohaSentences(isEveryEpoch: false).contains("PAIR062,3,5"))
    #expect(ReceiverSentences.airohaSentences(isEveryEpoch: true).contains("PAIR062,3,1"))
  }

  @Test("a start is told; what says nothing, or nonsense, is a message")
  func others() {
    #expect(Stream.events(Stream.sentence("PMTK010,001")) == [.restarted])
    for content in [
      "PMTK010,002", "PMTK011,MTKGPS", "PMTK001,220", "PMTK001,,3", "PMTK001,x,y", "PAIR001",
      "PQTMVERNO,2", "PQTMVERNO", "GPTXT,01,01,02", "GPTXT,01,01,02,SW=",
      "GNTXT,01,01,02,u-blox AG",
      "PMTK", "P", "PAIR",
    ] {
      #expect(Stream.events(Stream.sentence(content)) == [.message], "\(content)")
    }
  }

  @Test("u-blox's messages to set, ask and put to sleep, byte by byte")
  func ubx() {
    // As published by u-blox (UBX-13003221) and in many programs.
    #expect(
      UBXMessages.identityQuestion == [0xB5, 0x62, 0x0A, 0x04, 0x00, 0x00, 0x0E, 0x34])
    #expect(
      UBXMessages.sleep(namesWakeUp: false) == [
        0xB5, 0x62, 0x02, 0x41, 0x08, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0x4D, 0x3B,
      ])
    #expect(
      UBXMessages.legacyBaudRate(115_200) == [
        0xB5, 0x62, 0x06, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0xD0, 0x08, 0x00, 0x00, 0x00,
        0xC2, 0x01, 0x00, 0x07, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0xC0, 0x7E,
      ])
    // Framed by the tests' own encoder: CFG-NAV5 with the mask of its first field, dynModel 4 (UBX-13003221, 32.10.19).
    #expect(
      UBXMessages.legacyDynamicModel(.automotive)
        == Stream.message(0x06, 0x24, length: 36, [(0, 2, 1), (2, 1, 4)]))
    // RXM-PMREQ of 16 bytes: backup and force, woken by the serial port's input (UBX-19035940, 3.16.6).
    #expect(
      UBXMessages.sleep(namesWakeUp: true)
        == Stream.message(0x02, 0x41, length: 16, [(8, 4, 6), (12, 4, 8)]))
    // Keys of UBX-19035940, section 4.9, into RAM.
    for (message, key, size, value) in [
      (UBXMessages.dynamicModel(.sea), 0x2011_0021, 1, 5),
      (UBXMessages.dynamicModel(.portable), 0x2011_0021, 1, 0),
      (UBXMessages.dynamicModel(.airborne), 0x2011_0021, 1, 7),
      (UBXMessages.baudRate(115_200), 0x4052_0001, 4, 115_200),
      (UBXMessages.satellites(on: .uart1, every: 25), 0x2091_0016, 1, 25),
      (UBXMessages.satellites(on: .ddc, every: 5), 0x2091_0015, 1, 5),
    ] {
      #expect(
        message
          == Stream.message(
            0x06, 0x8A, length: 8 + size, [(1, 1, 1), (4, 4, key), (8, size, value)]))
    }
  }
}

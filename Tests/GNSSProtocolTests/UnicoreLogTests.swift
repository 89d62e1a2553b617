// Unicore's logs, against lines of real receivers, with their own CRC-32.

import GNSSProtocol
import SensorTypes
import Testing

struct UnicoreLogTests {
  // The N4 manual's example of UNIHEADINGA, and lines of UM982 that others have published.
  static let manual =
    "#UNIHEADINGA,97,GPS,FINE,2190,365174000,0,0,18,12;SOL_COMPUTED,NARROW_INT,1.0000,90.0000,10.0000,"
    + "0.0000,0.1000,0.2000,\"0\",20,16,18,12,0,00,0,0*5cdb44d1"
  static let fixed =
    "#UNIHEADINGA,78,GPS,FINE,2428,116060000,0,0,18,11;SOL_COMPUTED,NARROW_INT,1.4773,179.0284,-2.4202,"
    + "0.0000,0.8259,1.0921,\"999\",27,21,21,15,3,01,3,f3*5d424350"
  static let float =
    "#UNIHEADINGA,93,GPS,FINE,2385,326588000,0,0,18,10;SOL_COMPUTED,NARROW_FLOAT,5.5208,219.9783,24.6813,"
    + "0.0000,16.4390,35.3287,\"999\",21,9,9,5,3,00,3,13*53e4320d"
  // The N4 manual's example of VERSIONA, and the answer of a UM980.
  static let um982 =
    "#VERSIONA,79,GPS,FINE,2326,378237000,15434,0,18,889;\"UM982\",\"R4.10Build15434\",\"HRPT00-S10C-P\","
    + "\"2310415000012-LR23A2225208904\",\"ff2740966a10124c\",\"2024/08/08\"*769fd54f"
  static let um980 =
    "#VERSIONA,97,GPS,FINE,2343,48235000,0,0,18,813;\"UM980\",\"R4.10Build11833\",\"HRPT00-S10C-P\","
    + "\"2310415000001-MD22A2225022497\",\"ff3ba396dcb0478d\",\"2023/11/24\"*270a13f7"

  /// A log with its CRC-32, by the table of the polynomial.
  static func log(_ content: String) -> [UInt8] {
    let table = (0..<256).map { index -> UInt32 in
      (0..<8).reduce(UInt32(index)) { value, _ in
        value % 2 == 1 ? value / 2 ^ 0xEDB8_8320 : value / 2
      }
    }
    let crc = content.utf8.reduce(UInt32(0)) {
      $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)]
    }
    let digits = String(crc, radix: 16)
    return Array(
      "#\(content)*\(String(repeating: "0", count: 8 - digits.count))\(digits)\r\n".utf8)
  }

  private func line(_ text: String) -> [UInt8] { Array("\(text)\r\n".utf8) }

  @Test("the tests' own CRC is that of real lines")
  func check() throws {
    for text in [Self.manual, Self.fixed, Self.float, Self.um982, Self.um980] {
      let content = try #require(text.dropFirst().split(separator: "*").first)
      #expect(Self.log(String(content)) == line(text))
    }
  }

  @Test("a heading with its accuracy, where the solution is computed and its ambiguities are fixed")
  func headings() throws {
    let first = try #require(Stream.headings(line(Self.manual)).first)
    #expect(first.trueHeading == 90 && first.accuracy == 0.1)
    #expect(first.pitch == 10 && first.pitchAccuracy == 0.2)
    #expect(first.roll == nil && first.rollAccuracy == nil && first.magneticHeading == nil)
    let second = try #require(Stream.headings(line(Self.fixed)).first)
    #expect(second.trueHeading == 179.0284 && second.accuracy == 0.8259)
    #expect(second.pitch == -2.4202 && second.pitchAccuracy == 1.0921)
    #expect(Stream.events(line(Self.float)) == [.message])
  }

  private func body(
    _ status: String = "SOL_COMPUTED", _ type: String = "NARROW_INT", length: String = "1.0",
    heading: String = "123.5", name: String = "UNIHEADINGA", sigma: String = "0.3"
  ) -> [UInt8] {
    Self.log(
      "\(name),94,GPS,FINE,2439,550805900,0,0,18,7;\(status),\(type),\(length),\(heading),1.0000,0.0000,"
        + "\(sigma),0.6,\"\",18,17,17,17,0,00,0,0")
  }

  @Test("of all types of a solution three have integer ambiguities")
  func types() {
    for type in ["NARROW_INT", "WIDE_INT", "L1_INT"] {
      #expect(Stream.headings(body("SOL_COMPUTED", type)).count == 1, "\(type)")
    }
    // Table 0-4 of the manual, and what is near.
    for type in [
      "NONE", "FIXEDPOS", "FIXEDHEIGHT", "DOPPLER_VELOCITY", "SINGLE", "PSRDIFF", "SBAS",
      "L1_FLOAT",
      "IONOFREE_FLOAT", "NARROW_FLOAT", "INS", "INS_RTKFIXED", "PPP_CONVERGING", "PPP",
      "narrow_int",
      "NARROW_INT ", "", "50",
    ] {
      #expect(Stream.headings(body("SOL_COMPUTED", type)).isEmpty, "\(type)")
    }
    for status in ["INSUFFICIENT_OBS", "NO_CONVERGENCE", "COV_TRACE", "", "SOL_COMPUTED_NOT"] {
      #expect(Stream.headings(body(status)).isEmpty, "\(status)")
    }
  }

  @Test("absurd numbers give no heading, or none of themselves")
  func absurd() throws {
    for length in ["0.0000", "0.009", "-1.0", "", "501", "1e3", "99999999999999999999"] {
      #expect(Stream.headings(body(length: length)).isEmpty, "\(length)")
    }
    for heading in ["", "-0.1", "360.1", "nan", "1e2", "NARROW_INT"] {
      #expect(Stream.headings(body(heading: heading)).isEmpty, "\(heading)")
    }
    #expect(Stream.headings(body(heading: "360.0000")).first?.trueHeading == 0)
    for sigma in ["0.0000", "-1", "180", "", "x"] {
      let said = try #require(Stream.headings(body(sigma: sigma)).first)
      #expect(said.trueHeading == 123.5 && said.accuracy == nil, "\(sigma)")
    }
    for content in [
      "UNIHEADINGA,94;", "UNIHEADINGA,94", "UNIHEADINGA,;SOL_COMPUTED", "UNIHEADINGA,94;,,,,,,,",
      "UNIHEADINGA,94;SOL_COMPUTED,NARROW_INT,1.0", "VERSIONA,1;", "VERSIONA,1;\"\",\"\"",
      "VERSIONA,1;1,GPSCARD,\"DR\"", "VERSIONA,1;\"", "BESTNAVA,97,GPS;SOL_COMPUTED,SINGLE,1,2,3",
    ] {
      #expect(Stream.events(Self.log(content)) == [.message], "\(content)")
    }
  }

  @Test("two receivers' heading, and the one with NovAtel's header, are the same")
  func others() {
    for name in ["UNIHEADING2A", "HEADINGA"] {
      #expect(Stream.headings(body(name: name)).first?.trueHeading == 123.5)
    }
    #expect(Stream.headings(body(name: "UNIHEADINGB")).isEmpty)
  }

  @Test("a receiver's name and firmware")
  func version() {
    for (text, name, firmware) in [
      (Self.um982, "Unicore UM982", "R4.10Build15434"),
      (Self.um980, "Unicore UM980", "R4.10Build11833"),
    ] {
      var decoder = GNSSDecoder()
      #expect(Stream.events(line(text), by: &decoder) == [.identity])
      #expect(decoder.identity.family == .unicore)
      #expect(decoder.identity.summary == SensorIdentity(name: name, firmware: firmware))
    }
  }

  // UM980 and UM982, with their own sums, which hold the dollar.
  @Test(
    "what became of a command, by its first word in either case",
    arguments: [
      ("$command,unlog,response: OK*21", "UNLOG", AnswerStatus.accepted),
      ("$command,VERSIONA,response: OK*45", "VERSIONA", .accepted),
      ("$command,GPRMC 1,response: OK*04", "GPRMC", .accepted),
      (
        "$command,SATSXXXXB COM1 1,response: PARSING FAILD NO MATCHING FUNC  SATSXXXXB*01",
        "SATSXXXXB", .refused
      ),
      (
        "$command,umlog,response: PARSING FAILD NO MATCHING FUNC  UMLOG*60", "UMLOG", .refused
      ),
    ] as [(String, String, AnswerStatus)])
  func answers(text: String, name: String, verdict: AnswerStatus) throws {
    let command = try #require(ReceiverAnswer.number(of: name.utf8))
    #expect(
      Stream.events(line(text)) == [.answer(ReceiverAnswer(.unicore, command, verdict))])
  }

  @Test("the dollar may be in the sum of an answer, and in that of nothing else")
  func dollar() {
    func damaged(_ content: String) -> [UInt8] {
      let sum = content.utf8.reduce(UInt8(ascii: "$"), ^)
      let digits = String(sum, radix: 16, uppercase: true)
      return line("$\(content)*\(digits.count == 1 ? "0" : "")\(digits)")
    }
    #expect(Stream.events(damaged("command,GPGGA 1,response: OK")).count == 1)
    for content in [
      "GNHDT,1.5,T", "GPHPR,1,2", "comman,GPGGA 1,response: OK", "commander,1,response: OK",
    ] {
      #expect(Stream.events(damaged(content)).isEmpty, "\(content)")
    }
  }

  @Test("an answer to a command with commas; nonsense is a message")
  func oddAnswers() throws {
    let command = try #require(ReceiverAnswer.number(of: "rtcm1077".utf8))
    #expect(
      Stream.events(Stream.sentence("command,rtcm1077,com1,1,response: OK"))
        == [.answer(ReceiverAnswer(.unicore, command, .accepted))])
    for content in [
      "command,,response: OK", "command,GPGGA 1", "command", "command,GPGGA 1,answer: OK",
      "command,UNIHEADING2AX 1,response: OK", "command,GP_GGA,response: OK",
      "command,GPGGA,1,2,3,4,5,6,7,8,9,response: OK",
    ] {
      #expect(Stream.events(Stream.sentence(content)) == [.message], "\(content)")
    }
    for content in ["NOT OK", "", "OK?", "OK "] {
      let events = Stream.events(Stream.sentence("command,GPGGA 1,response: \(content)"))
      let number = try #require(ReceiverAnswer.number(of: "GPGGA".utf8))
      #expect(events == [.answer(ReceiverAnswer(.unicore, number, .refused))], "\(content)")
    }
  }

  @Test("names have numbers of their own, up to eleven letters and digits")
  func numbers() {
    let names = [
      "A", "Z", "0", "9", "AA", "A0", "0A", "GPGGA", "GPRMC", "UNIHEADINGA", "ZZZZZZZZZZZ",
      "99999999999", "CFGMSGRATE", "CFGFIXRATE",
    ]
    let numbers = names.compactMap { ReceiverAnswer.number(of: $0.utf8) }
    #expect(Set(numbers).count == names.count)
    #expect(numbers.allSatisfy { $0 > 0 && $0 < 1 << 58 })
    #expect(ReceiverAnswer.number(of: "gpgga".utf8) == ReceiverAnswer.number(of: "GPGGA".utf8))
    for name in ["", "ABCDEFGHIJKL", "A B", "A,", "Ä"] {
      #expect(ReceiverAnswer.number(of: name.utf8) == nil, "\(name)")
    }
  }
}

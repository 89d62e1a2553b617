// The twins of receivers whose commands have names: Unicore's and Quectel's.

import LinearAlgebra
import Testing

@testable import SimulatedDevices

@Suite("Receiver twins with named commands")
struct NamedCommandTests {
  private static let vector =
    "#UNIHEADINGA,78,GPS,FINE,2428,116060000,0,0,18,11;SOL_COMPUTED,NARROW_INT,1.4773,179.0284,-2.4202,"
    + "0.0000,0.8259,1.0921,\"999\",27,21,21,15,3,01,3,f3*5d424350"

  /// CRC-32 as a UM982 has written it, bit by bit.
  private static func crc(_ content: some StringProtocol) -> UInt32 {
    content.utf8.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) {
        $1 >= 0 && $0 & 1 == 1 ? $0 >> 1 ^ 0xEDB8_8320 : $0 >> 1
      }
    }
  }

  /// The lines in a stretch of bytes whose check is right: of logs and of answers, whose `$` is summed up as well, without it.
  private static func lines(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").compactMap { line in
      guard let star = line.lastIndex(of: "*") else { return nil }
      let (body, digits) = (line[..<star], line[line.index(after: star)...])
      let isRight =
        body.hasPrefix("#")
        ? digits.count == 8 && UInt32(digits, radix: 16) == crc(body.dropFirst())
        : digits.count == 2 && UInt8(digits, radix: 16) == body.utf8.reduce(0, ^)
      return isRight ? String(body) : nil
    }
  }

  private func answers(_ twin: inout ReceiverTwin, to line: String, at now: Double) -> [String] {
    twin.say(Array("\(line)\r\n".utf8), at: now)
    return Self.lines(twin.listen(from: now, to: now + 150))
  }

  @Test("the check of these tests is that of a real line")
  func check() {
    #expect(Self.lines(Array((Self.vector + "\r\n").utf8)).count == 1)
  }

  // Published captures of UM980 and UM982: the command as it was sent, 40 ms later.
  @Test("Unicore: silent until told, each command echoed with its result")
  func unicore() {
    var twin = ReceiverTwin.started(.unicore, .uart)
    #expect(twin.baudRate == 115_200)
    #expect(twin.listen(from: -5_000, to: 5_000).isEmpty)
    for (index, (line, result)) in [
      ("GPGLL 1", "OK"), ("UNLOG", "OK"), ("unlog", "OK"), ("GPRMC 0.2", "OK"), ("GPGGA 0.2", "OK"),
      ("GPGSA 1", "OK"), ("GPGSV 5", "OK"), ("UNIHEADINGA 0.5", "OK"),
      ("MODE ROVER AUTOMOTIVE", "OK"), ("MODE", "OK"),
      ("MODE ROVER BOAT", "PARSING FAILD NO MATCHING FUNC  MODE"),
      ("MODE BASE 1 2 3 4 5", "PARSING FAILD NO MATCHING FUNC  MODE"),
      ("GPRMC", "PARSING FAILD NO MATCHING FUNC  GPRMC"),
      ("GPRMC 0", "PARSING FAILD NO MATCHING FUNC  GPRMC"),
      ("GPRMC x", "PARSING FAILD NO MATCHING FUNC  GPRMC"),
      ("UMLOG", "PARSING FAILD NO MATCHING FUNC  UMLOG"),
    ].enumerated() {
      let heard = answers(&twin, to: line, at: Double(index) * 1_000 + 5_300)
      #expect(heard.contains("$command,\(line),response: \(result)"), "\(line): \(heard)")
    }
    for (index, line) in ["$PMTK605*31", "1", " ", "", String(repeating: "A", count: 200)]
      .enumerated()
    {
      let heard = answers(&twin, to: line, at: Double(index) * 1_000 + 22_300)
      #expect(!heard.contains { $0.hasPrefix("$command") }, "\(line)")
    }
    #expect(twin.configuration.dynamicModel == 3)
    // Both periods go into a tenth of a second.
    #expect(twin.configuration.epochPeriod == 100)
    _ = twin.listen(from: 28_000, to: 29_990)
    let bytes = twin.listen(from: 30_000, to: 32_000)
    let sentences = nmeaSentences(bytes)
    #expect((9...11).contains(sentences.filter { $0.hasPrefix("GNRMC") }.count))
    #expect((1...3).contains(sentences.filter { $0.hasPrefix("GNGSA") }.count))
    #expect(!sentences.contains { $0.hasPrefix("GNGLL") || $0.hasPrefix("GNGST") })
    let headings = Self.lines(bytes).filter { $0.hasPrefix("#UNIHEADINGA") }
    // Without a second antenna there is none.
    #expect((3...5).contains(headings.count))
    #expect(headings.allSatisfy { $0.contains(";INSUFFICIENT_OBS,NONE,0.0000,") })
    #expect(twin.configuration.baudRate == 115_200)
  }

  @Test("Unicore: who it is, behind the answer; after a power cut it is silent again")
  func version() {
    var twin = ReceiverTwin.started(.unicore, .uart)
    _ = twin.listen(from: 0, to: 500)
    let heard = answers(&twin, to: "VERSIONA", at: 500)
    #expect(heard.first == "$command,VERSIONA,response: OK")
    #expect(heard.count == 2 && heard[1].contains(";\"UM982\",\"R4.10Build15434\","))
    #expect(answers(&twin, to: "GPRMC 1", at: 1_000).count == 1)
    twin.powerOn(at: ms(2_000))
    #expect(twin.listen(from: 2_000, to: 8_000).isEmpty)
  }

  @Test("Unicore: the heading of the line between its antennas, as its manual's log has it")
  func heading() throws {
    var twin = ReceiverTwin(
      .unicore, link: .uart, source: ReceiverTwin.testWorld, antennas: 0.5, isExact: true)
    twin.powerOn(at: ms(-5_000))
    _ = answers(&twin, to: "UNIHEADINGA 1", at: 300)
    func heard(from: Double) throws -> [Substring] {
      let line = try #require(
        Self.lines(twin.listen(from: from, to: from + 1_000)).last {
          $0.hasPrefix("#UNIHEADINGA,")
        })
      return line.split(separator: ";")[1].split(separator: ",", omittingEmptySubsequences: false)
    }
    let fields = try heard(from: 1_000)
    // As many as the manual's, a meter apart, and one sigma.
    #expect(fields.count == Self.vector.split(separator: ";")[1].split(separator: ",").count)
    #expect(fields[0] == "SOL_COMPUTED" && fields[1] == "NARROW_INT" && fields[2] == "1.0000")
    let truth = ReceiverTwin.testWorld.truth(at: ms(2_000)).heading + 0.5 * 180 / Double.pi
    let said = try #require(Double(fields[3]))
    #expect(abs((said - truth).remainder(dividingBy: 360)) < 0.01, "\(said), \(truth)")
    #expect(fields[6] == "0.3000")
    twin.headingError = 1
    let wrong = try #require(Double(try heard(from: 3_000)[3]))
    #expect(abs((wrong - said).remainder(dividingBy: 360) - 180 / Double.pi) < 0.01)
  }

  // GNSS Protocol Specification of LG290P and LGx80P, V1.1, and captures of an LG290P.
  @Test("Quectel: rates of messages at once, an interval of fixes after a restart")
  func quectel() {
    var twin = ReceiverTwin.started(.quectel, .uart)
    #expect(twin.baudRate == 460_800)
    #expect(
      nmeaSentences(twin.listen(from: -5_000, to: -4_900)).first
        == "PQTMVER,1,MODULE,LG290P03AANR01A03S,2024/04/30,10:53:07")
    _ = twin.listen(from: -4_900, to: 400)
    // Ten fixes a second; GSA with every tenth.
    let own = nmeaSentences(twin.listen(from: 410, to: 1_400))
    for (address, count) in [
      ("GNGGA", 10), ("GNRMC", 10), ("GNGLL", 10), ("GNVTG", 10), ("GNGSA", 1),
    ] {
      let heard = own.filter { $0.hasPrefix(address) }.count
      #expect(abs(heard - count) <= 1, "\(address): \(heard)")
    }
    for (index, (body, expected)) in [
      ("PQTMVERNO", "PQTMVERNO,LG290P03AANR01A03S,2024/04/30,10:53:07"),
      ("PQTMCFGFIXRATE,R", "PQTMCFGFIXRATE,OK,100"), ("PQTMCFGFIXRATE,W,200", "PQTMCFGFIXRATE,OK"),
      ("PQTMCFGFIXRATE,R", "PQTMCFGFIXRATE,OK,200"),
      ("PQTMCFGFIXRATE,W,7", "PQTMCFGFIXRATE,ERROR,1"),
      ("PQTMCFGMSGRATE,W,GLL,0", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,VTG,0", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,RMC,5", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,GGA,5", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,GSV,20", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,GSV,21", "PQTMCFGMSGRATE,ERROR,1"),
      ("PQTMCFGMSGRATE,W,PQTMEPE,5", "PQTMCFGMSGRATE,ERROR,1"),
      ("PQTMCFGMSGRATE,W,PQTMEPE,5,2", "PQTMCFGMSGRATE,OK"),
      ("PQTMCFGMSGRATE,W,PQTMTAR,1,1", "PQTMCFGMSGRATE,ERROR,1"),
      ("PQTMCFGMSGRATE,R,RMC", "PQTMCFGMSGRATE,ERROR,1"),
      ("PQTMCFGNAVMODE,W,5", "PQTMCFGNAVMODE,ERROR,3"),
    ].enumerated() {
      let heard = twin.answers(to: body, at: Double(index) * 1_000 + 2_000)
      #expect(heard.contains(expected), "\(body): \(heard)")
    }
    #expect(twin.configuration.epochPeriod == 100)
    _ = twin.listen(from: 18_000, to: 19_990)
    let lines = nmeaSentences(twin.listen(from: 20_000, to: 21_990))
    for address in ["GNRMC", "GNGGA", "PQTMEPE"] {
      #expect((3...5).contains(lines.filter { $0.hasPrefix(address) }.count), "\(address)")
    }
    #expect(!lines.contains { $0.hasPrefix("GNGLL") || $0.hasPrefix("GNVTG") })
    twin.powerOn(at: ms(30_000))
    #expect(twin.configuration.epochPeriod == 100 && twin.pendingFixInterval == nil)
  }

  @Test("Quectel with two antennas is an LG580P, and gives their heading")
  func attitude() throws {
    var twin = ReceiverTwin(
      .quectel, link: .uart, source: ReceiverTwin.testWorld, antennas: -0.25, isExact: true)
    twin.powerOn(at: ms(-5_000))
    _ = twin.listen(from: -5_000, to: 400)
    #expect(twin.answers(to: "PQTMVERNO", at: 500).first?.hasPrefix("PQTMVERNO,LG580P03") ?? false)
    #expect(
      twin.answers(to: "PQTMCFGMSGRATE,W,PQTMTAR,1,1", at: 1_000).contains("PQTMCFGMSGRATE,OK"))
    let line = try #require(
      nmeaSentences(twin.listen(from: 2_000, to: 2_200)).last { $0.hasPrefix("PQTMTAR") })
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    #expect(fields.count == 13 && fields[3] == "4" && fields[4].isEmpty && fields[5] == "1.000")
    let truth = ReceiverTwin.testWorld.truth(at: ms(2_100)).heading - 0.25 * 180 / Double.pi
    let said = try #require(Double(fields[8]))
    #expect(abs((said - truth).remainder(dividingBy: 360)) < 0.01, "\(said), \(truth)")
  }
}

import SensorTypes
import Testing

@testable import GNSSProtocol

struct NTRIPMessageTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// What an answer says, whatever its pieces.
  private func events(_ bytes: [UInt8]) -> [NTRIPResponseReader.Event] {
    func read(_ count: Int) -> [NTRIPResponseReader.Event] {
      var reader = NTRIPResponseReader()
      var events: [NTRIPResponseReader.Event] = []
      for start in stride(from: 0, to: bytes.count, by: count) {
        for event in reader.take(Array(bytes[start..<min(start + count, bytes.count)])) {
          // Pieces of a body are one body.
          if case .body(let more) = event, case .body(let before)? = events.last {
            events[events.count - 1] = .body(before + more)
          } else {
            events.append(event)
          }
        }
      }
      return events
    }
    let whole = read(max(1, bytes.count))
    for count in [1, 2, 7] { #expect(read(count) == whole) }
    return whole
  }

  private func events(_ text: String, _ more: [UInt8] = []) -> [NTRIPResponseReader.Event] {
    events(Array(text.utf8) + more)
  }

  @Test("requests are those of versions 1 and 2, with the position in a header of version 2 alone")
  func requests() {
    var request = NTRIPRequest(
      host: "caster.example:2101", mountpoint: "ROOF", program: "Lodestone/1")
    // RFC 7617's own example.
    request.credentials = "Aladdin:open sesame"
    #expect(
      text(request.bytes(.one, position: "$GPGGA*56"))
        == "GET /ROOF HTTP/1.0\r\nUser-Agent: NTRIP Lodestone/1\r\nAccept: */*\r\n"
        + "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nConnection: close\r\n\r\n")
    #expect(
      text(request.bytes(.two, position: "$GPGGA*56"))
        == "GET /ROOF HTTP/1.1\r\nHost: caster.example:2101\r\nNtrip-Version: Ntrip/2.0\r\n"
        + "User-Agent: NTRIP Lodestone/1\r\nNtrip-GGA: $GPGGA*56\r\n"
        + "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nConnection: close\r\n\r\n")
    let table = NTRIPRequest(host: "[::1]:2101", mountpoint: nil, program: "Lodestone/1")
    #expect(text(table.bytes(.two)).hasPrefix("GET / HTTP/1.1\r\nHost: [::1]:2101\r\n"))
    #expect(!text(table.bytes(.two)).contains("Authorization"))
  }

  @Test("nothing in a request begins a line of its own")
  func injection() {
    let request = NTRIPRequest(
      host: "a\r\nX: 1", mountpoint: "M HTTP/1.0\r\n\r\nGET /", program: "L\n",
      credentials: "u:p\r\n")
    let lines = text(request.bytes(.two, position: "$\r\n")).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.count == 9 && lines.suffix(2) == ["", ""])
  }

  @Test("Base64 is RFC 4648's, by its own test vectors")
  func base64() {
    for (plain, coded) in [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ] {
      #expect(Base64.encoded(Array(plain.utf8)) == coded)
    }
    #expect(Base64.encoded([0xFB, 0xFF, 0xBF]) == "+/+/")
  }

  @Test("ICY 200 OK is version 1; what follows is data, behind an empty line, headers, or at once")
  func versionOne() {
    for head in [
      "ICY 200 OK\r\n", "ICY 200 OK\r\n\r\n", "ICY 200 OK\r\nServer: a\r\nDate: b\r\n\r\n",
      "ICY 200 OK\n",
    ] {
      #expect(
        events(head, RTCMVectors.station) == [.answer(.stream(.one)), .body(RTCMVectors.station)])
    }
  }

  @Test("HTTP 200 is version 2: plain, of a length, and in chunks with extensions and trailers")
  func versionTwo() {
    let frame = RTCMVectors.station
    #expect(
      events("HTTP/1.1 200 OK\r\nContent-Type: gnss/data\r\n\r\n", frame)
        == [.answer(.stream(.two)), .body(frame)])
    #expect(
      events("HTTP/1.0 200 OK\r\ncontent-length: 25\r\n\r\n", frame + [1, 2])
        == [.answer(.stream(.two)), .body(frame), .end])
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding:  Chunked\r\n\r\n"
    let chunks =
      Array("A;x=1\r\n".utf8) + frame[..<10] + Array("\r\n0f\r\n".utf8) + frame[10...]
      + Array("\r\n0\r\n\r\n".utf8)
    #expect(events(head, chunks) == [.answer(.stream(.two)), .body(frame), .end])
    for broken in [
      "zz\r\n", "\r\n", "-1\r\n", "FFFFFFFFFF\r\n", "1\r\nab\r\n",
      "1" + String(repeating: " ", count: 600),
    ] {
      #expect(events(head, Array(broken.utf8)).last == .broken)
    }
  }

  @Test("a source table in place of a stream, refusals, and what is no caster are told apart")
  func answers() {
    #expect(
      events("SOURCETABLE 200 OK\r\nContent-Length: 4\r\n\r\nSTR;")
        == [.answer(.sourceTable(.one)), .body(Array("STR;".utf8)), .end])
    #expect(
      events("HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\nS")
        == [.answer(.sourceTable(.two)), .body([83])])
    for status in [401, 403, 404, 503] {
      #expect(
        events("HTTP/1.1 \(status) For Reasons\r\nContent-Length: 0\r\n\r\n")
          == [.answer(.refused(status: status, words: "For Reasons"))])
    }
    #expect(
      events("ERROR - Bad Password\r\n")
        == [.answer(.refused(status: 401, words: "ERROR - Bad Password"))])
    #expect(
      events("ERROR - Mount Point Taken or Invalid\r\n")
        == [.answer(.refused(status: 404, words: "ERROR - Mount Point Taken or Invalid"))])
    #expect(
      events("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>")
        == [.answer(.foreign("a web page"))])
    #expect(events("SSH-2.0-OpenSSH_9.2\r\n") == [.answer(.foreign("'SSH-2.0-OpenSSH_9.2'"))])
    #expect(events("HTTP/1.1 banana\r\n\r\n") == [.answer(.foreign("'HTTP/1.1 banana'"))])
    #expect(events(RTCMVectors.station) == [.answer(.foreign("bytes that are no text"))])
  }

  @Test("a first line and a head without an end are given up")
  func endless() {
    let long = String(repeating: "a", count: 20_000)
    #expect(events(long) == [.answer(.foreign("a head without an end"))])
    #expect(events("HTTP/1.1 200 OK\r\nX: " + long) == [.answer(.foreign("a head without an end"))])
    let many = String(repeating: "X: y\r\n", count: 5_000)
    #expect(events("HTTP/1.1 200 OK\r\n" + many) == [.answer(.foreign("a head without an end"))])
    #expect(events("ICY 200 OK\r\n" + long).first == .answer(.stream(.one)))
  }

  @Test(
    "a source table's records are read, with quoted semicolons, longitudes up to 360 degrees, and empty fields"
  )
  func sourceTable() {
    var table = SourceTable()
    let text = """
      CAS;www.igs-ip.net;2101;IGS-IP;BKG;0;DEU;50.12;8.69;0.0.0.0;0;http://www.igs-ip.net/home\r
      NET;EUREF;EUREF;B;N;http://www.epncb.oma.be;http://www.epncb.oma.be/stations;mail@example;none\r
      STR;WTZR00DEU0;Bad Koetzting;RTCM 3.3;1006(10),1077(1);2;GPS+GLO+GAL;IGS;DEU;49.14;12.88;0;0;LEICA;none;B;N;9600;BKG\r
      STR;VRS;"Net; all";RTCM 3.2;;2;GPS;NETZ;AUT;;200.5;1;1;x;none;N;Y;0\r
      STR;SHORT\r
      XYZ;a;b\r
      STR;;nameless\r
      ENDSOURCETABLE\r
      STR;LATE;x
      """
    for byte in text.utf8 { table.take([byte]) }
    #expect(table.isWhole)
    #expect(table.streams.map(\.mountpoint) == ["WTZR00DEU0", "VRS", "SHORT"])
    #expect(table.skipped == 2)
    let first = table.streams[0]
    #expect(first.identifier == "Bad Koetzting" && first.format == "RTCM 3.3")
    #expect(first.formatDetails == "1006(10),1077(1)" && first.systems == "GPS+GLO+GAL")
    #expect(first.latitude == 49.14 && first.longitude == 12.88 && first.country == "DEU")
    #expect(
      !first.wantsPosition && !first.isNetwork && first.authentication == "B" && !first.hasFee)
    let second = table.streams[1]
    #expect(second.identifier == "Net; all" && second.latitude == nil && second.longitude == -159.5)
    #expect(second.wantsPosition && second.isNetwork && second.hasFee)
    #expect(
      table.casters == [
        SourceCaster(host: "www.igs-ip.net", port: 2_101, identifier: "IGS-IP", country: "DEU")
      ])
    #expect(
      table.networks == [
        SourceNetwork(identifier: "EUREF", owner: "EUREF", registration: "mail@example")
      ])
  }

  @Test("a hostile table is bounded and shows no control characters")
  func hostileTable() {
    var table = SourceTable()
    table.take("STR;A\u{1B}[31mB\u{202E}\u{7};x\u{0}y;NaN;\u{9B}\n".utf8)
    #expect(table.streams.first?.mountpoint == "A[31mB")
    #expect(table.streams.first?.identifier == "xy")
    table.take([UInt8](repeating: 65, count: 100_000) + [10])
    #expect(table.skipped == 1)
    table.take("STR;Q;\"\"\"".utf8)
    table.finish()
    #expect(table.streams.count == 2)
    for _ in 0..<(SourceTable.mostRecords + 10) { table.take("NET;a\n".utf8) }
    #expect(table.streams.count + table.networks.count == SourceTable.mostRecords)
  }

  @Test("the position for a caster is a GGA of what satellites have measured, and of nothing else")
  func position() {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .threeDimensional)
    #expect(PositionSentence.text(fix) == nil)
    (fix.latitude, fix.longitude, fix.timeOfDay) = (48.117_3, -11.516_666_666, 45_319)
    (fix.altitude, fix.ellipsoidalAltitude) = (545.4, 592.3)
    (fix.satellitesUsed, fix.hdop, fix.kind) = (8, 0.9, .differential)
    fix.corrections = FixCorrections(age: 3.2, station: 120)
    // Its check sum is Python's functools.reduce(operator.xor, ...) of the same characters.
    #expect(
      PositionSentence.text(fix)
        == "$GPGGA,123519.00,4807.03800,N,01131.00000,W,2,08,0.9,545.4,M,46.9,M,3.2,0120*54")
    fix.kind = .deadReckoning
    #expect(PositionSentence.text(fix) == nil)
    fix.kind = .rtkFixed
    fix.isValid = false
    #expect(PositionSentence.text(fix) == nil)
    fix.isValid = true
    (fix.latitude, fix.longitude, fix.altitude, fix.timeOfDay) = (
      -0.000_001, 179.999_999_99, -0.04, 86_400.5
    )
    (fix.hdop, fix.corrections, fix.satellitesUsed) = (nil, nil, 1_000)
    let text = PositionSentence.text(fix) ?? ""
    #expect(text.hasPrefix("$GPGGA,235959.99,0000.00006,S,18000.00000,E,4,99,,0.0,M,"))
  }
}

// The conversation with a client of gpsd: requests, answers, attacks, and a client that does not read.

import Foundation
import SensorTypes
import Testing

@testable import OutputProtocols

/// A client at the other end, with time as an argument.
private struct Client {
  var session = GPSDSession(GPSDRelease(revision: "lodestone 1"), at: GPSDBoard.at(0))
  var reports = GPSDBoard.reports()
  var state = PublishedState()

  init(greeted: Bool = true) { if greeted { _ = read() } }

  /// Reads all that waits.
  mutating func read(at seconds: Double = 0) -> String {
    var bytes: [UInt8] = []
    while !session.output.isEmpty {
      bytes += session.output
      session.didWrite(session.output.count, at: GPSDBoard.at(seconds))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func write(_ text: String, at seconds: Double = 0) {
    session.receive(Array(text.utf8), reports: reports, state: state, at: GPSDBoard.at(seconds))
  }

  /// The objects that a request is answered with.
  mutating func ask(_ text: String, at seconds: Double = 0) throws -> [[String: Any]] {
    write(text, at: seconds)
    return try objects(read(at: seconds))
  }

  func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\r\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  mutating func classes(_ text: String) throws -> [String] {
    try ask(text).compactMap { $0["class"] as? String }
  }

  static func report(_ kind: GPSDReportKind, _ text: String, of device: String = GPSDBoard.receiver)
    -> GPSDServerReport
  {
    GPSDServerReport(kind: kind, device: device, bytes: Array("\(text)\r\n".utf8))
  }
}

struct GPSDSessionTests {
  @Test("the server speaks first, with the version of gpsd 3.22's protocol")
  func greeting() throws {
    var client = Client(greeted: false)
    let greeting = try #require(try client.objects(client.read()).first)
    #expect(greeting["class"] as? String == "VERSION")
    #expect(greeting["release"] as? String == "3.22")
    #expect(greeting["rev"] as? String == "lodestone 1")
    #expect(greeting["proto_major"] as? Int == 3 && greeting["proto_minor"] as? Int == 14)
    let again = try client.ask("?VERSION;\n")
    #expect(NSDictionary(dictionary: again[0]) == NSDictionary(dictionary: greeting))
  }

  @Test(
    "each request is answered as by gpsd",
    arguments: [
      ("?VERSION;\n", ["VERSION"]), ("?DEVICES;\r\n", ["DEVICES"]),
      ("?WATCH;\n", ["DEVICES", "WATCH"]), ("?POLL;\n", ["POLL"]),
      ("?DEVICE;\n", ["DEVICE", "DEVICE"]),
      ("?WATCH={\"enable\":true,\"json\":true}\n", ["DEVICES", "WATCH"]),
      // libgps ends a request with a semicolon, others with nothing at all.
      ("?WATCH={\"enable\":true,\"json\":true};\r\n", ["DEVICES", "WATCH"]),
      ("?WATCH={\"class\":\"WATCH\",\"json\":true}", ["DEVICES", "WATCH"]),
      ("?VERSION;?DEVICES;\n\n?POLL;", ["VERSION", "DEVICES", "POLL"]),
      ("?DEVICE={\"path\":\"/dev/serial0\",\"bps\":115200}\n", ["DEVICE"]),
      ("?WATCH={\"json\":}\n", ["ERROR", "DEVICES", "WATCH"]),
      ("?WATCH={\"class\":\"POLL\"}\n", ["ERROR", "DEVICES", "WATCH"]),
      ("?WATCH=\n", ["ERROR", "DEVICES", "WATCH"]),
      ("?WATCH={\"device\":\"/dev/none\"}\n", ["ERROR"]),
      ("?DEVICE={\"path\":\"/dev/none\"}\n", ["ERROR"]), ("?DEVICE={}\n", ["ERROR"]),
      ("?DEVICE={\"path\"}\n", ["ERROR"]), ("?POLL\n", ["ERROR"]), ("?FOO;\n", ["ERROR"]),
      ("?POLL={}\n", ["ERROR"]), ("?\n", ["ERROR"]),
    ])
  func answers(request: String, classes: [String]) throws {
    var client = Client()
    #expect(try client.classes(request) == classes)
    // And a byte at a time, as a slow line brings it.
    var slow = Client()
    for byte in request.utf8 {
      slow.session.receive(
        CollectionOfOne(byte), reports: slow.reports, state: slow.state, at: GPSDBoard.at(0))
    }
    #expect(try slow.objects(slow.read()).compactMap { $0["class"] as? String } == classes)
  }

  @Test("what is not understood is said in gpsd's words, as printable ASCII")
  func errors() throws {
    var client = Client()
    #expect(
      try client.ask("?FOO;\n")[0]["message"] as? String == "Unrecognized request '?FOO;'")
    #expect(
      try client.ask("?\u{1B}\"\\\u{7F}x\n")[0]["message"] as? String
        == "Unrecognized request '??\"\\?x'")
    #expect(
      try client.ask("?WATCH={\"device\":\"/dev/none\"}")[0]["message"] as? String
        == "No such device as /dev/none")
    #expect(client.session.errors == 3)
  }

  @Test("a policy keeps what gpsd's keeps, and goes back to the defaults in the rest")
  func policy() throws {
    var client = Client()
    let first = try client.ask(
      "?WATCH={\"json\":true,\"nmea\":true,\"raw\":2,\"scaled\":true,\"split24\":true,\"pps\":true}\n"
    )[1]
    #expect(first["enable"] as? Bool == true && first["raw"] as? Int == 2)
    for key in ["json", "nmea", "scaled", "split24", "pps"] { #expect(first[key] as? Bool == true) }
    let second = try client.ask("?WATCH={\"device\":\"/dev/serial0\",\"raw\":9}\n")[1]
    #expect(second["json"] as? Bool == true && second["nmea"] as? Bool == true)
    #expect(second["raw"] as? Int == 2 && second["device"] as? String == "/dev/serial0")
    for key in ["scaled", "split24", "timing", "pps"] { #expect(second[key] as? Bool == false) }
    let third = try client.ask("?WATCH={\"enable\":false}\n")[1]
    #expect(third["enable"] as? Bool == false && third["device"] == nil)
    #expect(client.session.policy.isWatching == false)
  }

  @Test("a report goes to whom it is for")
  func routing() throws {
    let (tpv, att) = (
      Client.report(.position, "TPV"), Client.report(.attitude, "ATT", of: GPSDBoard.compass)
    )
    func told(_ watch: String) -> String {
      var client = Client()
      client.write(watch)
      _ = client.read()
      client.session.send(tpv, at: GPSDBoard.at(1))
      client.session.send(att, at: GPSDBoard.at(1))
      client.session.send(Client.report(.pulse, "PPS"), at: GPSDBoard.at(1))
      client.session.send(Client.report(.timeOffset, "TOFF"), at: GPSDBoard.at(1))
      client.session.send(Client.report(.device, "DEVICE"), at: GPSDBoard.at(1))
      client.session.send(
        nmea: Array("$GP\r\n".utf8), device: GPSDBoard.receiver, at: GPSDBoard.at(1))
      client.session.send(
        GPSDRawData(lines: [Array("b562\r\n".utf8)], verbatim: [[0x42]]),
        device: GPSDBoard.receiver, at: GPSDBoard.at(1))
      return client.read().replacingOccurrences(of: "\r\n", with: " ")
    }
    #expect(told("") == "")
    #expect(told("?WATCH={\"json\":true}") == "TPV ATT PPS DEVICE ")
    #expect(told("?WATCH={\"json\":true,\"pps\":true}") == "TPV ATT PPS TOFF DEVICE ")
    #expect(told("?WATCH={\"json\":true,\"device\":\"/dev/i2c-1:0x1e\"}") == "ATT ")
    #expect(told("?WATCH={\"nmea\":true}") == "$GP ")
    #expect(told("?WATCH={\"raw\":1}") == "b562 ")
    #expect(told("?WATCH={\"json\":true};?WATCH={\"enable\":false};") == "")
  }

  @Test("raw data at level 2 are the bytes themselves")
  func raw() {
    var client = Client()
    client.write("?WATCH={\"raw\":2}\n")
    _ = client.read()
    client.session.send(
      GPSDRawData(lines: [[0x31]], verbatim: [[0xB5, 0, 255]]), device: GPSDBoard.receiver,
      at: GPSDBoard.at(1))
    #expect(Array(client.session.output) == [0xB5, 0, 255])
  }

  @Test("where raw data may not be sent, WATCH says the level 0 and none comes")
  func withoutRaw() throws {
    var client = Client()
    client.session.passesRaw = false
    #expect(try client.ask("?WATCH={\"raw\":2}\n")[1]["raw"] as? Int == 0)
    client.session.passesRaw = true
    #expect(try client.ask("?WATCH={\"raw\":1}\n")[1]["raw"] as? Int == 1)
    client.session.send(
      GPSDRawData(lines: [[0x31], [0x32]], verbatim: [[0x42]]), device: GPSDBoard.receiver,
      at: GPSDBoard.at(1))
    // The machine's rules have changed: what waits is not sent either.
    client.session.passesRaw = false
    client.session.send(
      GPSDRawData(lines: [[0x31]], verbatim: [[0x42]]), device: GPSDBoard.receiver,
      at: GPSDBoard.at(1))
    #expect(client.session.output.isEmpty)
    #expect(try client.ask("?WATCH;\n")[1]["raw"] as? Int == 0)
  }

  @Test("a poll has the newest position and sky of a client that watches")
  func poll() throws {
    var client = Client()
    var fix = GNSSFix(received: GPSDBoard.at(0), mode: .twoDimensional)
    (fix.latitude, fix.longitude) = (1, 2)
    client.state.take(.location(LocationEstimate(fix: fix, isSimulated: false)))
    let idle = try client.ask("?POLL;\n")[0]
    #expect(idle["active"] as? Int == 0 && (idle["tpv"] as? [Any])?.isEmpty == true)
    client.write("?WATCH={\"enable\":true}\n")
    _ = client.read()
    let poll = try client.ask("?POLL;\n", at: 1)[0]
    #expect(poll["active"] as? Int == 1 && poll["time"] as? String == "2019-04-22T21:19:28.000Z")
    let tpv = try #require((poll["tpv"] as? [[String: Any]])?.first)
    #expect(tpv["class"] as? String == "TPV" && tpv["lat"] as? Double == 1)
    #expect((poll["sky"] as? [[String: Any]])?.first?["class"] as? String == "SKY")
    #expect((poll["gst"] as? [Any])?.isEmpty == true)
    // The board hangs.
    let late = try client.ask("?POLL;\n", at: 60)[0]
    #expect((late["tpv"] as? [[String: Any]])?.first?["mode"] as? Int == 1)
  }
}

/// Clients that mean no good, or are broken.
struct GPSDAttackTests {
  @Test("a browser that was led here is not answered")
  func browser() {
    var client = Client()
    client.write("POST / HTTP/1.1\r\nHost: localhost:2947\r\nX: ?POLL;\r\n\r\n")
    #expect(client.read() == "" && client.session.badLines == 3)
    client.write("?VERSION;\n")
    #expect(client.read().hasPrefix("{\"class\":\"VERSION\""))
  }

  @Test("a request without an end is given up after 1,024 bytes, and the next one is heard")
  func endless() throws {
    for beginning in ["?", "?WATCH={\"device\":\"", "?WATCH={", "?POLLX"] {
      var client = Client()
      for _ in 0..<100 { client.write(String(repeating: "[", count: 1_000)) }
      client.write("\n\(beginning)")
      for _ in 0..<100 { client.write(String(repeating: "{", count: 1_000)) }
      #expect(client.session.room >= 3_000)
      #expect(try client.objects(client.read()).count == 1)
      client.write("\n")
      #expect(try client.classes("?VERSION;\n") == ["VERSION"])
    }
  }

  @Test("a request that is too long is none, whether it comes at once or in pieces")
  func longRequest() throws {
    let request = "?WATCH={\"enable\":true,\"a\":\"\(String(repeating: "x", count: 1_500))\"}\n"
    var (whole, pieces) = (Client(), Client())
    #expect(try whole.classes(request) == ["ERROR"] && !whole.session.policy.isWatching)
    for letter in request { pieces.write(String(letter)) }
    #expect(try pieces.objects(pieces.read()).count == 1 && !pieces.session.policy.isWatching)
  }

  @Test("deep nesting, wrong types and broken text are errors and nothing else")
  func nonsense() throws {
    let nested = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    for text in [
      "?WATCH={\"a\":\(nested)}", "?WATCH={\"json\":true", "?WATCH={{}}", "?WATCH={\"raw\":01}",
      "?WATCH={\"json\":tru}", "?WATCH={\"\\u12\":1}", "?WATCH=[]", "?WATCH=}", "?WATCH=true",
    ] {
      var client = Client()
      let classes = try client.classes(text + "\n")
      #expect(classes.prefix(3) == ["ERROR", "DEVICES", "WATCH"], "\(text)")
      #expect(client.session.policy == GPSDPolicy(), "\(text)")
    }
    var client = Client()
    let watch = try client.ask(
      "?WATCH={\"json\":1,\"nmea\":\"true\",\"raw\":-5,\"x\":[{}],\"device\":7}\n")
    #expect(watch[1]["json"] as? Bool == true && watch[1]["nmea"] as? Bool == false)
    #expect(watch[1]["raw"] as? Int == 0 && watch[1]["device"] == nil)
  }

  @Test("every byte, and no byte pattern, brings it down")
  func noise() throws {
    var seed: UInt64 = 38
    for _ in 0..<300 {
      var client = Client()
      let bytes = (0..<200).map { _ -> UInt8 in
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let pick = UInt8(truncatingIfNeeded: seed >> 56)
        let likely = Array("?WATCH={}\";\n\\".utf8)
        return pick < 128 ? likely[Int(pick) % likely.count] : pick
      }
      client.session.receive(
        bytes, reports: client.reports, state: client.state, at: GPSDBoard.at(0))
      _ = try client.objects(client.read())
    }
  }

  @Test("a client that asks and does not read is not heard any more, until it reads")
  func flood() throws {
    var client = Client()
    var asked = 0
    for _ in 0..<1_000 where client.session.room >= 10 {
      client.write("?DEVICES;\n")
      asked += 1
    }
    #expect(asked < 1_000 && client.session.room < 10 && !client.session.hasRequests)
    var answers = 0
    while true {
      let text = client.read()
      answers += try client.objects(text).count
      #expect(text.utf8.count < 40_000)
      guard client.session.hasRequests else { break }
      client.write("")
    }
    #expect(answers == asked && client.session.room > 4_000)
  }

  @Test("a client that does not read has the newest report of each kind, and none cut in two")
  func slow() throws {
    var client = Client()
    client.write("?WATCH={\"json\":true,\"nmea\":true}\n")
    _ = client.read()
    for second in 0..<1_000 {
      client.session.send(Client.report(.position, "TPV\(second)"), at: GPSDBoard.at(1))
      client.session.send(
        Client.report(.attitude, "ATT\(second)", of: GPSDBoard.compass), at: GPSDBoard.at(1))
      // The socket takes three bytes of the first report.
      if second == 0 { client.session.didWrite(3, at: GPSDBoard.at(1)) }
    }
    #expect(client.session.leftOut.reports == 998 + 999)
    #expect(client.read(at: 2) == "0\r\nTPV999\r\nATT999\r\n")
    for number in 0..<1_000 {
      client.session.send(
        nmea: Array("$\(number)\r\n".utf8), device: GPSDBoard.receiver, at: GPSDBoard.at(3))
      client.session.send(Client.report(.inertial, "IMU\(number)"), at: GPSDBoard.at(3))
    }
    let rest = client.read(at: 4)
    #expect(rest.utf8.count < 20_000 && rest.hasSuffix("$999\r\nIMU999\r\n"))
    #expect(rest.split(separator: "\r\n").count { $0.hasPrefix("IMU") } == 64)
    let sentences = rest.split(separator: "\r\n").count { $0.hasPrefix("$") }
    #expect(Int(client.session.leftOut.pieces) == 1_000 - sentences)
  }

  @Test(
    "a client that reads nothing for three minutes, or asks nothing for a quarter of an hour, is let go"
  )
  func deadlines() {
    var client = Client()
    #expect(client.session.deadline == GPSDBoard.at(900))
    client.write("?WATCH={\"json\":true}\n", at: 100)
    #expect(client.session.deadline == GPSDBoard.at(280))
    _ = client.read(at: 110)
    #expect(client.session.deadline == .distantFuture)
    client.session.send(Client.report(.position, "TPV"), at: GPSDBoard.at(1_000))
    client.session.send(Client.report(.position, "TPV"), at: GPSDBoard.at(1_100))
    #expect(client.session.deadline == GPSDBoard.at(1_180))
  }
}

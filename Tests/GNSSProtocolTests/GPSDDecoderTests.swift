import Foundation
import SensorTypes
import Testing

@testable import GNSSProtocol

struct GPSDDecoderTests {
  static func sample(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GPSD")
    return Array(try Data(contentsOf: folder.appending(path: name + ".json")))
  }

  /// The lines of a sample, a millisecond apart within an epoch.
  private func fixes(of name: String) throws -> GPSDListener {
    var listener = GPSDListener()
    for (index, line) in try Self.sample(name).split(separator: 10).enumerated() {
      listener.hear(Array(line) + [10], at: Double(index) * 0.001)
    }
    listener.finish()
    return listener
  }

  @Test(
    "one fix an epoch, the last that gpsd says of it, to the last digit",
    arguments: ["ublox-neo-m8p", "bt451", "skytraq-dgps"])
  func samples(name: String) throws {
    let listener = try fixes(of: name)
    // The oracle is another reader of JSON.
    var last: [String: [String: Any]] = [:]
    var order: [String] = []
    for line in try Self.sample(name).split(separator: 10) {
      let object = try JSONSerialization.jsonObject(with: Data(line))
      let report = try #require(object as? [String: Any])
      guard report["class"] as? String == "TPV", let time = report["time"] as? String else {
        continue
      }
      if last[time] == nil { order.append(time) }
      last[time] = report
    }
    let timed = listener.fixes.filter { $0.utc != nil }
    let expected = order.compactMap { last[$0] }.filter { ($0["mode"] as? Int ?? 0) > 1 }
    try #require(timed.count == expected.count && timed.count >= 8)
    let parser = ISO8601DateFormatter()
    parser.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    for (fix, report) in zip(timed, expected) {
      func number(_ key: String) -> Double? { report[key] as? Double }
      #expect(fix.latitude == number("lat") && fix.longitude == number("lon"))
      #expect(fix.altitude == number("altMSL") && fix.ellipsoidalAltitude == number("altHAE"))
      #expect(fix.speed == number("speed") && fix.course == number("track"))
      #expect(fix.verticalSpeed == number("climb"))
      #expect(Int(fix.mode.rawValue) == report["mode"] as? Int)
      let time = try #require(parser.date(from: report["time"] as? String ?? ""))
      #expect(abs((fix.utc ?? 0) - time.timeIntervalSince1970) < 1e-3)
      #expect(fix.satellitesUsed ?? 0 > 3 && fix.hdop ?? 0 > 0)
    }
    #expect(listener.decoder.counters.damaged == 0 && listener.decoder.counters.foreign == 0)
  }

  @Test("a u-blox receiver's accuracies are its own, as it says them")
  func ownAccuracy() throws {
    for fix in try fixes(of: "ublox-neo-m8p").fixes.dropFirst() {
      #expect(fix.accuracySource == .receiver)
      #expect((2.5...2.53).contains(fix.horizontalAccuracy ?? 0))
      #expect((4.88...4.91).contains(fix.verticalAccuracy ?? 0))
      // 99.6 m/s: (12.45 + 12.45) / 0.25, gpsd's own make.
      #expect(fix.speedAccuracy == nil)
    }
  }

  @Test("what gpsd makes of dilution is no accuracy: the dilution is passed on")
  func dilution() throws {
    let found = try fixes(of: "bt451").fixes.filter { $0.mode == .threeDimensional }
    try #require(found.count >= 8)
    for fix in found {
      #expect(fix.horizontalAccuracy == nil && fix.verticalAccuracy == nil)
      #expect(fix.speedAccuracy == nil && fix.hdop != nil)
    }
  }

  @Test("standard deviations of GST go first")
  func noise() throws {
    let found = try fixes(of: "skytraq-dgps").fixes.filter { $0.utc != nil }.dropFirst()
    try #require(found.count >= 8)
    let said = try Self.sample("skytraq-dgps").split(separator: 10).compactMap {
      line -> [String: Any]? in
      let report = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      return report?["class"] as? String == "GST" ? report : nil
    }
    for fix in found {
      #expect(fix.accuracySource == .receiver)
      #expect(
        said.contains { report in
          let (north, east) = (report["lat"] as? Double ?? 0, report["lon"] as? Double ?? 0)
          let radius = 1.51 * ((north * north + east * east) / 2).squareRoot()
          return abs((fix.horizontalAccuracy ?? 0) - radius) < 1e-9
            && fix.verticalAccuracy == report["alt"] as? Double
        })
    }
  }

  @Test(
    "estimates of every origin",
    arguments: [
      // hdop 0.8 * 19 m, vdop 1.2 * 23 m; a quarter with DGPS, not without.
      ("\"eph\":15.2,\"epv\":27.6", nil, nil), ("\"status\":2,\"eph\":3.8,\"epv\":6.9", nil, nil),
      ("\"eph\":3.8,\"epv\":6.9", 3.8, 6.9), ("\"eph\":2.5,\"epv\":27.6", 2.5, 27.6 * 12 / 23),
      ("\"eph\":15.3", 15.3, nil), ("\"eph\":-1,\"epv\":0", nil, nil), ("\"epv\":4", nil, nil),
      // Before 3.20: xdop 0.5 and ydop 0.6 * 15 m, and a receiver's two axes.
      ("\"epx\":7.5,\"epy\":9.0", nil, nil), ("\"epx\":3,\"epy\":3", 1.51 * 3, nil),
    ] as [(String, Double?, Double?)])
  func estimates(keys: String, horizontal: Double?, vertical: Double?) throws {
    var listener = GPSDListener()
    listener.hear(
      "{\"class\":\"SKY\",\"hdop\":0.80,\"vdop\":1.20,\"xdop\":0.5,\"ydop\":0.6,\"uSat\":9}", at: 0)
    listener.hear(tpv: "42.000", more: "," + keys, at: 0)
    listener.finish()
    let fix = try #require(listener.fixes.first)
    #expect(abs((fix.horizontalAccuracy ?? -1) - (horizontal ?? -1)) < 1e-9)
    #expect(abs((fix.verticalAccuracy ?? -1) - (vertical ?? -1)) < 1e-9)
  }

  @Test("heights of old and new gpsd")
  func heights() throws {
    func fix(_ keys: String, mode: Int = 3) throws -> GNSSFix {
      var listener = GPSDListener()
      listener.hear("{\"class\":\"TPV\",\"mode\":\(mode),\"lat\":1,\"lon\":2,\(keys)}", at: 0)
      listener.finish()
      return try #require(listener.fixes.first)
    }
    let old = try fix("\"alt\":500.5")
    #expect(old.altitude == 500.5 && old.ellipsoidalAltitude == nil)
    let both = try fix("\"altHAE\":546.5,\"altMSL\":500.5,\"alt\":500.5")
    #expect(both.altitude == 500.5 && both.ellipsoidalAltitude == 546.5)
    let ellipsoid = try fix("\"altHAE\":546.5,\"alt\":546.5")
    #expect(ellipsoid.altitude == nil && ellipsoid.ellipsoidalAltitude == 546.5)
    #expect(try fix("\"altHAE\":546.5,\"geoidSep\":46").altitude == 500.5)
    #expect(try fix("\"altMSL\":500.5,\"geoidSep\":46").ellipsoidalAltitude == 546.5)
    #expect(try fix("\"altMSL\":500.5", mode: 2).altitude == nil)
  }

  @Test(
    "times, leap seconds, and times that are none",
    arguments: [
      ("2016-12-31T23:59:59.500Z", 1_483_228_799.5), ("2016-12-31T23:59:60.500Z", 1_483_228_800.5),
      ("2017-01-01T00:00:00Z", 1_483_228_800),
      ("2024-02-29T12:00:00.123456789Z", 1_709_208_000.123456789),
      ("2017-01-01T00:00:61Z", nil), ("2017-13-01T00:00:00Z", nil), ("2017-01-01T24:00:00Z", nil),
      ("2017-01-01 00:00:00", nil), ("", nil), ("2017-01-01T00:00:00.Zxxxxxxxxxxxxxxxxxx", nil),
    ] as [(String, Double?)])
  func times(text: String, utc: Double?) throws {
    var listener = GPSDListener()
    listener.hear(
      "{\"class\":\"TPV\",\"mode\":2,\"time\":\"\(text)\",\"lat\":1,\"lon\":2}", at: 0)
    listener.finish()
    let fix = try #require(listener.fixes.first)
    #expect(fix.latitude == 1 && fix.utc == utc)
  }

  @Test("greeting, devices, errors")
  func talk() {
    var listener = GPSDListener()
    listener.hear(
      "{\"class\":\"VERSION\",\"release\":\"3.22\",\"rev\":\"3.22\",\"proto_major\":3,\"proto_minor\":14}",
      at: 0)
    listener.hear(
      "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":"
        + "\"2026-11-22T07:14:42Z\"},{\"class\":\"DEVICE\",\"path\":\"/dev/b\"}]}", at: 0)
    listener.hear("{\"class\":\"WATCH\",\"enable\":true,\"json\":true}", at: 0)
    listener.hear(
      "{\"class\":\"ERROR\",\"message\":\"Unrecognized request \\\"\u{1B}[2J\\\"\"}", at: 0)
    listener.hear("{\"class\":\"ERROR\",\"message\":\"Unrecognized request 'X'\"}", at: 0)
    listener.hear("{\"class\":\"NEWTHING\",\"x\":{\"class\":\"TPV\",\"mode\":3}}", at: 0)
    #expect(
      listener.events == [
        .version(release: "3.22", major: 3, minor: 14), .devices(count: 2, active: 1),
        .watch(isEnabled: true), .error("Unrecognized request 'X'"), .message,
      ])
    #expect(listener.decoder.counters.damaged == 1 && listener.fixes.isEmpty)
  }

  @Test("bytes in any pieces give the same epochs")
  func pieces() throws {
    let bytes = try Self.sample("bt451")
    func fixes(_ size: Int) -> [GNSSFix] {
      var listener = GPSDListener()
      for start in stride(from: 0, to: bytes.count, by: size) {
        listener.hear(Array(bytes[start..<min(bytes.count, start + size)]), at: 1)
      }
      listener.finish()
      return listener.fixes
    }
    let whole = fixes(1)
    #expect(whole.count > 12)
    for size in [2, 3, 7, 64, 1_000, 4_095, 4_096] { #expect(fixes(size) == whole, "\(size)") }
  }

  @Test(
    "a stream cut anywhere, or with every hundredth byte flipped, never traps and never invents")
  func damage() throws {
    let bytes = try Self.sample("ublox-neo-m8p")
    for cut in stride(from: 0, to: bytes.count, by: 37) {
      var listener = GPSDListener()
      listener.hear(Array(bytes[cut...]), at: 0)
      listener.hear(Array(bytes[..<cut]), at: 1)
      listener.finish()
      #expect(listener.decoder.counters.damaged <= 2)
      #expect(listener.fixes.allSatisfy { abs(($0.latitude ?? 50) - 50.135) < 0.001 })
    }
    var state: UInt64 = 7
    func random() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    for _ in 0..<60 {
      var noisy = bytes
      for index in noisy.indices where random() % 100 == 0 {
        noisy[index] ^= UInt8(1 << (random() % 8))
      }
      var listener = GPSDListener()
      listener.hear(noisy, at: 0)
      listener.finish()
      #expect(listener.decoder.counters.damaged > 0)
      for fix in listener.fixes {
        let isSound =
          abs(fix.latitude ?? 0) <= 90 && abs(fix.longitude ?? 0) <= 180
          && (0..<360).contains(fix.course ?? 0) && (fix.utc ?? 0).isFinite
        if !isSound { Issue.record("cannot be: \(fix)") }
      }
    }
  }

  @Test("a line without an end is skipped and counted, and costs no more memory")
  func endless() {
    var listener = GPSDListener()
    let noise = [UInt8](repeating: UInt8(ascii: "{"), count: 1_024)
    for _ in 0..<2_000 { listener.hear(noise, at: 0) }
    #expect(listener.decoder.counters.tooLong == 1)
    listener.hear("", at: 1)
    listener.hear(tpv: "42.000", at: 1)
    listener.look(at: 2)
    #expect(listener.fixes.count == 1)
    listener.hear([UInt8](repeating: 0x7B, count: 40_000) + [10], at: 3)
    listener.hear(tpv: "43.000", at: 3)
    listener.hear(tpv: "44.000", at: 4)
    listener.finish()
    #expect(listener.decoder.counters.tooLong == 2)
    #expect(listener.fixes.count >= 2)
  }
}

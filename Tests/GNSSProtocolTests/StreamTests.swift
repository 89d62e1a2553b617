import Foundation
import GNSSProtocol
import SensorTypes
import Testing

/// No byte stream breaks it: logs of real receivers where they are, and always a stream made here.
struct StreamTests {
  struct Place: Hashable {
    var latitude: Double?
    var longitude: Double?

    init(_ fix: GNSSFix) { (latitude, longitude) = (fix.latitude, fix.longitude) }
  }

  /// Minutes of a receiver that sends everything at once.
  static let made: [UInt8] = (0..<120).flatMap { second -> [UInt8] in
    let time = "0\(second / 60)" + String(100 + second % 60).dropFirst()
    let minutes = "\(2 + second % 7).\(1_000 + second * 37)"
    return Stream.sentence("GNRMC,12\(time),A,480\(minutes),N,0113\(minutes),E,1.5,90,221126,,")
      + Stream.sentence(
        "GNGGA,12\(time),480\(minutes),N,0113\(minutes),E,1,08,0.9,545.4,M,46.9,M,,")
      + Stream.sentence("GNGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2,1")
      + Stream.sentence("GPGSV,1,1,02,07,71,123,45,30,20,360,30,1")
      + (second % 3 == 0 ? PacketLexerTests.rtcm : [])
      + (second > 60 ? Stream.pvt(second: second, north: second) : [])
  }

  static let streams: [(name: String, bytes: [UInt8])] =
    [("made", made)]
    + Stream.logs.compactMap { file in
      (try? Data(contentsOf: file)).map { (file.lastPathComponent, [UInt8]($0)) }
    }

  /// Every place that a message of a stream says, each message read by itself: found here, by their frames alone.
  private static func places(_ bytes: [UInt8]) -> Set<Place> {
    var places = Set(Stream.fixes(bytes, chunk: 4_096).map(Place.init))
    func add(_ message: ArraySlice<UInt8>) {
      places.formUnion(Stream.fixes(Array(message), chunk: 4_096).map(Place.init))
    }
    for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      if let dollar = line.lastIndex(of: UInt8(ascii: "$")) { add(line[dollar...]) }
    }
    for at in bytes.indices.dropLast(7) where bytes[at] == 0xB5 && bytes[at + 1] == 0x62 {
      let end = at + 8 + Int(bytes[at + 4]) + Int(bytes[at + 5]) << 8
      if end <= bytes.count { add(bytes[at..<end]) }
    }
    return places
  }

  @Test("the same comes out however the bytes are cut into pieces")
  func chunks() {
    for (name, bytes) in Self.streams {
      let whole = Stream.events(bytes, chunk: 4_096)
      for chunk in [1, 7, 61, 1_000] {
        #expect(Stream.events(bytes, chunk: chunk) == whole, "\(name) in pieces of \(chunk)")
      }
    }
  }

  // What an end or a beginning in the midst leaves is less, never else: every place is one of the whole log's.
  @Test("a stream that is cut anywhere gives the places of the whole one, or fewer")
  func cuts() {
    var dice = Dice(seed: 41)
    for (name, bytes) in Self.streams where bytes.count > 40 {
      let places = Self.places(bytes)
      for _ in 0..<12 {
        let cut = dice.next(bytes.count)
        for half in [Array(bytes[..<cut]), Array(bytes[cut...])] {
          let fixes = Stream.fixes(half, chunk: 1 + dice.next(300))
          for fix in fixes where fix.latitude != nil {
            #expect(places.contains(Place(fix)), "\(name) cut at \(cut)")
          }
        }
      }
    }
  }

  // One wrong byte in a hundred, no two within a sentence's length: no check sum lets a single one through.
  @Test("one byte in a hundred wrong gives the places of the whole stream, or fewer")
  func flips() {
    var dice = Dice(seed: 42)
    var (given, kept) = (0, 0)
    for (name, bytes) in Self.streams {
      // A receiver without check sums has nothing to tell a wrong byte by.
      guard !Self.hasUncheckedSentences(bytes) else { continue }
      let whole = Stream.fixes(bytes, chunk: 4_096)
      let places = Self.places(bytes)
      var damaged = bytes
      var at = dice.next(200)
      while at < damaged.count {
        damaged[at] ^= UInt8(1 + dice.next(255))
        at += 100 + dice.next(100)
      }
      let fixes = Stream.fixes(damaged, chunk: 1 + dice.next(300)).filter { $0.latitude != nil }
      given += whole.count
      kept += fixes.count
      for fix in fixes where !places.contains(Place(fix)) {
        Issue.record(
          "\(name): \(fix.latitude ?? 0), \(fix.longitude ?? 0) is no place of the stream")
      }
    }
    print("one byte in 150 wrong: \(kept) of \(given) epochs left")
    #expect(kept > given / 10)
  }

  @Test("streams one behind the other, in any order, give each one's places")
  func order() {
    var dice = Dice(seed: 43)
    let places = Self.streams.reduce(into: Set<Place>()) { $0.formUnion(Self.places($1.bytes)) }
    for _ in 0..<3 {
      let all = Self.streams.map(\.bytes).shuffled(using: &dice).flatMap { $0 }
      for fix in Stream.fixes(all, chunk: 4_096) where fix.latitude != nil {
        #expect(places.contains(Place(fix)))
      }
    }
  }

  @Test(
    "a hundred times the stream is a hundred times its packets: none is lost where one ends and the next begins"
  )
  func repeated() {
    func packets(_ times: Int) -> UInt64 {
      var decoder = GNSSDecoder()
      for _ in 0..<times {
        for start in stride(from: 0, to: Self.made.count, by: 1_024) {
          Self.made[start..<min(Self.made.count, start + 1_024)].withUnsafeBytes {
            decoder.append($0, at: Timestamp(nanoseconds: 0))
          }
          while decoder.next() != nil {}
        }
      }
      #expect(decoder.counters.overflow == 0)
      return decoder.counters.packets
    }
    #expect(packets(1) > 500)
    #expect(packets(100) == 100 * packets(1))
  }

  private static func hasUncheckedSentences(_ bytes: [UInt8]) -> Bool {
    bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }).contains { line in
      line.starts(with: Array("$GP".utf8)) && !line.contains(UInt8(ascii: "*"))
        && line.allSatisfy { (32..<127).contains($0) }
    }
  }
}

/// A seeded generator (xorshift).
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  mutating func next(_ count: Int) -> Int { Int(next() >> 33) % max(1, count) }
}

import CTestSupport
import Foundation
import GNSSProtocol
import SensorTypes
import SharedData
import Testing

/// No byte stream breaks it: logs of real receivers where they are, and always a stream made here.
struct StreamTests {
  /// What a stream says: places, each at its time. A place under another's time is a wrong one.
  private struct Said {
    private struct Place: Hashable {
      var time: Double?
      var latitude: Double?
      var longitude: Double?
    }

    private var places: Set<Place> = []
    /// Of each hundredth of a second of the day.
    private var moments: [Int: [Place]] = [:]

    /// Every place of the stream, and of each message read by itself: found here, by their frames alone.
    init(_ bytes: [UInt8]) {
      for fix in Stream.fixes(bytes, chunk: 4_096) { insert(fix) }
      func add(_ message: ArraySlice<UInt8>) {
        for fix in Stream.fixes(Array(message), chunk: 4_096) { insert(fix) }
      }
      for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
        if let dollar = line.lastIndex(of: UInt8(ascii: "$")) { add(line[dollar...]) }
      }
      for at in bytes.indices.dropLast(7) where bytes[at] == 0xB5 && bytes[at + 1] == 0x62 {
        let end = at + 8 + Int(bytes[at + 4]) + Int(bytes[at + 5]) << 8
        if end <= bytes.count { add(bytes[at..<end]) }
      }
    }

    private mutating func insert(_ fix: GNSSFix) {
      let place = Place(time: fix.timeOfDay, latitude: fix.latitude, longitude: fix.longitude)
      guard places.insert(place).inserted, let time = place.time else { return }
      moments[Int(time * 100), default: []].append(place)
    }

    mutating func formUnion(_ other: Said) {
      places.formUnion(other.places)
      moments.merge(other.moments) { $0 + $1 }
    }

    /// Whether it says what a fix of a part of it is: the same, or the same moment in other words, for u-blox receivers
    /// have several for a place (to a centimetre, or 1e-7 deg) and for a time (to a microsecond).
    func contains(_ fix: GNSSFix) -> Bool {
      if places.contains(
        Place(time: fix.timeOfDay, latitude: fix.latitude, longitude: fix.longitude))
      {
        return true
      }
      guard let time = fix.timeOfDay, let latitude = fix.latitude, let longitude = fix.longitude
      else { return false }
      return (-1...1).contains { step in
        moments[Int(time * 100) + step]?.contains {
          guard let a = $0.time, let b = $0.latitude, let c = $0.longitude else { return false }
          return abs(a - time) < 1e-4 && abs(b - latitude) < 1e-6 && abs(c - longitude) < 1e-6
        } ?? false
      }
    }
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
      + UnicoreLogTests.log(
        "UNIHEADINGA,97,GPS,FINE,2190,\(second)000,0,0,18,12;SOL_COMPUTED,NARROW_INT,1.0000,\(second).5,"
          + "10.0000,0.0000,0.1000,0.2000,\"0\",20,16,18,12,0,00,0,0")
      + Stream.sentence("GNHPR,12\(time),\(second).25,-00.64,000.00,4,46,0.00,0999")
      + (second > 60 ? Stream.pvt(second: second, north: second) : [])
  }

  static let streams: [(name: String, bytes: [UInt8])] =
    [("made", made), ("septentrio", SBFBlocks.stream)]
    + Stream.logs.compactMap { file in
      (try? Data(contentsOf: file)).map { (file.lastPathComponent, [UInt8]($0)) }
    }

  /// TSIP has no check sums: a wrong byte is a wrong place.
  static let unchecked = [(name: "trimble", bytes: TSIPPackets.stream)]

  @Test("receivers' own logs are among the streams where they are required")
  func logs() {
    #expect(Self.streams.count > 50 || !SharedData.isRequired)
  }

  @Test("the same comes out however the bytes are cut into pieces")
  func chunks() {
    for (name, bytes) in Self.streams + Self.unchecked {
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
      let said = Said(bytes)
      let kinds = Self.offsets(bytes, &dice)
      #expect(!kinds.isEmpty, "\(name)")
      for cut in kinds + (0..<12).map({ _ in dice.next(bytes.count) }) {
        for half in [Array(bytes[..<cut]), Array(bytes[cut...])] {
          let fixes = Stream.fixes(half, chunk: 1 + dice.next(300))
          for fix in fixes where fix.latitude != nil {
            if !said.contains(fix) { Issue.record("\(name) cut at \(cut): \(fix)") }
          }
        }
      }
    }
  }

  /// An offset of each class, in messages by chance: before and behind each part of a frame, and in the midst of each.
  private static func offsets(_ bytes: [UInt8], _ dice: inout Dice) -> [Int] {
    var classes: [[Int]] = []
    func add(_ offset: Int, _ kind: Int) {
      while classes.count <= kind { classes.append([]) }
      if offset < bytes.count { classes[kind].append(offset) }
    }
    for at in bytes.indices {
      switch bytes[at] {
      case UInt8(ascii: "$"):
        // The frame's beginning, its address, the first fields, a field's digits.
        for (kind, offset) in [0, 1, 3, 6, 7, 10, 20].enumerated() { add(at + offset, kind) }
      case UInt8(ascii: ","): add(at + 1, 7)
      case UInt8(ascii: "*"):
        // Before the sum, in it, before and in the line's end.
        for (kind, offset) in [0, 1, 2, 3, 4].enumerated() { add(at + offset, 8 + kind) }
      case 0xB5 where at + 7 < bytes.count && bytes[at + 1] == 0x62:
        let length = Int(bytes[at + 4]) + Int(bytes[at + 5]) << 8
        for (kind, offset) in [0, 1, 2, 3, 4, 5, 6, 6 + length / 2, 6 + length, 7 + length]
          .enumerated()
        {
          add(at + offset, 13 + kind)
        }
      default: break
      }
    }
    return classes.filter { !$0.isEmpty }.map { $0[dice.next($0.count)] }
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
      let said = Said(bytes)
      var damaged = bytes
      var at = dice.next(200)
      while at < damaged.count {
        damaged[at] ^= UInt8(1 + dice.next(255))
        at += 100 + dice.next(100)
      }
      let fixes = Stream.fixes(damaged, chunk: 1 + dice.next(300)).filter { $0.latitude != nil }
      given += whole.count
      kept += fixes.count
      for fix in fixes where !said.contains(fix) { Issue.record("\(name): \(fix)") }
    }
    print("one byte in 150 wrong: \(kept) of \(given) epochs left")
    #expect(kept > given / 10)
  }

  @Test("streams one behind the other, in any order, give each one's places")
  func order() {
    var dice = Dice(seed: 43)
    let said = Self.streams.reduce(into: Said([])) { $0.formUnion(Said($1.bytes)) }
    for _ in 0..<3 {
      let all = Self.streams.map(\.bytes).shuffled(using: &dice).flatMap { $0 }
      for fix in Stream.fixes(all, chunk: 4_096) where fix.latitude != nil {
        if !said.contains(fix) { Issue.record("\(fix)") }
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

  #if DEBUG
    private static let isOptimised = false
  #else
    private static let isOptimised = true
  #endif

  @Test(
    "once the buffers stand nothing is allocated, whatever is said",
    .enabled(if: isOptimised, "only an optimised build says something"),
    arguments: [true, false])
  func allocations(endsByRule: Bool) {
    for (name, bytes) in Self.streams + Self.unchecked {
      var decoder = GNSSDecoder(endsByRule: endsByRule)
      func decode() {
        for start in stride(from: 0, to: bytes.count, by: 512) {
          bytes[start..<min(bytes.count, start + 512)].withUnsafeBytes {
            decoder.append($0, at: Timestamp(nanoseconds: 0))
          }
          while let event = decoder.next() { if case .identity = event { identities += 1 } }
        }
      }
      var identities = 0
      decode()
      let (before, names) = (test_allocations(), identities)
      decode()
      let made = test_allocations() - before
      // Who a receiver is is text, also where it says the same again.
      guard identities == names, !Self.hasText(bytes) else { continue }
      #expect(made == 0, "\(name)")
    }
  }

  private static func hasText(_ bytes: [UInt8]) -> Bool {
    bytes.split(separator: 10).contains { line in
      line.starts(with: Array("$G".utf8)) && line.dropFirst(3).starts(with: Array("TXT,".utf8))
    }
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

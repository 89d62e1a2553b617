import BoardFile
import Foundation
import Testing

@testable import SensorHub
import SensorTypes
import StateStore

/// What a person says of the board's height, as it is kept.
struct KnownAltitudeTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-altitude-\(UUID().uuidString)")
  private let now = ClockReading(seconds: 1_795_000_000, isSet: true)

  private func withStore(_ body: (KnownAltitudeStore) throws -> Void) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(StateStore(folder: folder).knownAltitude)
  }

  @Test("an elevation and a QNH are kept beside each other, with what became of them")
  func keeping() throws {
    try withStore { store in
      #expect(store.current == .none)
      let elevation = try KnownAltitude.Elevation(1234, accuracy: 2, now: now)
      let qnh = try KnownAltitude.QNH(1013, stationElevation: 450, age: 600, now: now)
      try store.set(elevation)
      try store.set(qnh)
      #expect(store.current == .record(KnownAltitude(elevation: elevation, qnh: qnh)))
      try store.note(
        .init(
          word: .elevation, given: elevation.given, verdict: .taken, pressure: 87_530,
          utc: 1_795_000_001))
      guard case .record(let known) = store.current else {
        Issue.record("not there")
        return
      }
      #expect(known.elevation?.verdict == .taken && known.elevation?.pressure == 87_530)
      #expect(known.elevation?.utc == 1_795_000_001 && known.qnh == qnh)
      // A verdict on a word that another one has replaced meanwhile is for nobody.
      let newer = try KnownAltitude.Elevation(
        99, accuracy: 2, now: ClockReading(seconds: now.seconds + 1, isSet: false))
      try store.set(newer)
      try store.note(.init(word: .elevation, given: elevation.given, verdict: .contradictsReceiver))
      #expect(store.current == .record(KnownAltitude(elevation: newer, qnh: qnh)))
      #expect(newer.utc == nil)
      try store.clear()
      #expect(store.current == .none)
      try store.clear()
      // And a verdict makes no file, and no folder.
      try FileManager.default.removeItem(at: folder)
      try store.note(.init(word: .qnh, given: qnh.given, verdict: .taken))
      #expect(store.current == .none)
      #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
  }

  @Test(
    "what no place has is refused with a message",
    arguments: [-500.1, 9000.1, .nan, .infinity, -1e300])
  func elevations(_ bad: Double) {
    #expect(throws: KnownAltitudeError.self) {
      try KnownAltitude.Elevation(bad, accuracy: 2, now: now)
    }
    #expect(throws: KnownAltitudeError.self) {
      try KnownAltitude.Elevation(10, accuracy: bad, now: now)
    }
  }

  @Test(arguments: [869.9, 1085.1, 0, 29.92, .nan, .infinity])
  func pressures(_ bad: Double) {
    #expect(throws: KnownAltitudeError.self) { try KnownAltitude.QNH(bad, now: now) }
    #expect(throws: KnownAltitudeError.self) {
      try KnownAltitude.QNH(1013, stationElevation: 5_501 + abs(bad), now: now)
    }
    #expect(throws: KnownAltitudeError.self) { try KnownAltitude.QNH(1013, age: -1, now: now) }
  }

  @Test("the ends of the ranges are taken, and messages name them")
  func ends() throws {
    for good in [870.0, 1085] { _ = try KnownAltitude.QNH(good, now: now) }
    for good in [-500.0, 9000] { _ = try KnownAltitude.Elevation(good, accuracy: 0.1, now: now) }
    for (bad, words) in [
      (1100, "a QNH is 870 to 1085 hPa, not 1100"),
      (29.92, "a QNH is given in hectopascals: 29.92 inHg are 1013.2 hPa"),
    ] {
      #expect {
        try KnownAltitude.QNH(bad, now: now)
      } throws: {
        "\($0)" == words
      }
    }
    #expect(KnownAltitude.unrounded(1013) == 1013.5 && KnownAltitude.unrounded(1013.2) == 1013.2)
  }

  static let hostile = [
    "", "{", "null", "[]", "{}", "{\"schema\":2}", "{\"schema\":1e99}",
    #"{"schema":1,"elevation":{}}"#,
    #"{"schema":1,"elevation":{"elevation":1e9,"accuracy":2,"given":1,"verdict":"taken"}}"#,
    #"{"schema":1,"elevation":{"elevation":12,"accuracy":-2,"given":1,"verdict":"taken"}}"#,
    #"{"schema":1,"elevation":{"elevation":12,"accuracy":2,"given":1,"verdict":"\u001b[2J"}}"#,
    #"{"schema":1,"elevation":{"elevation":12,"accuracy":2,"given":1,"pressure":-1,"verdict":"taken"}}"#,
    #"{"schema":1,"elevation":{"elevation":12,"accuracy":2,"given":1e999,"verdict":"taken"}}"#,
    #"{"schema":1,"qnh":{"qnh":2000,"accuracy":1,"stationElevation":0,"age":0,"given":1,"verdict":"taken"}}"#,
    #"{"schema":1,"qnh":{"qnh":"1013","accuracy":1,"stationElevation":0,"age":0,"given":1,"verdict":"taken"}}"#,
    String(repeating: "[", count: 60_000), String(repeating: " ", count: 70_000),
  ]

  @Test("a damaged or hostile file is said, never half used, and another word takes its place")
  func damage() throws {
    try withStore { store in
      for text in Self.hostile {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: store.file)
        guard case .unusable(let why) = store.current else {
          Issue.record("used: \(text.prefix(80))")
          continue
        }
        #expect(!why.unicodeScalars.contains { $0.value < 0x20 })
        let elevation = try KnownAltitude.Elevation(1234, accuracy: 2, now: now)
        try store.set(elevation)
        #expect(store.current == .record(KnownAltitude(elevation: elevation)))
      }
    }
  }

  @Test("a board file's altitude with its accuracy is that of a board that stays")
  func boardFile() throws {
    func parse(_ position: String) throws -> Board {
      try BoardFile.parse(
        """
        schema: 1
        name: Hut
        position: \(position)
        sensors:
          - {chip: BMP280, bus: /dev/i2c-1, address: 0x76}
        """, file: "hut.yaml")
    }
    let board = try parse("{latitude: 47, longitude: 11, altitude: 2440, altitudeAccuracy: 1.5}")
    #expect(board.fixedAltitude?.altitude == 2440 && board.fixedAltitude?.accuracy == 1.5)
    #expect(try parse("{latitude: 47, longitude: 11, altitude: 2440}").fixedAltitude == nil)
    for bad in [
      "{latitude: 47, longitude: 11, altitudeAccuracy: 1}",
      "{latitude: 47, longitude: 11, altitude: 12000, altitudeAccuracy: 1}",
      "{latitude: 47, longitude: 11, altitude: 100, altitudeAccuracy: 0}",
    ] {
      #expect(throws: BoardFileError.self) { try parse(bad) }
    }
  }
}

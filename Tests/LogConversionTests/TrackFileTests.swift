import BoardTestSupport
import Foundation
import GNSSProtocol
import MapDrawing
import SensorHub
import SensorTypes
import TerminalUI
import Testing

@testable import LogConversion

/// The file of a track: what it is, and what its picture leaves out.
final class TrackFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ text: String) throws -> String {
    let file = folder.appending(path: UUID().uuidString)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  /// What a file says of places.
  private func places(_ text: String) throws -> [TrackPoint] {
    let collector = TrackCollector()
    try TrackFile(file(text)).read(by: collector)
    return collector.places
  }

  /// A sentence with its check sum: the exclusive or of what stands between $ and *.
  private static func sentence(_ content: String) -> String {
    let sum = content.utf8.reduce(UInt8(0), ^)
    return "$\(content)*" + String(format: "%02X", sum) + "\r\n"
  }

  @Test("a table is known by its header")
  func table() throws {
    let places = try places("time,latitude,longitude\n2026-11-22T03:04:05Z,48.5,-11.25\n")
    #expect(places.map(\.latitude) == [48.5] && places.map(\.longitude) == [-11.25])
  }

  @Test("a receiver's log is known by its sentences")
  func log() throws {
    let places = try places(
      Self.sentence("GPRMC,123400,A,4807.038,N,01131.000,E,1.5,90,221126,,"))
    let place = try #require(places.first)
    // 7.038 minutes are 0.1173 degrees, 31 are 0.51667.
    #expect(places.count == 1 && abs(place.latitude - 48.1173) < 1e-9)
    #expect(abs(place.longitude - (11 + 31.0 / 60)) < 1e-9)
  }

  /// What a simulated board published in some seconds of its own clock, and the recording of it.
  private func recorded() throws -> (live: [Observation], file: String) {
    let board = try VirtualBoard(records: true)
    let live = board.run(30)
    board.hub.stop()
    let file = folder.appending(path: "run.trace")
    try Data(board.recording).write(to: file)
    return (live, file.path)
  }

  @Test("a recording is known by its first word, and has the places that were published live")
  func recording() throws {
    let (live, file) = try recorded()
    let fixes = live.compactMap { observation -> GNSSFix? in
      guard case .location(let location) = observation, location.carried == nil else { return nil }
      return location.fix
    }
    let collector = TrackCollector()
    try TrackFile(file).read(by: collector)
    #expect(!fixes.isEmpty && collector.places.map(\.latitude) == fixes.compactMap(\.latitude))
    #expect(collector.places.map(\.utc) == fixes.map(\.utc))
  }

  @Test("a replay has a line for each heading that was published live")
  func lines() throws {
    let (live, file) = try recorded()
    let headings = live.count { if case .heading = $0 { true } else { false } }
    var lines: [String] = []
    try RecordedRun(contentsOf: file).writeLines(smooth: false) {
      lines.append($0)
      return true
    }
    #expect(headings > 0 && lines.count { $0.contains("\"kind\":\"heading\"") } == headings)
    #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}\n") })
    // Nobody reads on: the replay ends with the line that was refused.
    var count = 0
    try RecordedRun(contentsOf: file).writeLines(smooth: false) { _ in
      count += 1
      return count < 3
    }
    #expect(count == 3)
  }

  @Test("a file without a position, and one without a message, are different errors")
  func errors() throws {
    func kind(_ text: String) throws -> CommandErrorKind? {
      do {
        _ = try places(text)
        return nil
      } catch let error as CommandError {
        return error.kind
      }
    }
    #expect(try kind(Self.sentence("GPRMC,123400,V,,,,,,,221126,,")) == .finding)
    #expect(try kind("abc") == .data)
    #expect(try kind("latitude,longitude\n") == .finding)
  }

  /// Keeps the calls of a writer, each as one letter.
  private final class CallList: LogWriter {
    let takesEpochsAlone: Bool
    private(set) var calls = ""
    init(takesEpochsAlone: Bool) { self.takesEpochsAlone = takesEpochsAlone }
    func begin(_ text: inout [UInt8]) { calls += "b" }
    func beginLog(named name: String, _ text: inout [UInt8]) { calls += "(" }
    func append(_ fix: GNSSFix, to text: inout [UInt8]) { calls += "f" }
    func append(_ satellites: [GNSSSatellite], to text: inout [UInt8]) { calls += "s" }
    func append(_ heading: ReceiverHeading, to text: inout [UInt8]) { calls += "h" }
    func append(_ identity: ReceiverIdentity, to text: inout [UInt8]) { calls += "i" }
    func interrupt(_ text: inout [UInt8]) { calls += "-" }
    func endLog(_ text: inout [UInt8]) { calls += ")" }
    func end(_ text: inout [UInt8]) { calls += "e" }
  }

  @Test(
    "a document begins with the first that comes out: where nothing does, nothing is written",
    arguments: [
      ("abc", ""), ("latitude,longitude\n", ""), ("$GPXTE,A,A,0.67,L,N*6F\r\n", ""),
      ("latitude,longitude\n48,11\n", "b(f)e"), ("$GPRMC,123400,V,,,,,,,221126,,*31\r\n", "b(f)e"),
    ])
  func beginning(text: String, calls: String) throws {
    let list = CallList(takesEpochsAlone: true)
    try? TrackFile(file(text)).read(by: list)
    #expect(list.calls == calls)
  }

  @Test("what is no epoch is output of a writer that has a place for it")
  func withoutEpoch() throws {
    let sky = try file(Self.sentence("GPGSV,1,1,01,05,45,120,40"))
    for (takesEpochsAlone, calls) in [(true, ""), (false, "b(s)e")] {
      let list = CallList(takesEpochsAlone: takesEpochsAlone)
      try? TrackFile(sky).read(by: list)
      #expect(list.calls == calls)
    }
  }

  @Test("of several logs each that says something begins and ends, and the document once")
  func severalLogs() throws {
    let list = CallList(takesEpochsAlone: true)
    var reader = LogReader(list)
    let mute = try file(Self.sentence("GPXTE,A,A,0.67,L,N"))
    let log = try file(Self.sentence("GPRMC,123400,V,,,,,,,221126,,"))
    for path in [mute, log, mute, log] { #expect(try reader.read(path)) }
    #expect(reader.finish() && list.calls == "b(f)(f)e")
  }

  @Test("what a picture leaves out of a track is said")
  func remarks() throws {
    let collector = TrackCollector()
    var text: [UInt8] = []
    for place in 0..<(TrackCollector.capacity + 2) {
      var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .twoDimensional)
      (fix.latitude, fix.longitude) = (50, Double(place) * 1e-5)
      fix.utc = Double(place)
      collector.append(fix, to: &text)
    }
    let picture = TrackPicture(
      size: PictureSize(width: 300, height: 200), isDark: false, scale: 1, tiles: nil)
    let drawing = try #require(picture.drawn(collector))
    #expect(
      TrackDrawing.remarks(on: drawing, of: collector, tiles: nil)
        == ["of every 2 positions one is drawn"])
    #expect(
      TrackDrawing.remarks(on: drawing, of: collector, tiles: "maps").last
        == "no tile of maps lies below the track")
  }

  @Test("a picture's size is two numbers, and neither tiny nor huge")
  func size() {
    #expect(PictureSize("1000x700") == PictureSize(width: 1000, height: 700))
    #expect(PictureSize("640X480")?.isDrawable == true)
    for text in ["1000", "1000x", "x700", "1000x700x3", "-1x5", "0x100", "a x b"] {
      #expect(PictureSize(text) == nil, "\(text)")
    }
    #expect(PictureSize("99x500")?.isDrawable == false)
    #expect(PictureSize("8000x8000")?.isDrawable == true)
    #expect(PictureSize("8001x500")?.isDrawable == false)
  }
}

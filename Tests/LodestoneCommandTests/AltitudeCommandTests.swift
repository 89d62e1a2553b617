import Foundation
import Testing

import TextForms
@testable import LodestoneCommand
import Reports
import SensorTypes
import TerminalUI

/// What `lodestone altitude` says of what it knows: how old, and worth what, as a program would have it.
@Suite struct AltitudeCommandTests {
  private static let noon = 1_795_000_000.0

  private func clock(_ seconds: Double, isSet: Bool = true) -> ClockReading {
    ClockReading(seconds: seconds, isSet: isSet)
  }

  /// An elevation of 1234 m +- 2, taken.
  private func taken(_ given: ClockReading, utc: Double? = nil) throws -> KnownAltitude {
    var elevation = try KnownAltitude.Elevation(1234, accuracy: 2, now: given)
    elevation.verdict = .taken
    elevation.pressure = 87_530
    elevation.utc = utc ?? elevation.utc
    return KnownAltitude(elevation: elevation)
  }

  private func text(_ known: KnownAltitude, _ now: ClockReading) -> String {
    KnownAltitudeText.lines(known, nil, now).joined(separator: "\n")
  }

  private func json(_ known: KnownAltitude, _ now: ClockReading) throws -> [String: Any] {
    let line = KnownAltitudeText.line(known, now).line
    return try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test("age and worth are by the date, where two clocks that were set tell it")
  func aged() throws {
    let known = try taken(clock(Self.noon))
    let now = clock(Self.noon + 3_600)
    #expect(
      text(known, now) == """
        elevation  1234 m +- 2 m, 60 min old
                   taken at 875.3 hPa, worth +- 8 m by now
        """)
    let line = try json(known, now)
    #expect(line["v"] as? Int == 1 && line["kind"] as? String == "knownAltitude")
    #expect(line["clockIsSet"] as? Bool == true)
    let elevation = try #require(line["elevation"] as? [String: Any])
    #expect(elevation["age"] as? Int == 3_600 && elevation["time"] != nil)
    #expect(elevation["elevation"] as? Double == 1_234 && elevation["accuracy"] as? Double == 2)
    #expect(elevation["pressure"] as? Double == 87.53 && elevation["verdict"] as? String == "taken")
  }

  @Test("a word of a clock that nobody had set has the date that a program has found for it")
  func dated() throws {
    let known = try taken(clock(1_000, isSet: false), utc: Self.noon)
    let now = clock(Self.noon + 3_600)
    #expect(text(known, now).contains("60 min old") && text(known, now).contains("+- 8 m by now"))
    #expect((try json(known, now)["elevation"] as? [String: Any])?["age"] as? Int == 3_600)
  }

  @Test("what no clock tells is not said")
  func undated() throws {
    for (known, now) in [
      (try taken(clock(1_000, isSet: false)), clock(Self.noon)),
      (try taken(clock(1_000, isSet: false)), clock(4_600, isSet: false)),
      (try taken(clock(Self.noon)), clock(4_600, isSet: false)),
      (try taken(clock(Self.noon)), clock(Self.noon - 3_600)),
    ] {
      let words = text(known, now)
      #expect(!words.contains("worth"), "\(words)")
      let elevation = try #require(try json(known, now)["elevation"] as? [String: Any])
      #expect(elevation["age"] == nil)
      #expect(!words.contains("60 min old,") || words.contains("by a clock that nobody has set"))
    }
    let later = text(try taken(clock(Self.noon)), clock(Self.noon - 3_600))
    #expect(later.contains("given later than now"))
    // Two clocks of one board.
    #expect(text(try taken(clock(Self.noon)), clock(Self.noon - 30)).contains("0 min old"))
  }

  @Test("where nobody has set the clock, a word is promised to no later run")
  func promised() throws {
    let set = KnownAltitudeText.kept("1234 m +- 2", "one has a minute for it", clock(Self.noon))
    #expect(set.hasSuffix("where none runs, one has a minute for it"))
    let unset = KnownAltitudeText.kept(
      "1234 m +- 2", "one has a minute for it", clock(1_000, isSet: false))
    #expect(!unset.contains("a minute") && unset.hasSuffix("start one, and give it again"))
    var elevation = try KnownAltitude.Elevation(
      1234, accuracy: 2, now: clock(1_000, isSet: false))
    elevation.verdict = .undated
    let words = text(KnownAltitude(elevation: elevation), clock(Self.noon))
    #expect(words.contains("not used: it was given before a program began"), "\(words)")
  }

  @Test("after a week it is worth nothing")
  func forgotten() throws {
    let words = text(try taken(clock(Self.noon)), clock(Self.noon + 8 * 86_400))
    #expect(words.contains("8 days old") && !words.contains("+- 9"), "\(words)")
    #expect(words.contains("worth nothing"))
  }

  @Test("a QNH has the age that it had when it was given")
  func qnh() throws {
    let known = KnownAltitude(
      qnh: try KnownAltitude.QNH(
        1013, stationElevation: 450, age: 600, now: clock(Self.noon)))
    let now = clock(Self.noon + 1_200)
    #expect(
      text(known, now) == """
        QNH        1013 hPa +- 0.9, of a station at 450 m, 30 min old
                   no program has taken it yet
        """)
    let qnh = try #require(try json(known, now)["qnh"] as? [String: Any])
    #expect(qnh["age"] as? Int == 1_800 && qnh["stationElevation"] as? Double == 450)
    #expect(qnh["verdict"] as? String == "waiting")
  }

  @Test("where nothing is known it is said how to tell")
  func nothing() throws {
    #expect(text(KnownAltitude(), clock(Self.noon)).contains("lodestone altitude set"))
    #expect(try json(KnownAltitude(), clock(Self.noon))["elevation"] == nil)
  }
}

/// Numbers below zero, which an argument parser takes for options.
@Suite struct NegativeNumberTests {
  @Test(
    "those that belong to no option go last, behind --",
    arguments: [
      ("altitude set -28", "altitude set -- -28"),
      ("altitude set -28 --accuracy 2", "altitude set --accuracy 2 -- -28"),
      ("altitude set --accuracy 2 -28 --board x", "altitude set --accuracy 2 --board x -- -28"),
      ("altitude set --accuracy=2 -28", "altitude set --accuracy=2 -- -28"),
      ("altitude qnh 1013 --station -4", "altitude qnh 1013 --station -4"),
      ("declination -33.9 151.2", "declination -- -33.9 151.2"),
      ("declination -- -33.9 151.2", "declination -- -33.9 151.2"),
      ("monitor --seconds 2", "monitor --seconds 2"),
    ])
  func order(given: String, parsed: String) {
    func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    #expect(LodestoneCommand.numbersLast(words(given)) == words(parsed))
  }
}

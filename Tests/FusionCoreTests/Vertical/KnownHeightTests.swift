import SensorTypes
import Testing

@testable import FusionCore

@Suite struct KnownHeightTests {
  private func board(_ altitude: Double?, seconds: ClosedRange<Int> = 0...120)
    -> AbsoluteAltitudeEstimator
  {
    var absolute = AbsoluteAltitudeEstimator()
    stand(&absolute, altitude, seconds)
    return absolute
  }

  /// Stands still, with fixes of an altitude where there is a receiver.
  @discardableResult
  private func stand(
    _ absolute: inout AbsoluteAltitudeEstimator, _ altitude: Double?, _ seconds: ClosedRange<Int>
  ) -> AbsoluteAltitudeEstimate? {
    var last: AbsoluteAltitudeEstimate?
    for second in seconds {
      let at = Timestamp(seconds: Double(second))
      last = absolute.update(
        AltitudeEstimate(time: at, relativeAltitude: 0, relativeAccuracy: 0.1, pressure: 90_000))
      if let altitude { absolute.update(altitude: altitude, accuracy: 3, at: at) }
    }
    return last
  }

  private func here(_ altitude: Double, _ accuracy: Double = 2, age: Double = 0) -> KnownHeight {
    KnownHeight(
      altitude: altitude, accuracy: accuracy, relativeAltitude: 0, age: age,
      witness: age > 0 ? .formerly : .here)
  }

  @Test("an elevation is worth what it was given for, and fades as the weather drifts")
  func fading() throws {
    var absolute = board(nil)
    #expect(stand(&absolute, nil, 121...130) == nil)
    #expect(absolute.update(here(1234), at: Timestamp(seconds: 130)) == .taken)
    let now = try #require(stand(&absolute, nil, 131...132))
    #expect(abs(now.altitude - 1234) < 0.2 && abs(now.accuracy - 2) < 0.5)
    #expect(now.fixTime == nil && now.knownTime == Timestamp(seconds: 130))
    for (hours, bar) in [(1.0, 6.896), (4, 13.351), (24, 32.394)] {
      let second = 130 + Int(hours * 3600)
      let then = try #require(stand(&absolute, nil, second...second))
      // The wind of the moment of the elevation is over, and there is another one: 3 m each are in the bar.
      let expected = (bar * bar + 18).squareRoot()
      #expect(abs(then.altitude - 1234) < 3.1 && abs(then.accuracy - expected) < 0.3)
    }
  }

  @Test("an elevation of an earlier run is worth what the weather has left of it")
  func earlier() throws {
    var absolute = board(nil)
    #expect(absolute.update(here(1234, age: 4 * 3600), at: Timestamp(seconds: 120)) == .taken)
    let now = try #require(stand(&absolute, nil, 121...121))
    // 2, 13.2 by the weather, and 3 each for the wind of then and of now.
    #expect(abs(now.accuracy - (4 + 174.24 + 18.0).squareRoot()) < 0.2)
    #expect(now.knownTime == Timestamp(seconds: 120 - 4 * 3600))
  }

  @Test("an elevation far from a receiver that has a fix is refused")
  func refusedByReceiver() throws {
    var absolute = board(850)
    guard
      case .contradictsReceiver(let difference) = absolute.update(
        here(1234), at: Timestamp(seconds: 120))
    else {
      Issue.record("taken")
      return
    }
    #expect(abs(difference - 384) < 3)
    let after = try #require(stand(&absolute, 850, 121...180))
    #expect(abs(after.altitude - 850) < 2 && after.knownTime == nil)
    // One within the receiver's own doubt is not.
    #expect(absolute.update(here(856), at: Timestamp(seconds: 180)) == .taken)
    let near = try #require(stand(&absolute, 850, 181...240))
    #expect(near.altitude > 852 && near.altitude < 857 && near.accuracy < 3)
  }

  @Test("a receiver that is far from an elevation for 30 s overrules it, not sooner")
  func overruled() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234), at: Timestamp(seconds: 120))
    let early = try #require(stand(&absolute, 850, 121...145))
    #expect(abs(early.altitude - 1234) < 2 && absolute.state.overruled == 0)
    let late = try #require(stand(&absolute, 850, 146...240))
    #expect(abs(late.altitude - 850) < 3 && late.knownTime == nil)
    #expect(absolute.state.overruled == 1 && abs(absolute.state.overruledBy + 384) < 5)
  }

  @Test("without a receiver the newest word is right")
  func newest() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234), at: Timestamp(seconds: 120))
    _ = stand(&absolute, nil, 121...130)
    guard case .replaced(let by) = absolute.update(here(123.4), at: Timestamp(seconds: 130)) else {
      Issue.record("not replaced")
      return
    }
    #expect(abs(by + 1110.6) < 1)
    let now = try #require(stand(&absolute, nil, 131...131))
    #expect(abs(now.altitude - 123.4) < 0.3 && now.accuracy < 3)
  }

  @Test(
    "a QNH again and again is no better than one, and a fixed board's elevation no better than it is"
  )
  func repetition() throws {
    for witness in [KnownHeight.Witness.elsewhere, .here] {
      var absolute = board(nil)
      var last: AbsoluteAltitudeEstimate?
      for second in 121...1000 {
        _ = absolute.update(
          KnownHeight(
            altitude: 100, accuracy: 8, relativeAltitude: 0, age: 0, witness: witness),
          at: Timestamp(seconds: Double(second)))
        last = stand(&absolute, nil, second...second)
      }
      #expect(try #require(last).accuracy > 7.9)
    }
  }

  @Test("a word again and again is worth what one is")
  func sameWord() throws {
    var absolute = board(nil)
    for second in 121...130 {
      _ = absolute.update(here(1234, 5), at: Timestamp(seconds: Double(second)))
      let now = try #require(stand(&absolute, nil, second...second))
      #expect(now.accuracy > 4.99)
    }
  }

  @Test("who corrects an elevation is believed, with no more accuracy; a poorer word is not")
  func corrected() throws {
    var absolute = board(nil)
    _ = absolute.update(here(1234, 5), at: Timestamp(seconds: 121))
    stand(&absolute, nil, 121...180)
    for (second, elevation) in [(180, 1226.0), (181, 1228)] {
      #expect(
        absolute.update(here(elevation, 5), at: Timestamp(seconds: Double(second))) == .taken)
      let now = try #require(stand(&absolute, nil, (second + 1)...(second + 1)))
      #expect(abs(now.altitude - elevation) < 0.3 && now.accuracy > 4.99)
    }
    #expect(absolute.update(here(1234, 9), at: Timestamp(seconds: 182)) == .notBetter)
    let now = try #require(stand(&absolute, nil, 183...183))
    #expect(abs(now.altitude - 1228) < 0.3)
  }

  @Test("what is no better than the receiver changes nothing, and is no part of it")
  func notBetter() throws {
    var (told, alone) = (board(850), board(850))
    let qnh = KnownHeight(
      altitude: 855, accuracy: 11, relativeAltitude: 0, age: 0, witness: .elsewhere)
    _ = told.update(qnh, at: Timestamp(seconds: 120))
    let now = try #require(stand(&told, 850, 121...240))
    #expect(now.knownTime == nil)
    #expect(now == stand(&alone, 850, 121...240))
  }

  @Test("an elevation in the place of what old fixes said names none of them, and has its 30 s")
  func replacedFixes() throws {
    // Nothing was heard for a minute; then once, and not believed, before the elevation came.
    for heard in [nil, 140] {
      var absolute = board(850)
      stand(&absolute, nil, 121...139)
      if let heard { stand(&absolute, 1300, heard...heard) }
      stand(&absolute, nil, 141...181)
      let verdict = absolute.update(here(1234), at: Timestamp(seconds: 181))
      guard case .replaced = verdict else {
        Issue.record("\(verdict)")
        return
      }
      let now = try #require(stand(&absolute, nil, 182...190))
      #expect(now.fixTime == nil && now.knownTime == Timestamp(seconds: 181))
      let early = try #require(stand(&absolute, 850, 191...219))
      #expect(abs(early.altitude - 1234) < 3 && early.fixTime == nil)
      #expect(absolute.state.overruled == 0)
      let late = try #require(stand(&absolute, 850, 220...300))
      #expect(abs(late.altitude - 850) < 5 && late.knownTime == nil && late.fixTime != nil)
      #expect(absolute.state.overruled == 1)
    }
  }

  @Test("what was known is forgotten, and found anew by the next fix")
  func forgetting() throws {
    var absolute = board(850)
    _ = absolute.update(here(852), at: Timestamp(seconds: 120))
    absolute.forgetLevel()
    #expect(stand(&absolute, nil, 121...125) == nil)
    let now = try #require(stand(&absolute, 850, 126...130))
    #expect(now.knownTime == nil && abs(now.altitude - 850) < 1)
  }

  @Test("numbers that are none are not used")
  func hostile() {
    var absolute = AbsoluteAltitudeEstimator()
    #expect(absolute.update(here(100), at: Timestamp(seconds: 1)) == .unusable)
    absolute = board(100)
    let before = absolute.state
    for bad in [Double.nan, .infinity, -.infinity, 1e300, -1e6] {
      for known in [
        here(bad), here(100, bad), here(100, age: bad),
        KnownHeight(
          altitude: 100, accuracy: 2, relativeAltitude: bad, age: 0, witness: .elsewhere),
      ] {
        #expect(absolute.update(known, at: Timestamp(seconds: 120)) == .unusable)
      }
    }
    #expect(absolute.state == before)
  }
}

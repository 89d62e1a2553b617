import SensorTypes
import Testing

@testable import SensorHub

/// What is filled into a fix, what is taken out of it, and what of that is marked.
struct FixJudgementTests {
  private func fix(
    _ mode: FixMode = .threeDimensional, _ change: (inout GNSSFix) -> Void = { _ in }
  ) -> GNSSFix {
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: mode)
    fix.latitude = 45.565906
    fix.longitude = 6.066653
    change(&fix)
    return fix
  }

  @Test("a receiver's own accuracies stay as they are, and are not marked")
  func stated() {
    let said = fix {
      $0.horizontalAccuracy = 2.5
      $0.verticalAccuracy = 4
      $0.altitude = 300
      $0.accuracySource = .receiver
      $0.hdop = 9
    }
    #expect(AccuracyModel.completed(said) == said)
  }

  @Test("from dilution 5 m a unit, without it 50 and 100 m, both marked")
  func assumed() {
    let diluted = AccuracyModel.completed(fix { ($0.hdop, $0.vdop, $0.altitude) = (1.2, 2, 300) })
    #expect(diluted.horizontalAccuracy == 6)
    #expect(diluted.verticalAccuracy == 10)
    #expect(diluted.accuracySource == .dilution)
    let flat = AccuracyModel.completed(fix { ($0.hdop, $0.altitude) = (2, 300) })
    #expect(flat.verticalAccuracy == 15)
    let unknown = AccuracyModel.completed(fix { $0.altitude = 300 })
    #expect(unknown.horizontalAccuracy == 50)
    #expect(unknown.verticalAccuracy == 100)
    #expect(unknown.accuracySource == .worstCase)
    // Nothing is known of a height that is not measured.
    #expect(AccuracyModel.completed(fix(.twoDimensional)).verticalAccuracy == nil)
    // An absurd dilution is none.
    #expect(AccuracyModel.completed(fix { $0.hdop = 99.99 }).accuracySource == .worstCase)
  }

  @Test("the kind of a fix decides the range error: centimeters, decimeters, meters")
  func kinds() throws {
    for (kind, error) in [
      (FixKind.rtkFixed, 0.03), (.rtkFloat, 0.4), (.precisePoint, 0.3), (.differential, 2.5),
      (.autonomous, 5), (.preciseCode, 5), (.combined, 5),
    ] {
      let diluted = AccuracyModel.completed(
        fix { ($0.kind, $0.hdop, $0.vdop, $0.altitude) = (kind, 1, 2, 300) })
      #expect(diluted.horizontalAccuracy == error && diluted.verticalAccuracy == 2 * error)
      #expect(diluted.accuracySource == .dilution)
      let bare = AccuracyModel.completed(fix { ($0.kind, $0.altitude) = (kind, 300) })
      #expect(abs(try #require(bare.horizontalAccuracy) - 10 * error) < 1e-9)
      #expect(abs(try #require(bare.verticalAccuracy) - 20 * error) < 1e-9)
    }
  }

  @Test(
    "old corrections, too few satellites or a dilution that is none: a fix is as good as one by code",
    arguments: [
      { $0.corrections = FixCorrections(age: 999) }, { $0.satellitesUsed = 0 },
      { $0.hdop = 99.99 },
    ] as [@Sendable (inout GNSSFix) -> Void])
  func contradicted(change: @Sendable (inout GNSSFix) -> Void) throws {
    for kind in [FixKind.rtkFixed, .rtkFloat, .differential] {
      let fix = AccuracyModel.completed(
        fix {
          ($0.kind, $0.hdop) = (kind, 1)
          change(&$0)
        })
      #expect(try #require(fix.horizontalAccuracy) >= 5)
    }
    let young = AccuracyModel.completed(
      fix { ($0.kind, $0.hdop, $0.corrections) = (.rtkFixed, 1, FixCorrections(age: 60)) })
    #expect(young.horizontalAccuracy == 0.03)
    // Corrections by satellites live longer than those of a station.
    for kind in [FixKind.precisePoint, .differential] {
      let slow = AccuracyModel.completed(
        fix { ($0.kind, $0.hdop, $0.corrections) = (kind, 1, FixCorrections(age: 300)) })
      #expect(try #require(slow.horizontalAccuracy) < 5)
    }
  }

  /// A position of dead reckoning, 10 m/s fast unless it says otherwise.
  private func reckoned(_ second: Double, _ change: (inout GNSSFix) -> Void = { _ in }) -> GNSSFix {
    fix {
      ($0.kind, $0.utc, $0.speed, $0.altitude) = (.deadReckoning, 1e9 + second, 10, 300)
      change(&$0)
    }
  }

  /// A measured position at the same place.
  private func measured(
    _ second: Double, _ change: (inout GNSSFix) -> Void = { _ in }
  ) -> GNSSFix {
    fix {
      ($0.kind, $0.utc, $0.hdop, $0.vdop, $0.altitude) = (.autonomous, 1e9 + second, 1, 1, 300)
      change(&$0)
    }
  }

  /// The horizontal accuracies of fixes in order.
  private func accuracies(_ fixes: GNSSFix...) -> [Double?] {
    var model = DeadReckoningAccuracy()
    return fixes.map { fix in
      var fix = fix
      model.complete(&fix)
      return fix.horizontalAccuracy
    }
  }

  @Test("the accuracy of dead reckoning grows with time and distance from the last measurement on")
  func reckoning() throws {
    var model = DeadReckoningAccuracy()
    var first = measured(0)
    model.complete(&first)
    // The receiver's own fix is not touched.
    #expect(first.horizontalAccuracy == nil)
    var last = 0.0
    for second in stride(from: 1.0, through: 60, by: 1) {
      var fix = reckoned(second)
      model.complete(&fix)
      let accuracy = try #require(fix.horizontalAccuracy)
      // 5 m to begin with, 1 m/s, and a fifth of the distance.
      let growth = second + 0.2 * 10 * second
      #expect(abs(accuracy - (25 + growth * growth).squareRoot()) < 1e-9 && accuracy > last)
      #expect(fix.hasAssumedAccuracy && fix.accuracySource == .worstCase)
      last = accuracy
    }
  }

  @Test("what the receiver knows is believed, and a measurement begins anew")
  func reckonedAnew() throws {
    let all = accuracies(
      measured(0), reckoned(1) { ($0.horizontalAccuracy, $0.accuracySource) = (4, .receiver) },
      measured(2) { $0.kind = .rtkFixed }, reckoned(3) { $0.speed = 0 },
      // What the receiver doubts, or what is simulated, measures nothing.
      measured(4) { $0.isValid = false }, reckoned(5) { $0.speed = 0 })
    #expect(all[1] == 4)
    #expect(abs(try #require(all[3]) - 1) < 1e-3)
    #expect(abs(try #require(all[5]) - 3) < 1e-3)
  }

  @Test(
    "hours count, a clock put back begins with the bound, and so does a log without a measurement")
  func reckonedGaps() throws {
    let hours = accuracies(measured(0) { $0.kind = .rtkFixed }, reckoned(7_200) { $0.speed = 0 })
    #expect(abs(try #require(hours[1]) - 7_200) < 1)
    #expect(accuracies(measured(0), reckoned(-60))[1] == 50)
    #expect(accuracies(reckoned(0))[0] == 50)
  }

  @Test(
    "without a speed the distance is that between the positions, without a time an epoch is a second"
  )
  func reckonedPlaces() throws {
    let degree = 111_194.9
    let moved = accuracies(
      measured(0), reckoned(10) { ($0.speed, $0.latitude) = (nil, 45.565906 + 300 / degree) })
    #expect(abs(try #require(moved[1]) - (25 + 70 * 70).squareRoot()) < 0.1)
    let timeless = accuracies(
      measured(0) { $0.utc = nil }, reckoned(0) { ($0.utc, $0.speed) = (nil, nil) },
      reckoned(0) { ($0.utc, $0.speed) = (nil, nil) })
    #expect(abs(try #require(timeless[2]) - (25.0 + 4).squareRoot()) < 1e-6)
  }

  @Test("a receiver that gives the time alone is named once")
  func timeOnly() {
    var notes = FixNotes()
    let time = fix(.none) { ($0.kind, $0.latitude) = (.timeOnly, nil) }
    #expect(notes.note(about: time)?.contains("timing mode") == true)
    #expect(notes.note(about: time) == nil)
    let simulated = fix { ($0.kind, $0.isValid) = (.simulated, false) }
    #expect(notes.note(about: simulated)?.contains("simulated") == true)
    #expect(notes.note(about: simulated) == nil)
  }

  @Test("a time that goes back is named once; a board that slept, and a first correction, are not")
  func backwards() {
    var notes = FixNotes()
    let day = 86_400.0
    for (second, utc, isNamed) in [
      (0.0, 0.0, false), (1, 17, false), (2, 0, false), (3, 3.5 * day, false), (4, 4, true),
      (5, 3.5 * day, false), (6, 6, false),
    ] {
      let note = notes.note(
        about: fix {
          ($0.received, $0.utc) = (Timestamp(seconds: second), 1.8e9 + utc)
        })
      #expect((note != nil) == isNamed, "\(second)")
      if let note { #expect(note.contains("gone back by 3.5 days")) }
    }
  }

  @Test(
    "an accuracy that is too good for the kind of the fix is not believed",
    arguments: [
      (FixKind.autonomous, 0.002), (.preciseCode, 0.01), (.rtkFixed, 0.0005), (.rtkFloat, 0),
    ])
  func incredible(kind: FixKind, accuracy: Double) {
    let said = fix {
      ($0.kind, $0.hdop, $0.vdop, $0.altitude) = (kind, 1, 2, 300)
      ($0.horizontalAccuracy, $0.verticalAccuracy) = (accuracy, accuracy)
      $0.accuracySource = .receiver
    }
    let judged = AccuracyModel.completed(said)
    let error = AccuracyModel.rangeError(kind)
    #expect(judged.horizontalAccuracy == error && judged.verticalAccuracy == 2 * error)
    #expect(judged.accuracySource == .dilution)
    // What such a fix can have is believed.
    let good = fix {
      ($0.kind, $0.altitude, $0.accuracySource) = (kind, 300, .receiver)
      ($0.horizontalAccuracy, $0.verticalAccuracy) = (max(error / 5, 0.006), 1)
    }
    #expect(AccuracyModel.completed(good) == good)
    // The fixed place of a base station is no measurement.
    let base = fix {
      ($0.kind, $0.altitude, $0.accuracySource) = (.manual, 300, .receiver)
      ($0.horizontalAccuracy, $0.verticalAccuracy) = (0, 0)
    }
    #expect(AccuracyModel.completed(base) == base)
  }

  @Test("one assumed accuracy beside a stated one is marked")
  func mixed() {
    let half = AccuracyModel.completed(
      fix {
        $0.horizontalAccuracy = 3
        $0.accuracySource = .receiver
        ($0.vdop, $0.altitude) = (2, 300)
      })
    #expect(half.horizontalAccuracy == 3)
    #expect(half.verticalAccuracy == 10)
    #expect(half.accuracySource == .dilution)
  }

  @Test("a course is as good as the velocity, and gone where that is no more than its error")
  func course() throws {
    func judged(_ speed: Double, _ deviation: Double?, _ stated: Double? = nil) -> GNSSFix {
      AccuracyModel.completed(
        fix {
          ($0.speed, $0.speedAccuracy, $0.course, $0.courseAccuracy) = (
            speed, deviation, 90, stated
          )
        })
    }
    // The angle at which 0.1 is seen from 1: 5.711 degrees.
    #expect(abs(try #require(judged(1, 0.1).courseAccuracy) - 5.7106) < 1e-3)
    #expect(judged(1, 0.1).course == 90)
    // The same speed, and a receiver that knows it less well.
    #expect(judged(1, 1.1).course == nil)
    #expect(judged(1, 1.1).courseAccuracy == nil)
    // Slow, and known well.
    #expect(judged(0.05, 0.01).course == 90)
    // What the receiver says of its course counts too, and is not bettered.
    #expect(judged(1, 0.1, 60).course == nil)
    #expect(judged(1, 0.1, 2).courseAccuracy == 2)
    // A velocity that is all error in one of twenty cases, as at a standstill: 2.45 sigma.
    #expect(judged(0.146, 0.06, 30).course == nil && judged(0.148, 0.06, 30).course == 90)
    // Of a receiver that states nothing a bound judges, and is not told.
    #expect(judged(3, nil).course == 90)
    #expect(judged(3, nil).courseAccuracy == nil)
    #expect(judged(0.3, nil).course == nil)
    #expect(judged(0.3, nil).speed == 0.3)
  }

  // NGA's test point of EGM96 (data README): 49.8336 m.
  @Test("the height that a receiver does not say follows by EGM96, both ways")
  func heights() throws {
    var seaLevel = SeaLevel()
    let up = seaLevel.completed(fix { $0.ellipsoidalAltitude = 349.83 })
    #expect(abs(try #require(up.fix.altitude) - 300) < 0.15)
    #expect(up.fix.ellipsoidalAltitude == 349.83)
    let down = seaLevel.completed(fix { $0.altitude = 300 })
    #expect(abs(try #require(down.fix.ellipsoidalAltitude) - 349.83) < 0.15)
    #expect(up.note == nil && down.note == nil)
    // In two dimensions a height is assumed by the receiver, and stays alone.
    #expect(
      seaLevel.completed(fix(.twoDimensional) { $0.altitude = 300 }).fix.ellipsoidalAltitude == nil)
  }

  @Test("heights that no board has are none", arguments: [1e300, -1e300, 1e19, 2e8])
  func impossible(height: Double) {
    for (altitude, ellipsoidal) in [(height, 0.0), (0, height), (height, nil), (nil, height)] {
      var seaLevel = SeaLevel()
      let fix = seaLevel.completed(
        fix { ($0.altitude, $0.ellipsoidalAltitude) = (altitude, ellipsoidal) })
      #expect(fix.fix.altitude == nil && fix.fix.ellipsoidalAltitude == nil && fix.note == nil)
    }
  }

  @Test(
    "a receiver's own separation wins; one that is grossly wrong is said once and costs accuracy")
  func separation() throws {
    var seaLevel = SeaLevel()
    let own = fix {
      ($0.altitude, $0.ellipsoidalAltitude, $0.verticalAccuracy) = (300, 345, 4)
    }
    #expect(seaLevel.completed(own).fix == own)
    let wrong = fix {
      ($0.altitude, $0.ellipsoidalAltitude, $0.verticalAccuracy) = (300, 300, 4)
    }
    let first = seaLevel.completed(wrong)
    #expect(first.note?.contains("EGM96 has it 50 m") == true)
    #expect(abs(try #require(first.fix.verticalAccuracy) - 50) < 0.2)
    #expect(first.fix.altitude == 300)
    #expect(seaLevel.completed(wrong).note == nil)
  }
}

// What a person says of the board's height, on its way into the filter.

import FusionCore
import SensorTypes
import StateStore

/// Meets an elevation or a QNH with a pressure and a date, and says what became of it.
///
/// A word that is given while a program runs is of now, whether or not the clock is set: the same clock that it was given by
/// shows that. One from before the start is as old as the clock says, where that was set by somebody who knows then and now (the network, a receiver); else it is not
/// used. Of two that were there at the start the one that is worth more is used: they share the weather since.
struct GivenAltitude: Sendable {
  /// A board that is told its elevation has not moved this much later, seconds.
  static let settling = 60.0
  /// A date that has not come by then is missed aloud, seconds after it was first looked for.
  private static let dateWait = 30.0
  /// A chip's absolute error, one sigma, pascals: 1 hPa in the data sheets of BMP280 and DPS310, 1.5 in the MS5611's.
  private static let chipError = 100.0
  /// How much earlier than the first reading of the clock a program may have looked at the file, in seconds.
  private static let startUp = 1.0
  /// How often a word that waits is looked at, seconds.
  private static let lookInterval = 0.5
  /// How often a board that stays is told where it is, seconds.
  private static let fixedInterval = 60.0

  enum AltitudeEntry: Sendable {
    case elevation(KnownAltitude.Elevation)
    case qnh(KnownAltitude.QNH)
  }

  /// A word that waits for a pressure or a date.
  private struct Waiting: Sendable {
    var word: AltitudeEntry
    var since: Timestamp
    /// Whether it was given while this program ran.
    var isLive: Bool
  }

  private let fixed: (altitude: Double, accuracy: Double)?
  private let barometer: String?
  private var fixedTime: Timestamp?
  private var hasSaidContradiction = false
  private var hasSaidReplacement = false
  private var seen = KnownAltitude()
  private var waiting: [Waiting] = []
  private var taken: [AltitudeEntry] = []
  private var lookTime: Timestamp?
  private var wantsClearing = false
  private var hasMissedDate = false
  private var firstLook: Timestamp?
  private var networkDate: (utc: Double, at: Timestamp)?
  /// What the system's clock shows, set or not, in seconds since 1970: at the first look, and at the newest.
  private var clock: (first: Double, newest: Double, at: Timestamp)?
  private var receiverDate: (utc: Double, at: Timestamp)?
  private var overruled: UInt64 = 0
  /// What a person should know; the pipeline publishes and empties it.
  var notes: [String] = []
  /// What is to be kept of it for the next run.
  var changes: [KnownAltitudeUpdate] = []

  /// - Parameter fixed: The altitude of a board that stays where it is, and one sigma of it, metres.
  /// - Parameter barometer: The chip that is listened to, by its name and place.
  init(fixed: (altitude: Double, accuracy: Double)?, barometer: String?) {
    self.fixed = fixed
    self.barometer = barometer
  }

  /// Whether a person says of the height what may be used.
  var isAny: Bool { fixed != nil || !waiting.isEmpty || !taken.isEmpty }

  /// Takes what the state folder says, `isFirst` for what it said at the start.
  mutating func take(_ finding: StoredFinding<KnownAltitude>, isFirst: Bool, at time: Timestamp) {
    let known: KnownAltitude
    switch finding {
    case .none: known = KnownAltitude()
    case .record(let record): known = record
    case .unusable(let why):
      notes.append(
        "altitude.json cannot be used (\(why)): what was known before stays; "
          + "lodestone altitude clear removes it")
      return
    }
    let (old, new) = (seen, known)
    seen = known
    if old.elevation != nil && new.elevation == nil || old.qnh != nil && new.qnh == nil {
      // What was refused is no part of the level, and takes nothing with it.
      wantsClearing = wantsClearing || !taken.isEmpty
      waiting = []
      taken = []
    }
    var words: [(given: Double, word: AltitudeEntry)] = []
    if let elevation = new.elevation, elevation.given != old.elevation?.given {
      words.append((elevation.given, .elevation(elevation)))
    }
    if let qnh = new.qnh, qnh.given != old.qnh?.given { words.append((qnh.given, .qnh(qnh))) }
    for (_, word) in words.sorted(by: { $0.given < $1.given }) {
      waiting.removeAll { $0.word.kind == word.kind }
      // What an earlier run has refused is refused, and what it has taken is not of now: a file that comes back, or that
      // could not be read before. That another program could not date it is no matter for one that was running.
      let isLive =
        !isFirst && [.waiting, .undated].contains(word.verdict)
        && wasRunning(at: word.given, now: time)
      guard isLive || [.waiting, .taken, .notBetter].contains(word.verdict) else { continue }
      if fixed != nil {
        notes.append("\(word) is not used: this board stays, and the board file says its altitude")
        note(word, .boardStays)
        continue
      }
      waiting.append(Waiting(word: word, since: time, isLive: isLive))
    }
  }

  /// Takes what the system's clock shows, in seconds since 1970; it is the date where the network or a receiver has set it.
  mutating func take(systemClock seconds: Double, isSet: Bool, at time: Timestamp) {
    clock = (clock?.first ?? seconds, seconds, time)
    if isSet { networkDate = (seconds, time) }
  }

  /// Whether this program was running when the system's clock showed these seconds since 1970.
  private func wasRunning(at given: Double, now: Timestamp) -> Bool {
    guard let clock else { return true }
    let newest = clock.newest + now.seconds(since: clock.at)
    return given >= clock.first - Self.startUp && given <= newest + KnownAltitude.clockSlack
  }

  /// Takes what the receiver says the date is.
  mutating func take(receiverDate utc: Double, at time: Timestamp) { receiverDate = (utc, time) }

  private static func isDue(_ last: Timestamp?, _ interval: Double, at time: Timestamp) -> Bool {
    guard let last else { return true }
    let since = time.seconds(since: last)
    return since >= interval || since < 0
  }

  /// Does what is due, after the relative altitude of a moment is known.
  mutating func apply(
    _ estimate: AltitudeEstimate, _ relative: RelativeAltitudeEstimator,
    _ absolute: inout AbsoluteAltitudeEstimator
  ) {
    let time = estimate.time
    if wantsClearing {
      wantsClearing = false
      absolute.forgetLevel()
      fixedTime = nil
    }
    if let fixed, Self.isDue(fixedTime, Self.fixedInterval, at: time) {
      fixedTime = time
      stay(fixed, estimate, &absolute)
    }
    guard !waiting.isEmpty, Self.isDue(lookTime, Self.lookInterval, at: time) else { return }
    lookTime = time
    firstLook = firstLook ?? time
    var left: [Waiting] = []
    var earlier: [(word: AltitudeEntry, height: KnownHeight)] = []
    for item in waiting {
      switch settle(item, estimate, relative) {
      case .later: left.append(item)
      case .never: break
      case .now(let height) where item.isLive: _ = use(item.word, height, estimate, &absolute)
      case .now(let height): earlier.append((item.word, height))
      }
    }
    waiting = left
    // Of an earlier run's words the one that the weather has left most of, unless it turns out to be wrong.
    let params = absolute.params
    earlier.sort {
      params.faded($0.height.accuracy, after: $0.height.age)
        < params.faded($1.height.accuracy, after: $1.height.age)
    }
    for (word, height) in earlier where use(word, height, estimate, &absolute) { break }
  }

  /// Says that fixes have overruled what was known, where they have.
  mutating func hear(_ absolute: AbsoluteAltitudeEstimator) {
    guard absolute.state.overruled != overruled else { return }
    overruled = absolute.state.overruled
    for word in taken {
      notes.append(
        "\(word) contradicts the receiver, whose fixes of 30 s are "
          + "\(Self.metres(absolute.state.overruledBy)) from it: the receiver is believed; "
          + "lodestone altitude set gives another")
      note(word, .contradictsReceiver)
    }
    taken = []
  }

  // MARK: When and where

  private enum Readiness {
    case now(KnownHeight)
    case later
    case never
  }

  private mutating func settle(
    _ item: Waiting, _ estimate: AltitudeEstimate, _ relative: RelativeAltitudeEstimator
  ) -> Readiness {
    let time = estimate.time
    let passed = max(0, time.seconds(since: item.since))
    var age = passed
    if !item.isLive {
      guard let utc = item.word.utc else {
        notes.append(
          "\(item.word) from before this start is not used: the clock was not set when it was given"
        )
        // What an earlier run has taken was true of that run, and stays said.
        if item.word.verdict == .waiting { note(item.word, .undated) }
        return .never
      }
      guard let now = date(at: time) else {
        if !hasMissedDate, time.seconds(since: firstLook ?? time) > Self.dateWait {
          hasMissedDate = true
          notes.append(
            "\(item.word) from before this start is not used until the network or a receiver has set the date: "
              + "nobody knows how old it is")
        }
        return .later
      }
      age = now - utc
      guard age > -KnownAltitude.clockSlack, age < KnownAltitude.longestAge else {
        notes.append(
          age < 0
            ? "\(item.word) is not used: it was given after now, so that one of the two dates is wrong"
            : "\(item.word) is older than a week: weather has forgotten it")
        return .never
      }
      age = max(0, age)
    }
    switch item.word {
    case .elevation(let elevation):
      if let pressure = elevation.pressure, !item.isLive {
        return restore(elevation, pressure, age, relative)
      }
      guard age <= Self.settling else {
        notes.append(
          "\(item.word): no pressure was measured within a minute of it, and where the board was then nobody "
            + "knows: give it again while a program measures")
        note(item.word, .tooLate)
        return .never
      }
      guard isWeather(estimate.pressure, at: elevation) else {
        notes.append(
          "\(item.word) is not used: no weather has \(Self.hectopascals(estimate.pressure)) there; is it in metres?"
        )
        note(item.word, .contradictsPressure)
        return .never
      }
      return .now(
        KnownHeight(
          altitude: elevation.elevation, accuracy: elevation.accuracy,
          relativeAltitude: estimate.relativeAltitude, age: 0, witness: .here))
    case .qnh(let qnh):
      return station(qnh, age + qnh.age, estimate, relative)
    }
  }

  private mutating func restore(
    _ elevation: KnownAltitude.Elevation, _ pressure: Double, _ age: Double,
    _ relative: RelativeAltitudeEstimator
  ) -> Readiness {
    // Chips differ by a hectopascal and more: what one measured there another would not.
    guard elevation.barometer == barometer else {
      notes.append(
        "\(AltitudeEntry.elevation(elevation)) was measured at by another barometer: it is not used"
      )
      return .never
    }
    guard let place = relative.relativeAltitude(atPressure: pressure) else { return .never }
    return .now(
      KnownHeight(
        altitude: elevation.elevation, accuracy: elevation.accuracy, relativeAltitude: place,
        age: age, witness: .formerly))
  }

  // A QNH says at which pressure its station is; that place is known then as one where the board has been. Air that is
  // warmer or colder than the standard makes an error of the height between the two, which the filter's scale has.
  private func station(
    _ qnh: KnownAltitude.QNH, _ age: Double, _ estimate: AltitudeEstimate,
    _ relative: RelativeAltitudeEstimator
  ) -> Readiness {
    let pascals = 100 * KnownAltitude.unrounded(qnh.qnh)
    let pressure = StandardAtmosphere.stationPressure(
      qnh: pascals, elevation: qnh.stationElevation)
    guard let place = relative.relativeAltitude(atPressure: pressure),
      let there = relative.metresPerPascal(atPressure: pressure),
      let here = relative.metresPerPascal(atPressure: estimate.pressure)
    else { return .never }
    let (station, chip) = (100 * qnh.accuracy * there, Self.chipError * here)
    return .now(
      KnownHeight(
        altitude: qnh.stationElevation, accuracy: (station * station + chip * chip).squareRoot(),
        relativeAltitude: place, age: age, witness: .elsewhere))
  }

  // The pressure at sea level that belongs to it, by the standard atmosphere: what was ever measured, with air 30 K from
  // standard on the way down.
  private func isWeather(_ pressure: Double, at elevation: KnownAltitude.Elevation) -> Bool {
    func seaLevel(_ height: Double) -> Double {
      StandardAtmosphere.qnh(stationPressure: pressure, elevation: height) / 100
    }
    let doubt = abs(elevation.elevation) * 0.1 + 2 * elevation.accuracy
    let range = KnownAltitude.pressures
    return seaLevel(elevation.elevation + doubt) >= range.lowerBound
      && seaLevel(elevation.elevation - doubt) <= range.upperBound
  }

  /// UTC of a moment by somebody who knows it; the receiver knows best.
  private func date(at time: Timestamp) -> Double? {
    (receiverDate ?? networkDate).map { $0.utc + time.seconds(since: $0.at) }
  }

  // MARK: Use

  /// Gives it to the filter. Returns whether it was a word to go by.
  private mutating func use(
    _ word: AltitudeEntry, _ height: KnownHeight, _ estimate: AltitudeEstimate,
    _ absolute: inout AbsoluteAltitudeEstimator
  ) -> Bool {
    var verdict = KnownAltitudeStatus.taken
    switch absolute.update(height, at: estimate.time) {
    case .unusable: return false
    case .contradictsReceiver(let difference):
      notes.append(
        "\(word) is \(Self.metres(difference)) from where the receiver is: the receiver is believed"
      )
      note(word, .contradictsReceiver)
      return false
    case .replaced(let difference):
      notes.append(
        "\(word) is \(Self.metres(difference)) from what was known before: the newest word is believed"
      )
      taken = []
    case .taken: break
    case .notBetter: verdict = .notBetter
    }
    if verdict == .taken {
      taken.removeAll { $0.kind == word.kind }
      taken.append(word)
      notes.append("\(word) is taken, at \(Self.hectopascals(estimate.pressure))")
    } else {
      notes.append("\(word) is no better than what is known already, and changes nothing")
    }
    // A word of an earlier run is as it was.
    guard [.waiting, .undated].contains(word.verdict) else { return true }
    var utc = word.utc
    if utc == nil { utc = date(at: estimate.time) }
    var pressure: Double?
    if case .elevation = word { pressure = estimate.pressure }
    note(word, verdict, pressure: pressure, utc: utc)
    return true
  }

  private mutating func stay(
    _ fixed: (altitude: Double, accuracy: Double), _ estimate: AltitudeEstimate,
    _ absolute: inout AbsoluteAltitudeEstimator
  ) {
    let height = KnownHeight(
      altitude: fixed.altitude, accuracy: fixed.accuracy,
      relativeAltitude: estimate.relativeAltitude, age: 0, witness: .here)
    switch absolute.update(height, at: estimate.time) {
    case .contradictsReceiver(let difference) where !hasSaidContradiction:
      hasSaidContradiction = true
      notes.append(
        "the board file's altitude is \(Self.metres(difference)) from where the receiver is: the receiver is believed"
      )
    case .replaced(let difference) where !hasSaidReplacement:
      hasSaidReplacement = true
      notes.append(
        "the board file's altitude is \(Self.metres(difference)) from what was known before: "
          + "the board file's altitude is believed")
    case .taken, .notBetter, .unusable, .contradictsReceiver, .replaced: break
    }
  }

  private mutating func note(
    _ word: AltitudeEntry, _ verdict: KnownAltitudeStatus, pressure: Double? = nil,
    utc: Double? = nil
  ) {
    changes.append(
      KnownAltitudeUpdate(
        word: word.kind, given: word.given, verdict: verdict, pressure: pressure,
        barometer: pressure == nil ? nil : barometer, utc: utc))
  }

  private static func metres(_ difference: Double) -> String {
    "\(Int(abs(difference).rounded())) m"
  }

  private static func hectopascals(_ pressure: Double) -> String {
    "\((pressure / 10).rounded() / 10) hPa"
  }
}

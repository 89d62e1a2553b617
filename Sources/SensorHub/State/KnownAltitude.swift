public import Foundation
import JSONReading

/// What a person has said of the board's height: an elevation, a QNH, or both.
public struct KnownAltitude: Sendable, Hashable {
  /// What a running program has made of it.
  public enum Verdict: String, Sendable, Hashable, Codable {
    /// No program has met it with a pressure yet.
    case waiting
    /// It is part of the altitude.
    case taken
    /// A receiver that had a fix was five sigma from it: the receiver was believed.
    case contradictsReceiver
    /// No weather has the pressure that was measured at that elevation.
    case contradictsPressure
    /// No pressure was measured within a minute of it.
    case tooLate
    /// What was known already was as good: it changed nothing.
    case notBetter
    /// The board file says the altitude of a board that stays.
    case boardStays
  }

  /// The elevation of the place where the board was.
  public struct Elevation: Sendable, Hashable, Codable {
    /// Metres above mean sea level.
    public var elevation: Double
    /// One sigma of it, metres.
    public var accuracy: Double
    /// The system's clock when it was given, seconds since 1970: what tells it from others.
    public internal(set) var given: Double
    /// UTC of it, seconds since 1970, where the clock was set by somebody who knows.
    public internal(set) var utc: Double?
    /// What the barometer measured there, pascals.
    public internal(set) var pressure: Double?
    /// Which barometer that was.
    var barometer: String?
    /// What became of it.
    public internal(set) var verdict = Verdict.waiting
  }

  /// The pressure at sea level by a station that gives it.
  public struct QNH: Sendable, Hashable, Codable {
    /// Hectopascals, as it was given.
    public var qnh: Double
    /// One sigma of it, hectopascals.
    public var accuracy: Double
    /// How high the station lies, metres above mean sea level.
    public var stationElevation: Double
    /// How old it was when it was given, seconds.
    public var age: Double
    /// The system's clock when it was given, seconds since 1970.
    public internal(set) var given: Double
    /// UTC of the moment when it was given, where the clock was set by somebody who knows.
    public internal(set) var utc: Double?
    /// What became of it.
    public internal(set) var verdict = Verdict.waiting
  }

  /// The newest elevation.
  public internal(set) var elevation: Elevation?
  /// The newest QNH.
  public internal(set) var qnh: QNH?

  /// Makes what was said; nothing was, by default.
  public init(elevation: Elevation? = nil, qnh: QNH? = nil) {
    self.elevation = elevation
    self.qnh = qnh
  }
}

/// A height or a pressure that no place on earth has, or that no barometer here measures.
public struct KnownAltitudeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The message, in one line.
  public let description: String
}

/// The system's clock, and whether it says the date.
public struct ClockReading: Sendable, Hashable {
  /// Seconds since 1970.
  public var seconds: Double
  /// Whether it was set by somebody who knows: `BusProvider.isWallTimeSet`.
  public var isSet: Bool

  /// Makes a reading.
  public init(seconds: Double, isSet: Bool) {
    self.seconds = seconds
    self.isSet = isSet
  }
}

extension KnownAltitude {
  /// What an elevation may be, metres: 9000 has 308 hPa, and barometers go down to 300; no land is below -430.
  public static let elevations = -500.0...9_000
  /// What one sigma of an elevation may be, metres.
  public static let accuracies = 0.1...500.0
  /// What a QNH may be, hectopascals: about the lowest and the highest that were ever measured (870 hPa in typhoon Tip,
  /// 1979; 1084 hPa at Agata, Siberia, 1968; WMO's archive of extremes).
  public static let pressures = 870.0...1_085
  /// What one sigma of a QNH may be, hectopascals.
  public static let pressureAccuracies = 0.1...20.0
  /// How high a station may lie, metres: the highest airport has 4411.
  public static let stationElevations = -500.0...5_500
  /// How old a QNH may be when it is given, seconds: aerodromes give one at least every hour.
  public static let ages = 0.0...10_800

  /// Weather has forgotten what is older, seconds: a week makes 85 m, as much as the standard atmosphere is off.
  public static let longestAge = 7 * 86_400.0
  /// Clocks of one board may differ by this, seconds.
  public static let clockSlack = 60.0

  /// One sigma of a QNH, hectopascals, where nothing is said: 0.3 for what is lost by whole hectopascals, 0.5 for the
  /// station's barometer (ICAO Annex 3, attachment A, wants no more), and 0.7 for its distance: what 50 km make of a wind
  /// of 10 m/s at 50 degrees of latitude. All chosen of what those bounds leave open.
  public static let usualPressureAccuracy = 0.9

  /// The QNH in hectopascals as it was before it was rounded, on the average: METAR gives whole hectopascals, rounded down
  /// (ICAO Annex 3, appendix 3; WMO-No. 306, FM 15).
  public static func unrounded(_ qnh: Double) -> Double {
    qnh == qnh.rounded() ? qnh + 0.5 : qnh
  }

  static func check(_ value: Double, _ range: ClosedRange<Double>, _ what: String, _ unit: String)
    throws(KnownAltitudeError)
  {
    guard !range.contains(value) else { return }
    func shown(_ number: Double) -> String {
      number == number.rounded() && abs(number) < 1e9 ? "\(Int(number))" : "\(number)"
    }
    throw KnownAltitudeError(
      description: "\(what) is \(shown(range.lowerBound)) to \(shown(range.upperBound)) \(unit), "
        + "not \(shown(value))")
  }
}

extension KnownAltitude.Elevation {
  /// An elevation that is given now; throws for what no place has, and no barometer measures.
  public init(_ elevation: Double, accuracy: Double, now: ClockReading) throws(KnownAltitudeError) {
    try KnownAltitude.check(elevation, KnownAltitude.elevations, "an elevation", "m")
    try KnownAltitude.check(accuracy, KnownAltitude.accuracies, "an elevation's accuracy", "m")
    self.init(
      elevation: elevation, accuracy: accuracy, given: now.seconds,
      utc: now.isSet ? now.seconds : nil)
  }

  fileprivate var problem: KnownAltitudeError? {
    do throws(KnownAltitudeError) {
      _ = try Self(elevation, accuracy: accuracy, now: ClockReading(seconds: given, isSet: true))
      try KnownAltitude.check(pressure ?? 100_000, 30_000...120_000, "a pressure", "Pa")
    } catch { return error }
    return given.isFinite && (utc ?? 0).isFinite ? nil : .time
  }
}

extension KnownAltitude.QNH {
  /// A QNH that is given now; throws for what was never measured anywhere.
  public init(
    _ qnh: Double, accuracy: Double = KnownAltitude.usualPressureAccuracy,
    stationElevation: Double = 0, age: Double = 0, now: ClockReading
  ) throws(KnownAltitudeError) {
    // 870 hPa are 25.7 inches.
    if (25.6...32.1).contains(qnh) {
      throw KnownAltitudeError(
        description: "a QNH is given in hectopascals: \(qnh) inHg are "
          + "\((qnh * 338.6389).rounded() / 10) hPa")
    }
    try KnownAltitude.check(qnh, KnownAltitude.pressures, "a QNH", "hPa")
    try KnownAltitude.check(
      accuracy, KnownAltitude.pressureAccuracies, "a QNH's accuracy", "hPa")
    try KnownAltitude.check(
      stationElevation, KnownAltitude.stationElevations, "a station's elevation", "m")
    try KnownAltitude.check(age, KnownAltitude.ages, "a QNH's age", "s")
    self.init(
      qnh: qnh, accuracy: accuracy, stationElevation: stationElevation, age: age,
      given: now.seconds, utc: now.isSet ? now.seconds : nil)
  }

  fileprivate var problem: KnownAltitudeError? {
    do throws(KnownAltitudeError) {
      _ = try Self(
        qnh, accuracy: accuracy, stationElevation: stationElevation, age: age,
        now: ClockReading(seconds: given, isSet: true))
    } catch { return error }
    return given.isFinite && (utc ?? 0).isFinite ? nil : .time
  }
}

extension KnownAltitudeError {
  fileprivate static let time = KnownAltitudeError(description: "its time is none")
}

/// Where a machine keeps what it was told of its height: `altitude.json` in the state folder, whole at every moment.
public struct KnownAltitudeStore: Sendable {
  /// What was found in the file.
  public typealias Finding = StoredFinding<KnownAltitude>

  /// What a running program has made of a word, told from others by when it was given.
  struct Change: Sendable, Hashable {
    enum Word: Sendable, Hashable {
      case elevation
      case qnh
    }

    var word: Word
    var given: Double
    var verdict: KnownAltitude.Verdict
    var pressure: Double?
    var barometer: String?
    var utc: Double?
  }

  /// The file.
  public let file: URL
  private let folder: URL
  private var patience = FolderLock.patience

  init(folder: URL) {
    self.folder = folder
    file = folder.appending(path: "altitude.json")
  }

  /// The same for a hub, which nothing may keep for long.
  var forHub: KnownAltitudeStore {
    var store = self
    store.patience = FolderLock.hubPatience
    return store
  }

  /// What this machine was told.
  public var current: Finding { Self.finding(StateFile.read(file.path)) }

  /// Keeps an elevation in the place of the one before; a running program takes it within two seconds.
  public func set(_ elevation: KnownAltitude.Elevation) throws {
    try StateFile.makeFolder(folder.path)
    try change { $0.elevation = elevation }
  }

  /// Keeps a QNH in the place of the one before.
  public func set(_ qnh: KnownAltitude.QNH) throws {
    try StateFile.makeFolder(folder.path)
    try change { $0.qnh = qnh }
  }

  /// Forgets both.
  public func clear() throws {
    try StateFile.makeFolder(folder.path)
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    StateFile.remove(file)
    if case .missing = StateFile.read(file.path) { return }
    throw FileProblem(file.path, "it cannot be removed")
  }

  /// Keeps what a program has made of a word that is still there.
  func note(_ change: Change) throws {
    // Where nothing is kept there is no word, and no folder is made.
    if case .none = current { return }
    try self.change { known in
      switch change.word {
      case .elevation:
        guard var elevation = known.elevation, elevation.given == change.given else { return }
        elevation.verdict = change.verdict
        elevation.pressure = change.pressure ?? elevation.pressure
        elevation.barometer = change.barometer ?? elevation.barometer
        elevation.utc = change.utc ?? elevation.utc
        known.elevation = elevation
      case .qnh:
        guard var qnh = known.qnh, qnh.given == change.given else { return }
        qnh.verdict = change.verdict
        qnh.utc = change.utc ?? qnh.utc
        known.qnh = qnh
      }
    }
  }

  // Under the folder's lock: of a person's word and a program's verdict on the one before neither is lost.
  private func change(_ body: (inout KnownAltitude) -> Void) throws {
    let lock = try FolderLock(folder, patience: patience)
    defer { withExtendedLifetime(lock) {} }
    var known = KnownAltitude()
    if case .record(let before) = current { known = before }
    let before = known
    body(&known)
    guard known != before else { return }
    StateFolder(folder).close()
    try StateFile.write(try known.encoded(), to: file)
  }

  static func finding(_ content: StateFile.Content) -> Finding {
    switch content {
    case .missing: return .none
    case .unreadable(let why): return .unusable(why)
    case .bytes(let bytes):
      do {
        return .record(try KnownAltitude(bytes))
      } catch let error as KnownAltitudeError {
        return .unusable(error.description)
      } catch {
        return .unusable("it is damaged")
      }
    }
  }
}

extension KnownAltitude {
  private static let schema = 1

  private struct Stored: Codable {
    var schema: Int
    var elevation: Elevation?
    var qnh: QNH?
  }

  fileprivate init(_ json: [UInt8]) throws {
    let stored = try JSONDocument.decode(Stored.self, from: json)
    guard stored.schema == Self.schema else {
      throw KnownAltitudeError(description: "schema \(stored.schema) is another version's")
    }
    if let problem = stored.elevation?.problem ?? stored.qnh?.problem { throw problem }
    self.init(elevation: stored.elevation, qnh: stored.qnh)
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return Array(
      try encoder.encode(Stored(schema: Self.schema, elevation: elevation, qnh: qnh)))
  }
}

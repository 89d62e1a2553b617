// A receiver that surveys its place, or was given it, and then solves for time alone (u-blox F9 HPG interface description UBX-21022436,
// CFG-TMODE and NAV-SVIN; Unicore Reference Commands Manual For N4 High Precision Products, MODE BASE).

import LinearAlgebra

/// What a receiver was told of its base mode.
struct BaseMode: Sendable, Hashable {
  /// The mode by the numbers of CFG-TMODE-MODE.
  enum Mode: UInt64, Sendable, Hashable { case off, survey, fixed }

  var mode = Mode.off
  /// The least time of a survey, seconds, and the greatest error of its mean, tenths of a millimeter.
  var leastTime: UInt64 = 60
  var accuracyLimit: UInt64 = 50_000
  /// Whether a survey ends with its time, whatever its mean is worth: Unicore's.
  var endsWithTime = false
  /// Whether a place is given in geodetic coordinates: CFG-TMODE-POS_TYPE.
  var isGeodetic = false
  /// 1e-7 degrees and centimeters, and hundredths of each; latitude, longitude, height above the ellipsoid.
  var place = SIMD3<Int64>.zero
  var hundredths = SIMD3<Int64>.zero
  var placeAccuracy: UInt64 = 0

  /// Takes the value of a key of CFG-TMODE; false for one that it does not have, or that is out of range.
  mutating func set(_ key: UInt32, _ value: UInt64) -> Bool {
    switch key {
    case 0x2003_0001:
      guard let mode = Mode(rawValue: value) else { return false }
      self.mode = mode
    case 0x2003_0002:
      guard value <= 1 else { return false }
      isGeodetic = value == 1
    case 0x4003_0009...0x4003_000B:
      place[Int(key - 0x4003_0009)] = Int64(Int32(truncatingIfNeeded: value))
    case 0x2003_000C...0x2003_000E:
      let rest = Int64(Int8(truncatingIfNeeded: value))
      guard abs(rest) <= 99 else { return false }
      hundredths[Int(key - 0x2003_000C)] = rest
    case 0x4003_000F: placeAccuracy = value
    case 0x4003_0010: leastTime = value
    case 0x4003_0011: accuracyLimit = value
    default: return false
    }
    return true
  }

  /// The value of a key.
  func value(_ key: UInt32) -> UInt64 {
    switch key {
    case 0x2003_0001: mode.rawValue
    case 0x2003_0002: isGeodetic ? 1 : 0
    case 0x4003_0009...0x4003_000B:
      UInt64(UInt32(truncatingIfNeeded: place[Int(key - 0x4003_0009)]))
    case 0x2003_000C...0x2003_000E:
      UInt64(UInt8(truncatingIfNeeded: hundredths[Int(key - 0x2003_000C)]))
    case 0x4003_000F: placeAccuracy
    case 0x4003_0010: leastTime
    case 0x4003_0011: accuracyLimit
    default: 0
    }
  }

  /// The place that it was given: degrees, degrees, meters above the ellipsoid.
  var given: SIMD3<Double> {
    SIMD3(
      Double(place.x * 100 + hundredths.x) * 1e-9, Double(place.y * 100 + hundredths.y) * 1e-9,
      Double(place.z * 100 + hundredths.z) * 1e-4)
  }
}

/// What a receiver does apart from its manual, and how often it was told to be a base station.
struct BaseConduct: Sendable {
  var commands = 0
  /// Whether it holds the place that it was given; without that it acknowledges the command and measures on.
  var holdsPlace = true
  /// Whether its positions come from a simulator: quality 8 and mode S of NMEA 0183.
  var isSimulator = false
}

/// How far a survey has come.
struct SimulatedSurvey: Sendable, Hashable {
  private(set) var observations = 0
  /// The time that the survey has lasted, in seconds.
  private(set) var duration = 0.0
  /// The mean: degrees, degrees, meters above the ellipsoid.
  private(set) var mean = SIMD3<Double>.zero
  private(set) var isOver = false

  /// The error of the mean, tenths of a millimeter: that of one position, 3 m, which grows less with their number, and 0.3 m that all have.
  var accuracy: UInt64 {
    observations == 0 ? 0xFFFF_FFFF : UInt64(3_000 + 30_000 / Double(observations).squareRoot())
  }

  /// Takes a position of an epoch that lasts so many seconds.
  mutating func take(_ s: ReceiverSolution, seconds: Double, _ mode: BaseMode) {
    guard !isOver else { return }
    observations += 1
    duration += seconds
    let place = SIMD3(s.latitude, s.longitude, s.altitude + s.geoidSeparation)
    mean += (place - mean) / Double(observations)
    isOver =
      duration >= Double(mode.leastTime) && (mode.endsWithTime || accuracy <= mode.accuracyLimit)
  }
}

extension ReceiverTwin {
  /// What becomes of an epoch of a base station: a survey goes on with it, or it is of the place that the receiver holds.
  mutating func applyBaseMode(to s: inout ReceiverSolution) {
    let mode = configuration.baseMode
    s.isSimulator = baseConduct.isSimulator
    guard s.hasFix, mode.mode != .off, baseConduct.holdsPlace || mode.mode != .fixed else { return }
    if mode.mode == .survey, !survey.isOver {
      survey.take(s, seconds: Double(configuration.epochPeriod) / 1_000, mode)
      return
    }
    let place = mode.mode == .fixed ? mode.given : survey.mean
    s.isAtFixedPlace = true
    (s.latitude, s.longitude) = (place.x, place.y)
    s.altitude = place.z - s.geoidSeparation
    (s.velocityNorth, s.velocityEast, s.velocityDown, s.speed) = (0, 0, 0, 0)
  }

  /// MODE BASE: a time and a distance, or a place in the earth-centred frame. The geodetic form, whose height is above the sea, this
  /// twin does not take.
  mutating func setBase(_ words: [String]) -> Bool {
    var next = configuration
    next.baseMode = BaseMode()
    var words = words[...]
    // The number of the station, which may be left out.
    if let number = words.first.flatMap({ Int($0) }),
      words.count == 1 || words.count == 4 || words[1] == "TIME"
    {
      guard (0...4_095).contains(number) else { return false }
      words = words.dropFirst()
    }
    next.baseMode.endsWithTime = true
    switch (words.first, words.count) {
    case (nil, _): next.baseMode.mode = .survey
    case ("TIME"?, 2...4):
      guard let time = UInt64(words[words.startIndex + 1]), time <= 3_600 else { return false }
      if words.count > 2 {
        guard let distance = Double(words[words.startIndex + 2]), (0...10).contains(distance) else {
          return false
        }
      }
      (next.baseMode.mode, next.baseMode.leastTime) = (.survey, time)
    case (_, 3):
      let values = words.compactMap { Double($0) }
      guard values.count == 3, abs(values[0]) > 90, abs(values[1]) > 180, abs(values[2]) > 30_000,
        let place = Self.geodetic(SIMD3(values[0], values[1], values[2]))
      else { return false }
      next.baseMode.mode = .fixed
      next.baseMode.place = place
    default: return false
    }
    baseConduct.commands += 1
    adopt(next)
    return true
  }

  /// Degrees (1e-7) and centimeters of a place in the earth-centred frame, by iteration; `nil` far from the earth's surface.
  private static func geodetic(_ p: SIMD3<Double>) -> SIMD3<Int64>? {
    let (semiMajor, flattening) = (6_378_137.0, 1 / 298.257_223_563)
    let squared = flattening * (2 - flattening)
    let across = (p.x * p.x + p.y * p.y).squareRoot()
    guard (6_300_000...6_500_000).contains((across * across + p.z * p.z).squareRoot()) else {
      return nil
    }
    var (latitude, height) = (atan2(p.z, across * (1 - squared)), 0.0)
    for _ in 0..<10 {
      let normal = semiMajor / (1 - squared * sin(latitude) * sin(latitude)).squareRoot()
      height = across * cos(latitude) + p.z * sin(latitude) - semiMajor * semiMajor / normal
      latitude = atan2(p.z, across * (1 - squared * normal / (normal + height)))
    }
    let degrees = 180 / Double.pi
    return SIMD3(
      Int64((latitude * degrees * 1e7).rounded()),
      Int64((atan2(p.y, p.x) * degrees * 1e7).rounded()), Int64((height * 100).rounded()))
  }
}

extension MessageBuilder {
  /// Writes NAV-SVIN, the progress of the survey, in 40 bytes.
  mutating func writeSurvey(_ s: ReceiverSolution, _ survey: SimulatedSurvey, _ mode: BaseMode) {
    let isSurvey = mode.mode == .survey && survey.observations > 0
    beginUBX(0x01, 0x3B)
    append(0, bytes: 4)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    append(isSurvey ? Int64(survey.duration) : 0, bytes: 4)
    // Tenths of a millimeter: centimeters, and what is left of each.
    var rest: [Int64] = []
    let mean = Self.earthCentred(survey.mean)
    for axis in 0..<3 {
      let total = isSurvey ? Int64((mean[axis] * 1e4).rounded()) : 0
      append(total / 100, bytes: 4)
      rest.append(total % 100)
    }
    for value in rest { append(value, bytes: 1) }
    append(0, bytes: 1)
    append(isSurvey ? Int64(survey.accuracy) : 0, bytes: 4)
    append(isSurvey ? Int64(survey.observations) : 0, bytes: 4)
    append(isSurvey && survey.isOver ? 1 : 0, bytes: 1)
    append(mode.mode == .survey && !survey.isOver ? 1 : 0, bytes: 1)
    append(0, bytes: 2)
    endUBX()
  }

  /// A place (degrees, degrees, meters above the ellipsoid) in the earth-centred frame.
  private static func earthCentred(_ place: SIMD3<Double>) -> SIMD3<Double> {
    let (phi, lambda) = (place.x * Double.pi / 180, place.y * Double.pi / 180)
    let (semiMajor, flattening) = (6_378_137.0, 1 / 298.257_223_563)
    let squared = flattening * (2 - flattening)
    let normal = semiMajor / (1 - squared * sin(phi) * sin(phi)).squareRoot()
    return SIMD3(
      (normal + place.z) * cos(phi) * cos(lambda), (normal + place.z) * cos(phi) * sin(lambda),
      (normal * (1 - squared) + place.z) * sin(phi))
  }
}

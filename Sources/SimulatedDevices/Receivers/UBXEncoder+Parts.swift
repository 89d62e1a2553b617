// Messages that hold a part of an epoch each, as u-blox receivers have them of old (u-blox 6 receiver description,
// GPS.G6-SW-10018).

import LinearAlgebra

/// One of them, by its place in a configuration.
enum SimulatedPart: Int, Sendable, CaseIterable {
  case geodeticPosition
  case status
  case dilution
  case solution
  case velocity
  case utc
  case leapSecond
  case channels

  /// The identity in class 0x01. A receiver sends them in this order.
  var identity: UInt8 {
    switch self {
    case .geodeticPosition: 0x02
    case .status: 0x03
    case .dilution: 0x04
    case .solution: 0x06
    case .velocity: 0x12
    case .utc: 0x21
    case .leapSecond: 0x26
    case .channels: 0x30
    }
  }

  init?(identity: UInt8) {
    guard let part = Self.allCases.first(where: { $0.identity == identity }) else { return nil }
    self = part
  }
}

extension MessageBuilder {
  mutating func write(_ part: SimulatedPart, _ s: ReceiverSolution, _ condition: SimulatedCondition)
  {
    beginUBX(0x01, part.identity)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    switch part {
    case .geodeticPosition: writeGeodetic(s)
    case .status: writeStatus(s, condition)
    case .dilution: writeDilution(s)
    case .solution: writeSolution(s)
    case .velocity: writeVelocity(s)
    case .utc: writeUTC(s)
    case .leapSecond: writeLeapSecond(s, condition)
    case .channels: writeChannels(s)
    }
    endUBX()
  }

  private func scaled(_ value: Double, _ scale: Double) -> Int64 {
    Int64((value * scale).rounded())
  }

  /// NAV-POSLLH, 28 bytes: 1e-7 degrees and millimetres.
  private mutating func writeGeodetic(_ s: ReceiverSolution) {
    append(s.hasFix ? scaled(s.longitude, 1e7) : 0, bytes: 4)
    append(s.hasFix ? scaled(s.latitude, 1e7) : 0, bytes: 4)
    append(s.hasFix ? scaled(s.altitude + s.geoidSeparation, 1000) : 0, bytes: 4)
    append(s.hasFix ? scaled(s.altitude, 1000) : -17_000, bytes: 4)
    append(s.hasFix ? scaled(s.horizontalAccuracy, 1000) : 0xFFFF_FFFF, bytes: 4)
    append(s.hasFix ? scaled(s.verticalAccuracy, 1000) : 0xFFFF_FFFF, bytes: 4)
  }

  /// NAV-DOP, 18 bytes: geometric, position, time, vertical, horizontal, northing, easting, in hundredths.
  private mutating func writeDilution(_ s: ReceiverSolution) {
    let values: [Int64] =
      s.hasFix ? [165, 144, 80, 120, 80, 60, 53] : Array(repeating: 9999, count: 7)
    for value in values { append(value, bytes: 2) }
  }

  /// NAV-SOL, 52 bytes: centimetres, and centimetres a second, in the earth-centred frame.
  private mutating func writeSolution(_ s: ReceiverSolution) {
    append(0, bytes: 4)
    append(s.knowsTime ? Int64(s.time.week) : 0, bytes: 2)
    // 3D; GPSfixOK, and that week and time of week are known.
    append(s.hasFix ? 3 : 0, bytes: 1)
    append((s.hasFix ? 0x01 : 0) | (s.knowsTime ? 0x0C : 0), bytes: 1)
    let (position, velocity) = s.earthCentred
    for axis in 0..<3 { append(s.hasFix ? scaled(position[axis], 100) : 0, bytes: 4) }
    let error =
      (s.horizontalAccuracy * s.horizontalAccuracy + s.verticalAccuracy * s.verticalAccuracy)
      .squareRoot()
    append(s.hasFix ? scaled(error, 100) : 0xFFFF_FFFF, bytes: 4)
    for axis in 0..<3 { append(s.hasFix ? scaled(velocity[axis], 100) : 0, bytes: 4) }
    append(scaled(s.hasFix ? s.speedAccuracy : 20, 100), bytes: 4)
    append(s.hasFix ? 144 : 9999, bytes: 2)
    append(0, bytes: 1)
    append(Int64(s.satellites), bytes: 1)
    append(0, bytes: 4)
  }

  /// NAV-VELNED, 36 bytes: centimetres a second, 1e-5 degrees.
  private mutating func writeVelocity(_ s: ReceiverSolution) {
    let v = s.hasFix ? (s.velocityNorth, s.velocityEast, s.velocityDown) : (0, 0, 0)
    for value in [v.0, v.1, v.2] { append(scaled(value, 100), bytes: 4) }
    append(scaled((v.0 * v.0 + v.1 * v.1 + v.2 * v.2).squareRoot(), 100), bytes: 4)
    append(scaled(s.hasFix ? s.speed : 0, 100), bytes: 4)
    append(scaled(s.hasFix ? s.course : 0, 1e5), bytes: 4)
    append(scaled(s.hasFix ? s.speedAccuracy : 20, 100), bytes: 4)
    append(scaled(s.hasFix ? s.courseAccuracy : 180, 1e5), bytes: 4)
  }

  /// NAV-TIMEUTC, 20 bytes.
  private mutating func writeUTC(_ s: ReceiverSolution) {
    append(s.knowsTime ? 25 : 0xFFFF_FFFF, bytes: 4)
    append(Int64(s.time.millisecond) * 1_000_000, bytes: 4)
    append(Int64(s.knowsTime ? s.time.year : 2010), bytes: 2)
    append(Int64(s.knowsTime ? s.time.month : 1), bytes: 1)
    append(Int64(s.knowsTime ? s.time.day : 1), bytes: 1)
    append(Int64(s.time.hour), bytes: 1)
    append(Int64(s.time.minute), bytes: 1)
    append(Int64(s.time.second), bytes: 1)
    // Time of week, week and leap seconds are known.
    append(s.knowsTime ? 0x07 : 0, bytes: 1)
  }

  /// NAV-SVINFO, 8 bytes and 12 a channel, of the satellites that a receiver of that time can hear: GPS and SBAS.
  private mutating func writeChannels(_ s: ReceiverSolution) {
    let heard = SimulatedSatellite.all.enumerated().filter { $0.element.system <= 1 }
    append(Int64(heard.count), bytes: 1)
    // u-blox 6.
    append(2, bytes: 1)
    append(0, bytes: 2)
    for (channel, (place, satellite)) in heard.enumerated() {
      let isUsed = place < s.satellites
      let strength = s.hasFix || isUsed ? satellite.strength : 0
      append(Int64(channel), bytes: 1)
      append(Int64(satellite.number), bytes: 1)
      // Used, orbit known, ephemeris; code and carrier locked (7), searched for (1).
      append(isUsed ? 0x0D : 0, bytes: 1)
      append(strength > 0 ? 7 : 1, bytes: 1)
      append(Int64(strength), bytes: 1)
      append(Int64(satellite.elevation), bytes: 1)
      append(Int64(satellite.azimuth), bytes: 2)
      append(0, bytes: 4)
    }
  }
}

extension CivilTime {
  /// GPS weeks since 1980-01-06 of a date in UTC, as `timeOfWeek` counts in them.
  var week: Int {
    let (y, m) = month > 2 ? (year, month) : (year - 1, month + 12)
    // Days since 1970-01-01 by the civil calendar (years that begin in March).
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m - 3) + 2) / 5 + day - 1 - 719_468
    let seconds = (days - 3_657) * 86_400 + hour * 3_600 + minute * 60 + second + 18
    return seconds / 604_800
  }
}

extension ReceiverSolution {
  /// Position and velocity in the earth-centred frame, metres and m/s (WGS 84).
  fileprivate var earthCentred: (position: Vector3, velocity: Vector3) {
    let (phi, lambda) = (latitude * Double.pi / 180, longitude * Double.pi / 180)
    let (semiMajor, flattening) = (6_378_137.0, 1 / 298.257_223_563)
    let squared = flattening * (2 - flattening)
    let normal = semiMajor / (1 - squared * sin(phi) * sin(phi)).squareRoot()
    let height = altitude + geoidSeparation
    let position = Vector3(
      (normal + height) * cos(phi) * cos(lambda), (normal + height) * cos(phi) * sin(lambda),
      (normal * (1 - squared) + height) * sin(phi))
    let outward = -velocityNorth * sin(phi) - velocityDown * cos(phi)
    let velocity = Vector3(
      outward * cos(lambda) - velocityEast * sin(lambda),
      outward * sin(lambda) + velocityEast * cos(lambda),
      velocityNorth * cos(phi) - velocityDown * sin(phi))
    return (position, velocity)
  }
}

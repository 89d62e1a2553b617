// The sky above every simulated receiver.

/// A satellite as a receiver in central Europe may hear it. They stand still: in the minutes of a simulation a real one
/// moves by a degree or two.
struct SimulatedSatellite: Sendable, Hashable {
  /// u-blox's `gnssId` and `svId` (UBX-13003221, annex A).
  let system: UInt8
  let number: UInt8
  /// Degrees above the horizon and clockwise from north; an elevation of -91 where the almanac has not come yet.
  let elevation: Int8
  let azimuth: Int16
  /// dB-Hz under an open sky; 0 for one that is looked for and not heard.
  let strength: UInt8

  private init(
    _ system: UInt8, _ number: UInt8, _ elevation: Int8, _ azimuth: Int16, _ strength: UInt8
  ) {
    self.system = system
    self.number = number
    self.elevation = elevation
    self.azimuth = azimuth
    self.strength = strength
  }

  /// All of them, those first that a solution takes first.
  static let all = [
    // GPS, GLONASS, Galileo, BeiDou: the dozen that a solution rests on.
    SimulatedSatellite(0, 7, 71, 285, 47), SimulatedSatellite(2, 8, 66, 250, 46),
    SimulatedSatellite(0, 30, 58, 210, 45), SimulatedSatellite(6, 4, 62, 20, 43),
    SimulatedSatellite(0, 20, 48, 60, 44), SimulatedSatellite(2, 2, 40, 150, 43),
    SimulatedSatellite(0, 5, 35, 120, 41), SimulatedSatellite(3, 23, 33, 80, 40),
    SimulatedSatellite(6, 3, 30, 330, 40), SimulatedSatellite(2, 26, 25, 300, 39),
    SimulatedSatellite(0, 13, 22, 45, 38), SimulatedSatellite(0, 15, 14, 190, 36),
    // Heard, and not used: low, or an augmentation.
    SimulatedSatellite(1, 136, 30, 190, 36), SimulatedSatellite(1, 123, 29, 157, 35),
    SimulatedSatellite(3, 36, 17, 215, 31), SimulatedSatellite(6, 14, 11, 65, 27),
    SimulatedSatellite(0, 18, 6, 350, 24),
    // Looked for.
    SimulatedSatellite(0, 27, 9, 255, 0), SimulatedSatellite(2, 31, 4, 20, 0),
    SimulatedSatellite(3, 14, -91, 0, 0),
  ]
}

extension MessageBuilder {
  /// UBX-NAV-SAT, 8 bytes and 12 a satellite (UBX-13003221, UBX-NAV-SAT). Those are used that NAV-PVT counts; without a
  /// fix no others are heard.
  mutating func writeSatellites(_ s: ReceiverSolution) {
    beginUBX(0x01, 0x35)
    append(Int64(s.time.timeOfWeek), bytes: 4)
    append(1, bytes: 1)
    append(Int64(SimulatedSatellite.all.count), bytes: 1)
    append(0, bytes: 2)
    for (place, satellite) in SimulatedSatellite.all.enumerated() {
      let isUsed = place < s.satellites
      let strength = s.hasFix || isUsed ? satellite.strength : 0
      append(Int64(satellite.system), bytes: 1)
      append(Int64(satellite.number), bytes: 1)
      append(Int64(strength), bytes: 1)
      append(Int64(satellite.elevation), bytes: 1)
      append(Int64(satellite.azimuth), bytes: 2)
      // The residual of its range.
      append(0, bytes: 2)
      let flags: Int64
      if isUsed {
        // Carrier locked (quality 7), svUsed, healthy, ephemeris.
        flags = 0x091F
      } else if strength > 0 {
        // Code locked (quality 4), healthy, almanac.
        flags = 0x1214
      } else {
        // Searched for (quality 1).
        flags = 0x0001
      }
      append(flags, bytes: 4)
    }
    endUBX()
  }
}

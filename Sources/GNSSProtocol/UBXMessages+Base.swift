// What makes a u-blox receiver a base station at a fixed place (u-blox F9 HPG interface description UBX-21022436, CFG-TMODE; the
// ZED-F9P's integration manual UBX-18010802, "Stationary base operation").

package import SensorTypes

extension UBXMessages {
  private static let modeKey: UInt32 = 0x2003_0001

  /// The mode of a base station, by keys: the survey of its place, or a place that is known.
  package static func base(_ place: BasePlace) -> [UInt8] {
    switch place {
    case .survey(let seconds, let accuracy):
      // CFG-TMODE-MODE survey-in, -SVIN_MIN_DUR in seconds, -SVIN_ACC_LIMIT in tenths of a millimeter.
      return valset([
        (modeKey, 1), (0x4003_0010, unsigned(seconds)), (0x4003_0011, unsigned(accuracy * 1e4)),
      ])
    case .known(let latitude, let longitude, let height, let accuracy):
      // CFG-TMODE-MODE fixed, -POS_TYPE geodetic; -LAT, -LON (1e-7 degrees) and -HEIGHT (cm) with hundredths of each.
      var values: [(key: UInt32, value: UInt32)] = [(modeKey, 2), (0x2003_0002, 1)]
      for (number, value) in [latitude * 1e9, longitude * 1e9, height * 1e4].enumerated() {
        let (whole, hundredths) = signed(value).quotientAndRemainder(dividingBy: 100)
        values.append((0x4003_0009 + UInt32(number), UInt32(truncatingIfNeeded: whole)))
        values.append((0x2003_000C + UInt32(number), UInt32(truncatingIfNeeded: hundredths)))
      }
      // CFG-TMODE-FIXED_POS_ACC, in tenths of a millimeter.
      if let accuracy { values.append((0x4003_000F, unsigned(accuracy * 1e4))) }
      return valset(values)
    }
  }

  /// Asks for NAV-SVIN, the progress of the survey, on a port (key CFG-MSGOUT-UBX_NAV_SVIN).
  package static func surveyReports(on port: UBXPortID, every: UInt8) -> [UInt8] {
    valset([(0x2091_0088 + UInt32(port.index), UInt32(every))])
  }

  private static func unsigned(_ value: Double) -> UInt32 {
    UInt32(max(0, min(Double(UInt32.max), value.rounded())))
  }

  private static func signed(_ value: Double) -> Int64 {
    Int64(max(-2e11, min(2e11, value.rounded())))
  }
}

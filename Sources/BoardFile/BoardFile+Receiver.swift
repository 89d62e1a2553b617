// What a board file says of receivers alone.

import SensorDrivers
import SensorTypes

extension BoardFile {
  static func dynamicModel(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> DynamicModel? {
    guard let value = try map.string("dynamicModel") else { return nil }
    try demandConfigurable(chip, "dynamicModel", map)
    guard let model = DynamicModel(rawValue: value) else {
      let known = DynamicModel.allCases.map(\.rawValue).joined(separator: ", ")
      throw map.error("dynamicModel", "unknown dynamic model '\(value)'; known are \(known)")
    }
    return model
  }

  static func talker(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> String? {
    guard let talker = try map.string("talker") else { return nil }
    guard chip.kind == .receiver, chip.name != "gpsd" else {
      throw map.error(
        "talker", "'talker' goes with a receiver that sends NMEA, not with \(chip.name)")
    }
    guard talker.utf8.count == 2, talker.utf8.allSatisfy({ (65...90).contains($0) }) else {
      throw map.error(
        "talker",
        "a talker is the two letters behind the $ of a sentence: GP, GN, II; not '\(talker)'")
    }
    return talker
  }

  static func antennas(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> Double? {
    guard let angle = try map.number("antennas", in: -180...360, unit: "degrees") else {
      return nil
    }
    guard chip.kind == .receiver, chip.name != "gpsd" else {
      throw map.error(
        "antennas", "'antennas' goes with a receiver that gives a heading, not with \(chip.name)")
    }
    return angle * .pi / 180
  }

  static func sleeps(
    _ map: YAMLMapping, of chip: ChipDescription
  ) throws(BoardFileError) -> Bool {
    guard let value = try map.boolean("standby") else { return false }
    try demandConfigurable(chip, "standby", map)
    return value
  }

  static func demandConfigurable(
    _ chip: ChipDescription, _ key: String, _ map: YAMLMapping
  ) throws(BoardFileError) {
    guard ["u-blox", "GNSS"].contains(chip.name) else {
      throw map.error(key, "'\(key)' goes with a receiver that is configured: u-blox or GNSS")
    }
  }
}

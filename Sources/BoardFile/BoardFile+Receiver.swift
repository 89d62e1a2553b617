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
    if value, map.has("time") {
      throw map.error(
        "standby",
        "a receiver whose time goes to chrony never sleeps: take 'standby' or 'time' out")
    }
    return value
  }

  /// The rates of the line that receivers have, in bits per second.
  private static let baudRates = [
    300, 600, 1_200, 1_800, 2_400, 4_800, 9_600, 14_400, 19_200, 28_800, 38_400, 56_000, 57_600,
    76_800, 115_200, 128_000, 230_400, 250_000, 256_000, 460_800, 500_000, 576_000, 921_600,
    1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
  ]

  static func baudRate(_ map: YAMLMapping) throws(BoardFileError) -> Int? {
    guard let rate = try map.integer("baudRate", in: 50...4_000_000) else { return nil }
    guard baudRates.contains(rate) else {
      throw map.error(
        "baudRate",
        "no receiver has \(rate) baud; usual rates are 4800, 9600, 38400, 115200, 230400, 460800, and without 'baudRate' "
          + "they are tried")
    }
    return rate
  }

  static func demandConfigurable(
    _ chip: ChipDescription, _ key: String, _ map: YAMLMapping
  ) throws(BoardFileError) {
    guard ["u-blox", "GNSS"].contains(chip.name) else {
      throw map.error(key, "'\(key)' goes with a receiver that is configured: u-blox or GNSS")
    }
  }
}

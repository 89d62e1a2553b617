// The `base:` of a receiver in a board file.

import SensorDrivers
import SensorTypes

extension BoardFile {
  /// `{survey, accuracy}`, or `{latitude, longitude, height}` with or without `accuracy`.
  static func base(
    _ map: YAMLMapping, of sensor: Board.Sensor
  ) throws(BoardFileError) -> BasePlace? {
    let key = "base"
    guard map.has(key) else { return nil }
    guard let chip = ChipCatalog.chip(named: sensor.chip) else { return nil }
    try demandConfigurable(chip, key, map)
    if sensor.corrections != nil {
      throw map.error(key, "a base station takes no corrections: take 'corrections' or 'base' out")
    }
    if sensor.dynamicModel != nil {
      throw map.error(key, "a base station stands still: take 'dynamicModel' or 'base' out")
    }
    if sensor.sleeps {
      throw map.error(
        key, "a receiver that sleeps forgets its survey: take 'standby' or 'base' out")
    }
    let forms =
      "'base' is {survey: SECONDS, accuracy: METERS}, or {latitude: DEGREES, longitude: DEGREES, height: METERS}"
    if case .scalar? = map.node(key)?.value { throw map.error(key, forms) }
    guard
      let entry = try map.mapping(
        key, context: "a base station",
        known: ["survey", "accuracy", "latitude", "longitude", "height"])
    else { return nil }
    guard entry.has("survey") || entry.has("latitude") || entry.has("longitude") else {
      throw map.error(key, forms)
    }
    guard entry.has("survey") else {
      return .known(
        latitude: try entry.requiredNumber("latitude", in: -90...90, unit: "degrees north"),
        longitude: try entry.requiredNumber("longitude", in: -180...180, unit: "degrees east"),
        height: try entry.requiredNumber(
          "height", in: -500...20_000, unit: "m above the ellipsoid"),
        accuracy: try entry.number("accuracy", in: 0.001...100, unit: "m"))
    }
    for place in ["latitude", "longitude", "height"] where entry.has(place) {
      throw entry.error(place, "either 'survey' or a place: a place that is known needs no survey")
    }
    return .survey(
      seconds: try entry.requiredNumber("survey", in: 1...86_400, unit: "s"),
      accuracy: try entry.requiredNumber("accuracy", in: 0.01...100, unit: "m"))
  }
}

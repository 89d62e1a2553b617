// Pressure, temperature and humidity as messages of NMEA 2000.

import SensorTypes

extension NMEA2000Encoder {
  private static let zeroCelsius = 273.15

  /// What the barometer measures. Its temperature and humidity are those of the board: they are told where the owner has said which air
  /// the board is in.
  private mutating func air(
    _ state: PublishedState, at now: Timestamp
  ) -> (identifier: UInt8?, pressure: Double?, kelvin: Double?, humidity: Double?) {
    guard let altitude = state.altitude(at: now) else { return (nil, nil, nil, nil) }
    let pressure = altitude.pressure > 0 ? altitude.pressure : nil
    let identifier = airIdentifier.of(altitude.time)
    guard options.place != nil else { return (identifier, pressure, nil, nil) }
    let humidity = altitude.humidity.flatMap { (0...100).contains($0) ? $0 / 100 : nil }
    return (identifier, pressure, altitude.temperature.map { $0 + Self.zeroCelsius }, humidity)
  }

  mutating func environmentObsolete(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let air = air(state, at: now)
    var fields = NMEA2000Fields()
    fields.code(air.identifier, bits: 8)
    fields.unsigned(nil, perUnit: 100, bits: 16)
    // Its only temperature of air is that outside.
    fields.unsigned(options.place == .outside ? air.kelvin : nil, perUnit: 100, bits: 16)
    fields.unsigned(air.pressure, perUnit: 0.01, bits: 16)
    fields.reserved(8)
    return fields.bytes
  }

  mutating func environment(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let air = air(state, at: now)
    var fields = NMEA2000Fields()
    fields.code(air.identifier, bits: 8)
    fields.code(air.kelvin == nil ? nil : options.place?.temperatureSource, bits: 6)
    fields.code(air.humidity == nil ? nil : options.place?.humiditySource, bits: 2)
    fields.unsigned(air.kelvin, perUnit: 100, bits: 16)
    // Steps of 0.004 %.
    fields.signed(air.humidity, perUnit: 25_000, bits: 16)
    fields.unsigned(air.pressure, perUnit: 0.01, bits: 16)
    return fields.bytes
  }

  mutating func pressure(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let air = air(state, at: now)
    var fields = NMEA2000Fields()
    fields.code(air.identifier, bits: 8)
    fields.append(UInt64(options.instance), bits: 8)
    // 0: of the atmosphere, where the board is.
    fields.append(0, bits: 8)
    fields.signed(air.pressure, perUnit: 10, bits: 32)
    fields.reserved(8)
    return fields.bytes
  }

  mutating func temperature(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    let air = air(state, at: now)
    var fields = NMEA2000Fields()
    fields.code(air.identifier, bits: 8)
    fields.append(UInt64(options.instance), bits: 8)
    fields.code(options.place?.temperatureSource, bits: 8)
    fields.unsigned(air.kelvin, perUnit: 1_000, bits: 24)
    // No temperature is set.
    fields.reserved(16)
    return fields.bytes
  }
}

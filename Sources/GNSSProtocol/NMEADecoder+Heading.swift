// Which way: HDT and THS (true), HDM (magnetic), HDG (a compass with its corrections), VHW (with the log's speed).

import SensorTypes

extension NMEADecoder {
  /// A heading in degrees, 0 up to 360; `nil` for what is none.
  static func angle(_ value: Double?) -> Double? {
    guard let value, (0...360).contains(value) else { return nil }
    return value == 360 ? 0 : value
  }

  /// A signed angle with the side that it lies on, degrees east.
  private static func east(_ fields: inout FieldReader) -> Double? {
    let (value, side) = (fields.number(), fields.letter())
    guard let value, abs(value) <= 180, let side else { return nil }
    return side == UInt8(ascii: "W") ? -value : side == UInt8(ascii: "E") ? value : nil
  }

  mutating func heading(true fields: inout FieldReader, _ received: Timestamp) {
    let value = Self.angle(fields.number())
    let mark = fields.letter()
    // THS says V for what is not valid; HDT has nothing but T there.
    guard let value, mark != UInt8(ascii: "V") else { return }
    var heading = ReceiverHeading(received: received)
    heading.trueHeading = value
    self.heading = heading
  }

  mutating func heading(magnetic fields: inout FieldReader, _ received: Timestamp) {
    guard let value = Self.angle(fields.number()) else { return }
    var heading = ReceiverHeading(received: received)
    heading.magneticHeading = value
    self.heading = heading
  }

  mutating func heading(hdg fields: inout FieldReader, _ received: Timestamp) {
    let value = Self.angle(fields.number())
    let (deviation, variation) = (Self.east(&fields), Self.east(&fields))
    guard let value else { return }
    var heading = ReceiverHeading(received: received)
    let magnetic = Self.wrapped(value + (deviation ?? 0))
    heading.magneticHeading = magnetic
    heading.variation = variation
    heading.trueHeading = variation.map { Self.wrapped(magnetic + $0) }
    self.heading = heading
  }

  mutating func heading(vhw fields: inout FieldReader, _ received: Timestamp) {
    let north = Self.angle(fields.number())
    fields.skip(1)
    let magnetic = Self.angle(fields.number())
    fields.skip(1)
    let knots = fields.number()
    fields.skip(1)
    let kilometresAnHour = fields.number()
    var heading = ReceiverHeading(received: received)
    (heading.trueHeading, heading.magneticHeading) = (north, magnetic)
    heading.waterSpeed = knots.map { $0 * Self.knot } ?? kilometresAnHour.map { $0 / 3.6 }
    guard north != nil || magnetic != nil || heading.waterSpeed != nil else { return }
    self.heading = heading
  }

  private static func wrapped(_ angle: Double) -> Double {
    let turned = angle - 360 * (angle / 360).rounded(.down)
    // A hair below north is north: the sum has no room for it.
    return turned < 360 ? turned : 0
  }
}

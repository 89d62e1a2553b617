// How a body with two antennas lies, in makers' own sentences: PASHR, PQTMTAR, PTNL,AVR, KSXT, HPR, PSTI,036; and PQTMEPE.

import SensorTypes

extension NMEADecoder {
  /// Reads a maker's sentence of an attitude or of accuracies, by its address; returns false for another.
  mutating func attitude(
    _ address: Slice<UnsafeBufferPointer<UInt8>>, _ fields: inout FieldReader, _ received: Timestamp
  ) -> Bool {
    if address.elementsEqual("PASHR".utf8) {
      attitude(pashr: &fields, received)
    } else if address.elementsEqual("PQTMTAR".utf8) {
      attitude(tar: &fields, received)
    } else if address.elementsEqual("PQTMEPE".utf8) {
      if choice.followsReceivers { accuracy(epe: &fields, received) }
    } else if address.elementsEqual("PTNL".utf8) {
      attitude(ptnl: &fields, received)
    } else if address.elementsEqual("PSTI".utf8) {
      attitude(psti: &fields, received)
    } else {
      return false
    }
    return true
  }

  /// `PASHR` as Trimble, SBG, Oxford and Ashtech send it: time, heading, T, roll, pitch, heave, their accuracies in the order roll,
  /// pitch, heading, and the quality of the position as a GGA's (Trimble OEM receiver help, NMEA-0183 message PASHR).
  private mutating func attitude(pashr fields: inout FieldReader, _ received: Timestamp) {
    guard fields.moment() != nil else { return }
    let heading = Self.angle(fields.number())
    let isTrue = fields.letter() == UInt8(ascii: "T")
    let (roll, pitch) = (fields.number(), fields.number())
    fields.skip(1)
    let (rollAccuracy, pitchAccuracy, accuracy) = (
      fields.number(), fields.number(), fields.number()
    )
    // Quality 0 is no fix. A sentence without a quality is not believed either.
    guard let heading, isTrue, fields.integer() ?? 0 > 0 else { return }
    say(heading, accuracy, received, pitch: (pitch, pitchAccuracy), roll: (roll, rollAccuracy))
    // An inertial system sends it too.
    self.heading?.source = .instrument
  }

  /// `PQTMTAR`: version, time, quality as a GGA's, a reserved field, the length of the baseline, pitch, roll, heading, their
  /// accuracies in the order pitch, roll, heading (Quectel LC29H and LG290P protocol specifications).
  private mutating func attitude(tar fields: inout FieldReader, _ received: Timestamp) {
    guard fields.integer() == 1, fields.moment() != nil else { return }
    let quality = fields.integer()
    fields.skip(2)
    let (pitch, roll, heading) = (fields.number(), fields.number(), Self.angle(fields.number()))
    let (pitchAccuracy, rollAccuracy, accuracy) = (
      fields.number(), fields.number(), fields.number()
    )
    guard quality == FixKind.rtkFixed.quality, let heading else { return }
    say(heading, accuracy, received, pitch: (pitch, pitchAccuracy), roll: (roll, rollAccuracy))
  }

  /// `PTNL,AVR`: time, yaw, tilt and roll, each with its name behind it, the length of the baseline, and 3 where its carrier phases
  /// are fixed (Trimble OEM receiver help, NMEA-0183 message PTNL,AVR).
  private mutating func attitude(ptnl fields: inout FieldReader, _ received: Timestamp) {
    guard fields.next().elementsEqual("AVR".utf8), fields.moment() != nil else { return }
    let heading = Self.angle(fields.number())
    fields.skip(1)
    let tilt = fields.number()
    fields.skip(1)
    let roll = fields.number()
    fields.skip(2)
    guard fields.integer() == 3, let heading else { return }
    say(heading, nil, received, pitch: (tilt, nil), roll: (roll, nil))
  }

  /// `PSTI,036` of SkyTraq: time, date, heading, pitch, roll and a mode as an RMC's, by lines of a PX1172RH and gpsd's description of them;
  /// the maker's document was not at hand.
  private mutating func attitude(psti fields: inout FieldReader, _ received: Timestamp) {
    guard fields.integer() == 36, fields.moment() != nil else { return }
    fields.skip(1)
    let (heading, pitch, roll) = (Self.angle(fields.number()), fields.number(), fields.number())
    guard fields.letter().flatMap(FixKind.init(mode:)) == .rtkFixed, let heading else { return }
    say(heading, nil, received, pitch: (pitch, nil), roll: (roll, nil))
  }

  /// `KSXT`: date with time, longitude, latitude, height, heading, pitch, course, speed, roll, the quality of the position and
  /// that of the heading, 3 for fixed carrier phases (Unicore reference commands manual, KSXT).
  mutating func attitude(ksxt fields: inout FieldReader, _ received: Timestamp) {
    fields.skip(4)
    let (heading, pitch) = (Self.angle(fields.number()), fields.number())
    fields.skip(2)
    let roll = fields.number()
    fields.skip(1)
    guard fields.integer() == 3, let heading else { return }
    say(heading, nil, received, pitch: (pitch, nil), roll: (roll, nil))
  }

  /// `HPR`: time, heading, pitch, roll and a quality as a GGA's (Unicore reference commands manual, GPHPR).
  mutating func attitude(hpr fields: inout FieldReader, _ received: Timestamp) {
    guard fields.moment() != nil else { return }
    let (heading, pitch, roll) = (Self.angle(fields.number()), fields.number(), fields.number())
    guard fields.integer() == FixKind.rtkFixed.quality, let heading else { return }
    say(heading, nil, received, pitch: (pitch, nil), roll: (roll, nil))
  }

  /// `PQTMEPE`: version, then the expected errors north, east and down in meters (Quectel LC29H protocol specification).
  private mutating func accuracy(epe fields: inout FieldReader, _ received: Timestamp) {
    guard fields.integer() == 2 else { return }
    let (north, east, down) = (fields.number(), fields.number(), fields.number())
    epochs.take(.init(kind: 1, mark: 0), .none, received: received) { part in
      if let north, let east, north >= 0, east >= 0, north + east > 0 {
        part.fix.setHorizontal(variances: north * north, east * east)
      }
      if let down, down > 0 { part.fix.verticalAccuracy = down }
    }
  }

  /// Takes a heading by antennas, from true north with one sigma, and the tilt with it, all in degrees. What is no angle is left out.
  mutating func say(
    _ heading: Double, _ accuracy: Double?, _ received: Timestamp,
    pitch: (angle: Double?, accuracy: Double?),
    roll: (angle: Double?, accuracy: Double?) = (nil, nil)
  ) {
    var said = ReceiverHeading(received: received)
    said.source = .antennas
    said.trueHeading = heading
    said.accuracy = Self.deviation(accuracy)
    said.pitch = pitch.angle.flatMap { abs($0) <= 90 ? $0 : nil }
    said.roll = roll.angle.flatMap { abs($0) <= 180 ? $0 : nil }
    (said.pitchAccuracy, said.rollAccuracy) = (
      Self.deviation(pitch.accuracy), Self.deviation(roll.accuracy)
    )
    self.heading = said
  }

  /// One sigma in degrees; `nil` for what is none.
  private static func deviation(_ value: Double?) -> Double? {
    value.flatMap { $0 > 0 && $0 < 180 ? $0 : nil }
  }
}

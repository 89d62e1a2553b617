// Unicore's ASCII logs: a name and a header, `;`, and the fields (Unicore Reference Commands Manual For N4 High Precision
// Products, R1.13).

import SensorTypes

extension NMEADecoder {
  /// No body that carries two antennas is longer, meters.
  private static let longestBaseline = 500.0

  /// Reads one log, without `#` and check.
  mutating func decode(log bytes: UnsafeBufferPointer<UInt8>, received: Timestamp) {
    var header = FieldReader(bytes)
    let name = header.next()
    guard let semicolon = bytes.firstIndex(of: UInt8(ascii: ";")) else { return }
    var fields = FieldReader(UnsafeBufferPointer(rebasing: bytes[(semicolon + 1)...]))
    if name.elementsEqual("VERSIONA".utf8) {
      receiver(version: &fields)
    } else if name.elementsEqual("UNIHEADINGA".utf8) || name.elementsEqual("UNIHEADING2A".utf8)
      || name.elementsEqual("HEADINGA".utf8)
    {
      attitude(uniheading: &fields, received)
    }
  }

  /// `UNIHEADINGA` of a receiver with two antennas, `UNIHEADING2A` of two receivers, and `HEADINGA`, the same with NovAtel's
  /// header (ComNav OEM Board Reference Manual, HEADING): status of the solution, its type, the length of the baseline in meters,
  /// heading from true north and pitch of the line from the first antenna to the second, a reserved field, one sigma of heading
  /// and of pitch.
  private mutating func attitude(uniheading fields: inout FieldReader, _ received: Timestamp) {
    let isComputed = fields.next().elementsEqual("SOL_COMPUTED".utf8)
    let type = fields.next()
    // Integer ambiguities of L1, wide lane and narrow lane: the fixed ones.
    let isFixed =
      type.elementsEqual("NARROW_INT".utf8) || type.elementsEqual("WIDE_INT".utf8)
      || type.elementsEqual("L1_INT".utf8)
    let length = fields.number() ?? 0
    let (heading, pitch) = (Self.angle(fields.number()), fields.number())
    fields.skip(1)
    let (accuracy, pitchAccuracy) = (fields.number(), fields.number())
    guard isComputed, isFixed, length >= 0.01, length <= Self.longestBaseline, let heading else {
      return
    }
    say(heading, accuracy, received, pitch: (pitch, pitchAccuracy))
  }
}

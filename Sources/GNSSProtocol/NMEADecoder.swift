import SensorTypes

/// Reads sentences (NMEA 0183, version 4.11), of any talker, and proprietary ones that say what those do not.
///
/// A reader a file of what it is about: position and motion, sky, headings.
struct NMEADecoder: Sendable {
  /// Metres a second in a knot.
  static let knot = 1_852.0 / 3_600

  /// Whose sentence it is, as far as one epoch may have the same of several.
  enum Talker: UInt8 {
    case gps, several, glonass, galileo, beidou, qzss, navic, other

    init(_ address: Slice<UnsafeBufferPointer<UInt8>>) {
      let letters = address.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
      self =
        switch letters {
        case 0x4750: .gps  // GP
        case 0x474E: .several  // GN
        case 0x474C: .glonass  // GL
        case 0x4741: .galileo  // GA
        case 0x4742, 0x4244: .beidou  // GB, BD
        case 0x4751, 0x515A: .qzss  // GQ, QZ
        case 0x4749: .navic  // GI
        default: .other
        }
    }
  }

  var epochs: EpochAssembler
  /// Who says the sentence that is read.
  private(set) var talker = Talker.other
  var sky = SkyAssembler()
  /// The newest GSV, which a sentence that leaves out repeated fields goes on from.
  var view = SatelliteViewSequence()
  /// What the last sentence said of a heading; for the one who decodes to take.
  var heading: ReceiverHeading?
  /// What the last sentence said of the receiver itself; for the one who decodes to take.
  var word: ReceiverNotice?
  /// Who a receiver that speaks no UBX has said that it is.
  var identity = ReceiverIdentity()

  /// From which of several sources positions are taken.
  var choice: SourceChoice

  init(endsByRule: Bool, talker: UInt16? = nil) {
    epochs = EpochAssembler(endsByRule: endsByRule)
    choice = SourceChoice(wanted: talker)
  }

  /// Reads one sentence, without `$` and check sum.
  mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, received: Timestamp) {
    var fields = FieldReader(bytes)
    let address = fields.next()
    guard address.count == 5, let talker = address.first,
      talker != UInt8(ascii: "P")
        || !address.elementsEqual("PASHR".utf8) && !address.elementsEqual("PGTOP".utf8)
    else {
      return decode(proprietary: address, &fields, received)
    }
    let code = address.suffix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let sentence = NMEASentence(rawValue: code),
      // Other makers' letters may look like a sentence's.
      (talker == UInt8(ascii: "P")) == sentence.isProprietary(address)
    else { return }
    self.talker = Talker(address)
    guard isFollowed(sentence, address, fields, received) else { return }
    switch sentence {
    case .rmc: position(rmc: &fields, received)
    case .gga: position(gga: &fields, received)
    case .gns: position(gns: &fields, received)
    case .gll: position(gll: &fields, received)
    case .vtg: motion(vtg: &fields, received)
    case .gst: accuracy(gst: &fields, received)
    case .zda: date(zda: &fields, received)
    case .rmz: height(rmz: &fields, received)
    case .rme: accuracy(rme: &fields, received)
    case .gsa: geometry(gsa: &fields, received, TalkerSystem(talker: self.talker))
    case .gsv: view(gsv: &fields, TalkerSystem(talker: self.talker))
    case .hdt, .ths: heading(true: &fields, received)
    case .hdm: heading(magnetic: &fields, received)
    case .hdg: heading(hdg: &fields, received)
    case .vhw: heading(vhw: &fields, received)
    case .hpr: attitude(hpr: &fields, received)
    case .txt: receiver(txt: &fields)
    }
  }

  /// Whether a sentence is of the source that positions are taken from, or of none.
  private mutating func isFollowed(
    _ sentence: NMEASentence, _ address: Slice<UnsafeBufferPointer<UInt8>>, _ fields: FieldReader,
    _ received: Timestamp
  ) -> Bool {
    let letters = address.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    switch sentence.place {
    case .none: return true
    case .proprietary: return choice.followsReceivers
    case .part: return choice.follows(letters, talker)
    case .position:
      let (moment, hasFix) = sentence.fix(fields)
      // In a log nobody knows when a sentence came.
      let time = received.nanoseconds == 0 ? moment : received.seconds
      return choice.follows(
        .init(letters: letters, talker: talker, time: time, hasFix: hasFix))
    }
  }

  private mutating func decode(
    proprietary address: Slice<UnsafeBufferPointer<UInt8>>, _ fields: inout FieldReader,
    _ received: Timestamp
  ) {
    if address.elementsEqual("PUBX".utf8) {
      guard choice.followsReceivers else { return }
      talker = .other
      position(ubx: &fields, received)
    } else if address.elementsEqual("KSXT".utf8) {
      attitude(ksxt: &fields, received)
    } else if address.elementsEqual("command".utf8) {
      receiver(command: &fields)
    } else if address.first == UInt8(ascii: "P"), !attitude(address, &fields, received) {
      receiver(address, &fields)
    }
  }
}

/// The last three letters of an address.
enum NMEASentence: UInt32 {
  case rmc = 0x52_4D_43
  case gga = 0x47_47_41
  case gns = 0x47_4E_53
  case gll = 0x47_4C_4C
  case gsa = 0x47_53_41
  case gsv = 0x47_53_56
  case vtg = 0x56_54_47
  case gst = 0x47_53_54
  case zda = 0x5A_44_41
  case hdt = 0x48_44_54
  case hdg = 0x48_44_47
  case hdm = 0x48_44_4D
  case ths = 0x54_48_53
  case vhw = 0x56_48_57
  /// Unicore's heading, pitch and roll.
  case hpr = 0x48_50_52
  case txt = 0x54_58_54
  /// Garmin's height, `PGRMZ`.
  case rmz = 0x52_4D_5A
  /// Garmin's own accuracies, `PGRME`.
  case rme = 0x52_4D_45

  /// What a sentence has to do with the position of its source.
  fileprivate enum Place {
    /// It has a position, or the word that there is none.
    case position
    /// It belongs to a position of the same talker.
    case part
    /// It belongs to the position of a receiver, which says it without a talker.
    case proprietary
    case none
  }

  fileprivate var place: Place {
    switch self {
    case .rmc, .gga, .gns, .gll: .position
    case .vtg, .gst, .zda, .gsa: .part
    case .rmz, .rme: .proprietary
    case .gsv, .hdt, .hdg, .hdm, .ths, .vhw, .hpr, .txt: .none
    }
  }

  /// The time of day and whether there is a fix, by the fields of a position behind its address.
  fileprivate func fix(_ fields: FieldReader) -> (time: Double?, hasFix: Bool?) {
    var fields = fields
    if self == .gll { fields.skip(4) }
    let time = fields.moment()?.timeOfDay
    switch self {
    case .rmc, .gll: return (time, fields.letter() != UInt8(ascii: "V"))
    case .gga:
      fields.skip(4)
      return (time, fields.integer() ?? 0 > 0)
    case .gns:
      fields.skip(4)
      return (time, fields.next().contains { $0 != UInt8(ascii: "N") })
    default: return (time, nil)
    }
  }

  /// Whether it is a sentence of a maker: Garmin's two, or `PQGSV` and `PQGSA` of Quectel's cellular modules.
  fileprivate func isProprietary(_ address: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    switch self {
    case .rmz, .rme: true
    case .gsv, .gsa: address.starts(with: "PQ".utf8)
    default: false
    }
  }
}

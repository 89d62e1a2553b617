// The lines of a trace that are of no device: what clients ask for, and stored files.

import SensorTypes

extension TraceBuffer {
  /// The letter of what clients ask for.
  fileprivate static let demandLetter: Character = "d"
  /// The letter of a stored file, and its three kinds of content.
  static let contentLetter: Character = "k"
  /// The letter of what is to be said of a stream's source.
  static let noteLetter: Character = "n"
  /// The name of a folder whose names were read: no attribute has its end.
  static func name(ofFolder folder: String) -> String { folder + "/" }

  fileprivate static let missing: Int64 = 0
  fileprivate static let whole: Int64 = 1
  fileprivate static let unreadable: Int64 = 2

  /// Appends a space and a text, as bytes.
  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { hexadecimal(UnsafeRawBufferPointer($0)) }
  }

  mutating func demand(_ demand: Demand) {
    begin(Self.demandLetter, Int(demand.wishes))
    let tenths = demand.motionTenths
    if demand.milliseconds > 0 || tenths > 0 { number(Int64(demand.milliseconds)) }
    if tenths > 0 { number(Int64(tenths)) }
  }

  mutating func content(_ content: RecordedContent, _ index: Int) {
    begin(Self.contentLetter, index)
    switch content {
    case .missing: number(Self.missing)
    case .bytes(let bytes):
      number(Self.whole)
      bytes.withUnsafeBytes { hexadecimal($0) }
    case .unreadable(let why):
      number(Self.unreadable)
      Array(why.utf8).withUnsafeBytes { hexadecimal($0) }
    }
  }
}

extension TraceLine {
  /// What was asked for from this line on; `nil` where it is none that says so.
  var demand: Demand? {
    guard letter == TraceBuffer.demandLetter.asciiValue,
      let wishes = number(0).flatMap(UInt16.init(exactly:))
    else { return nil }
    // Recordings of before there were intervals have one number.
    let milliseconds = number(1).flatMap(UInt32.init(exactly:)) ?? 0
    let tenths = number(2).flatMap(UInt16.init(exactly:)) ?? 0
    return Demand(wishes: wishes, milliseconds: milliseconds, motionTenths: tenths)
  }

  /// What a stored file held; `nil` where the line is of no or of another file.
  func content(_ index: Int) -> RecordedContent? {
    guard letter == TraceBuffer.contentLetter.asciiValue, number(0) == Int64(index) else {
      return nil
    }
    switch number(1) {
    case TraceBuffer.missing: return .missing
    case TraceBuffer.whole: return data(2).map { .bytes($0) }
    case TraceBuffer.unreadable:
      return data(2).map { .unreadable(String(decoding: $0, as: UTF8.self)) }
    default: return nil
    }
  }
}

import SensorBus

/// A chip that the kernel owns, as its driver sees it: attributes recorded by name, frames as what arrives.
final class PortKernelDevice: KernelDevice {
  private static let readLetter: Character = "a"
  private static let writeLetter: Character = "v"
  /// What ends the name of a folder whose names were read: no attribute has it.
  private static let folderMark = "/"

  private let port: Port
  private let index: Int
  private let place: String
  private let base: (any KernelDevice)?

  init(port: Port, index: Int, place: String, base: (any KernelDevice)?) {
    self.port = port
    self.index = index
    self.place = place
    self.base = base
  }

  func names(in folder: String) throws(BusError) -> [String] {
    let text = try asked(folder + Self.folderMark) { (base) throws(BusError) in
      try base.names(in: folder).joined(separator: "\n")
    }
    return text.split(separator: "\n").map(String.init)
  }

  func read(_ attribute: String) throws(BusError) -> String {
    try asked(attribute) { (base) throws(BusError) in try base.read(attribute) }
  }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    switch port.source {
    case .live:
      do { try base?.write(attribute, value) } catch {
        throw failed(Self.writeLetter, attribute, error)
      }
      record(Self.writeLetter, attribute, value)
    case .replay(let cursor):
      guard try answer(cursor, Self.writeLetter, attribute) == value else {
        throw cursor.diverged("\(attribute) to be set to something else")
      }
    }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    try port.source("\(place) \(device)") { () throws(BusError) in try base?.buffer(of: device) }
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    try port.source("\(place) \(attributes.first ?? "")") { () throws(BusError) in
      try base?.poll(attributes, every: seconds)
    }
  }

  private func asked(
    _ attribute: String, _ body: (any KernelDevice) throws(BusError) -> String
  ) throws(BusError) -> String {
    switch port.source {
    case .live:
      do {
        guard let base else { return "" }
        let text = try body(base)
        record(Self.readLetter, attribute, text)
        return text
      } catch { throw failed(Self.readLetter, attribute, error) }
    case .replay(let cursor): return try answer(cursor, Self.readLetter, attribute)
    }
  }

  private func record(_ letter: Character, _ attribute: String, _ text: String) {
    port.record { trace in
      trace.begin(letter, index)
      for word in [attribute, text] { Array(word.utf8).withUnsafeBytes { trace.hexadecimal($0) } }
    }
  }

  private func failed(
    _ letter: Character, _ attribute: String, _ error: BusError
  ) -> BusError {
    let error = BusError(error.reason, bus: "\(place) \(attribute)", errno: error.errno)
    port.record { trace in
      trace.begin(letter, index)
      Array(attribute.utf8).withUnsafeBytes { trace.hexadecimal($0) }
      trace.failure(error)
    }
    return error
  }

  private func answer(
    _ cursor: ReplayCursor, _ letter: Character, _ attribute: String
  ) throws(BusError) -> String {
    guard let line = cursor.line(letter, index),
      line.data(1)?.elementsEqual(attribute.utf8) == true
    else { throw cursor.diverged("the attribute \(attribute)") }
    if let failure = line.failure(2, bus: "\(place) \(attribute)") { throw failure }
    guard let data = line.data(2) else { throw cursor.diverged("the attribute \(attribute)") }
    return String(decoding: data, as: UTF8.self)
  }
}

// Advertisements out of a file, for a machine without a radio.

import LocationServices
package import SensorBus
import SensorTypes
import StateStore
import Synchronization

/// Plays a recording of advertisements, once from every start, at the pace of a clock.
///
/// The file is text. Its first line is `lodestone advertisements 1`. Empty lines, and those that begin with `#`, say
/// nothing. Every other line is one advertisement, three words with spaces between: seconds since the recording began (0
/// or more, in order), the strength in dBm (-127 to 20, or `-` where it was not known), and the advertising data as it was
/// on the air, in hexadecimal digits: structures of a length, a type and data (`0201061AFF4C000215...`).
package final class RecordedAdvertisements: AdvertisementSource {
  private static let header = "lodestone advertisements 1"
  /// The longest file, bytes, and the latest moment in it, seconds: a week.
  private static let (mostBytes, latest) = (16 << 20, 604_800.0)

  private struct State: Sendable {
    var run: UInt64 = 0
    var starts: UInt64 = 0
    var heard: UInt64 = 0
  }

  private let entries: [RecordedAdvertisement]
  private let clocks: RuntimeClocks
  private let state = Mutex(State())

  package convenience init(path: String, clocks: RuntimeClocks) throws(InvalidAdvertisements) {
    let bytes: [UInt8]
    do throws(FileProblem) {
      bytes = try TextFile.bytes(of: path, limit: Self.mostBytes, isNamed: true)
    } catch {
      let reason =
        error.code == 0
        ? "longer than \(Self.mostBytes >> 20) MB" : "it cannot be read (\(error.words))"
      throw InvalidAdvertisements(description: "\(path): \(reason)")
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), name: path, clocks: clocks)
  }

  /// Reads a text; `name` is what a fault is told by.
  package init(text: String, name: String, clocks: RuntimeClocks) throws(InvalidAdvertisements) {
    entries = try Self.parse(text, name: name)
    self.clocks = clocks
  }

  package static func parse(_ text: String, name: String) throws(InvalidAdvertisements)
    -> [RecordedAdvertisement]
  {
    var entries: [RecordedAdvertisement] = []
    var hasHeader = false
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      func problem(_ words: String) -> InvalidAdvertisements {
        InvalidAdvertisements(description: "\(name):\(index + 1): \(words)")
      }
      let words = line.split(separator: " ")
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard hasHeader else {
        guard line == header else { throw problem("the first line is not `\(header)`") }
        hasHeader = true
        continue
      }
      guard words.count == 3 else { throw problem("not seconds, strength and data") }
      guard let seconds = Double(words[0]), (0...latest).contains(seconds) else {
        throw problem("seconds are 0 to \(Int(latest))")
      }
      if let last = entries.last, seconds < last.seconds { throw problem("earlier than the last") }
      let strength = words[1] == "-" ? nil : Int(words[1])
      guard words[1] == "-" || strength.map((-127...20).contains) == true else {
        throw problem("a strength is -127 to 20 dBm, or -")
      }
      guard let payload = bytes(words[2]), payload.count <= ManufacturerData.longest else {
        throw problem("data are \(ManufacturerData.longest) bytes at most, two digits each")
      }
      entries.append(RecordedAdvertisement(seconds: seconds, strength: strength, payload: payload))
    }
    guard hasHeader else { throw InvalidAdvertisements(description: "\(name): it is empty") }
    return entries
  }

  private static func bytes(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text {
      guard character.isASCII, let digit = character.hexDigitValue else { return nil }
      if let first = high {
        bytes.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return high == nil && !bytes.isEmpty ? bytes : nil
  }

  package func start(_ handler: @escaping @Sendable (AdvertisementNews) -> Void) {
    let run = state.withLock { state in
      state.run += 1
      state.starts += 1
      return state.run
    }
    let begin = clocks.now()
    handler(.listening(begin))
    play(0, of: run, since: begin, handler)
  }

  package func stop() { state.withLock { $0.run += 1 } }

  package func problem() -> AdvertisementFailure? { nil }

  package var counters: AdvertisementCounters {
    var counters = AdvertisementCounters()
    (counters.attempts, counters.heard) = state.withLock { ($0.starts, $0.heard) }
    return counters
  }

  /// Tells what is due, and comes again for what follows.
  private func play(
    _ first: Int, of run: UInt64, since begin: Timestamp,
    _ handler: @escaping @Sendable (AdvertisementNews) -> Void
  ) {
    var index = first
    while index < entries.count, state.withLock({ $0.run == run }) {
      let entry = entries[index]
      let time = begin.advanced(bySeconds: entry.seconds)
      let wait = time.seconds(since: clocks.now())
      guard wait <= 0 else {
        let next = index
        return clocks.alarm(wait) { [weak self] in
          self?.play(next, of: run, since: begin, handler)
        }
      }
      for heard in ManufacturerData.all(in: entry.payload) {
        state.withLock { $0.heard += 1 }
        handler(
          .heard(
            Advertisement(
              company: heard.company, data: heard.data, strength: entry.strength, time: time)))
      }
      index += 1
    }
  }
}

/// What is wrong with a recording: the file, the line, the fault.
package struct InvalidAdvertisements: Error, Hashable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
}

package struct RecordedAdvertisement: Hashable, Sendable {
  /// Seconds since the beginning.
  package var seconds: Double
  package var strength: Int?
  package var payload: [UInt8]
}

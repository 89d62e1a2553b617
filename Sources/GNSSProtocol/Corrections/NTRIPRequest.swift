// What an NTRIP client sends to a caster (RTCM 10410.0 for version 1, RTCM 10410.1 for version 2).

/// The version of NTRIP.
package enum NTRIPVersion: Sendable, Hashable {
  /// Like HTTP 1.0; an accepted request is answered by `ICY 200 OK`.
  case one
  /// Version 2, which is HTTP 1.1.
  case two
}

/// A request to an NTRIP caster: for a stream of corrections, or for the table of those that it has.
package struct NTRIPRequest: Sendable {
  /// The caster, as its `Host` header has it: name or address, and its port.
  package var host: String
  /// The stream that is asked for; `nil` for the source table. Printable ASCII without spaces.
  package var mountpoint: String?
  /// What the program calls itself, as in `Lodestone/1.0`.
  package var program: String
  /// `USER:PASSWORD`; `nil` for a caster that wants none.
  package var credentials: String?

  package init(
    host: String, mountpoint: String?, program: String, credentials: String? = nil
  ) {
    self.host = host
    self.mountpoint = mountpoint
    self.program = program
    self.credentials = credentials
  }

  /// Returns the request's bytes.
  ///
  /// - Parameter position: A GGA sentence without its line end, for the header of version 2; version 1 has none.
  package func bytes(_ version: NTRIPVersion, position: String? = nil) -> [UInt8] {
    var lines = ["GET /\(mountpoint ?? "") HTTP/1.\(version == .two ? 1 : 0)"]
    if version == .two {
      lines += ["Host: \(host)", "Ntrip-Version: Ntrip/2.0"]
    }
    // Version 1 demands that it begins with NTRIP.
    lines.append("User-Agent: NTRIP \(program)")
    if version == .two, let position { lines.append("Ntrip-GGA: \(position)") }
    if version == .one { lines.append("Accept: */*") }
    if let credentials {
      lines.append("Authorization: Basic \(Base64.encoded(Array(credentials.utf8)))")
    }
    lines.append("Connection: close")
    // Nothing in a line can begin another one.
    let text = lines.map { line in line.unicodeScalars.filter { $0.value >= 32 && $0 != "\u{7F}" } }
    return text.flatMap { Array(String(String.UnicodeScalarView($0)).utf8) + [13, 10] } + [13, 10]
  }
}

/// Base64 (RFC 4648, section 4). Only encoding is implemented.
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encoded(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
      for place in 0..<4 {
        let digit = alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)]
        text.append(place <= group.count ? digit : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

internal import FoundationEssentials

/// A picture's bytes as they were stored: one tile of a map, or a picture that is put on one.
package struct Tile: Hashable, Sendable {
  package var bytes: [UInt8]
  /// What they are: `image/png`, `image/jpeg`, `image/webp` or `image/svg+xml`.
  package var mediaType: String

  /// The largest that is read, bytes.
  package static let sizeLimit = 4 << 20

  /// Looks at how the bytes begin. Throws `TileError` for what is no picture.
  package init(bytes: [UInt8]) throws(TileError) {
    guard bytes.count <= Self.sizeLimit else {
      throw TileError("a tile of \(bytes.count) bytes is too large: \(Self.sizeLimit) are drawn")
    }
    guard let mediaType = Self.mediaType(of: bytes) else {
      throw TileError(Self.refusal(of: bytes))
    }
    self.bytes = bytes
    self.mediaType = mediaType
  }

  static func mediaType(of bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      return "image/webp"
    }
    // Before its first element a drawing may have declarations and comments.
    let head = String(decoding: bytes.prefix(1024), as: UTF8.self).drop {
      $0.isWhitespace || $0 == "\u{FEFF}"
    }
    return head.hasPrefix("<") && head.contains("<svg") ? "image/svg+xml" : nil
  }

  /// Why bytes are no tile.
  static func refusal(of bytes: [UInt8]) -> String {
    if bytes.isEmpty { return "a tile is empty" }
    // What a vector tile begins with: gzip, or the first layer of Mapbox's format.
    if bytes.starts(with: [0x1F, 0x8B]) || bytes[0] == 0x1A {
      return "vector tiles (pbf) are not drawn: pictures are needed (png, jpeg, webp or svg)"
    }
    return "a tile is neither png, jpeg, webp nor svg"
  }
}

/// Why tiles cannot be read, in words.
package struct TileError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package var errorDescription: String? { description }

  /// Makes one of its words.
  init(_ description: String) { self.description = description }
}

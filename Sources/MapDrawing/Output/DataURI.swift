import FoundationEssentials

/// Files within a file.
enum DataURI {
  static func text(_ tile: Tile) -> String {
    "data:\(tile.mediaType);base64,\(Data(tile.bytes).base64EncodedString())"
  }
}

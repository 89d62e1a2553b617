// Tiles in an SQLite file (MBTiles specification 1.3).

import CMapDrawing
import Glibc
import Synchronization

/// An open file. It is closed when the last store that has it goes.
final class MBTiles: TileSource {
  private let path: String
  private let connection: Mutex<Connection>
  let attribution: String?
  let zooms: ClosedRange<Int>

  /// Longest that one question to the file may take, milliseconds.
  static let patience = 5000

  init(path: String, patience: Int = patience) throws(TileError) {
    self.path = path
    let connection = try Connection(path: path, patience: patience)
    // Metadata is what a file says of itself; which zooms there are is looked up.
    if connection.metadata("format")?.lowercased() == "pbf" {
      throw TileError(
        "\(path): vector tiles (pbf) are not drawn: pictures are needed (png, jpeg, webp or svg)")
    }
    guard let zooms = try connection.zooms(path) else { throw TileError("\(path) has no tiles") }
    let head = try connection.head(path)
    guard Tile.mediaType(of: head) != nil else {
      throw TileError("\(path): \(Tile.refusal(of: head))")
    }
    self.zooms = zooms
    attribution = connection.metadata("attribution").flatMap(Attribution.plain)
    self.connection = Mutex(connection)
  }

  func bytes(zoom: Int, x: Int, y: Int) throws(TileError) -> [UInt8]? {
    // Rows are counted from the south.
    let row = (1 << zoom) - 1 - y
    return try connection.withLock { connection throws(TileError) in
      try connection.bytes(path, zoom: zoom, column: x, row: row)
    }
  }
}

/// The handle of SQLite's library; used by one thread at a time.
private struct Connection: ~Copyable {
  private let handle: OpaquePointer

  init(path: String, patience: Int) throws(TileError) {
    var handle: OpaquePointer?
    var words = [CChar](repeating: 0, count: 512)
    let code = lodestone_tiles_open(path, Int32(patience), &handle, &words, words.count)
    guard code == 0, let handle else {
      if code == LODESTONE_TILES_NO_LIBRARY {
        throw TileError(
          "\(path): MBTiles are read with SQLite's library, which is not installed: apt-get install libsqlite3-0"
        )
      }
      throw TileError("\(path) is not MBTiles: \(Self.text(words))")
    }
    self.handle = handle
  }

  deinit { lodestone_tiles_close(handle) }

  private static func text(_ words: [CChar]) -> String {
    String(decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A value of the metadata. A file without them is one with tiles all the same.
  borrowing func metadata(_ name: String) -> String? {
    var value = [CChar](repeating: 0, count: 8192)
    var words = [CChar](repeating: 0, count: 512)
    let found = lodestone_tiles_metadata(
      handle, name, &value, value.count, &words, words.count)
    return found == 1 ? Self.text(value) : nil
  }

  borrowing func zooms(_ path: String) throws(TileError) -> ClosedRange<Int>? {
    var (low, high) = (Int64(0), Int64(0))
    var words = [CChar](repeating: 0, count: 512)
    let found = lodestone_tiles_zooms(handle, &low, &high, &words, words.count)
    guard found >= 0 else { throw TileError("\(path): \(Self.text(words))") }
    guard found == 1 else { return nil }
    guard low >= 0, high <= TileStore.zoomLimit, low <= high else {
      throw TileError("\(path) has tiles of the zooms \(low) to \(high)")
    }
    return Int(low)...Int(high)
  }

  /// How some tile begins.
  borrowing func head(_ path: String) throws(TileError) -> [UInt8] {
    try read(path) { lodestone_tiles_any(handle, $0, $1, $2, $3) } ?? []
  }

  borrowing func bytes(
    _ path: String, zoom: Int, column: Int, row: Int
  ) throws(TileError) -> [UInt8]? {
    try read(path) {
      lodestone_tiles_read(handle, Int32(zoom), Int32(column), Int32(row), $0, $1, $2, $3)
    }
  }

  private borrowing func read(
    _ path: String,
    _ question: (
      UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>,
      UnsafeMutablePointer<CChar>, Int
    ) -> Int32
  ) throws(TileError) -> [UInt8]? {
    var bytes: UnsafeRawPointer?
    var count = 0
    var words = [CChar](repeating: 0, count: 512)
    let found = question(&bytes, &count, &words, words.count)
    guard found >= 0 else { throw TileError("\(path): \(Self.text(words))") }
    guard found == 1 else { return nil }
    return bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
  }
}

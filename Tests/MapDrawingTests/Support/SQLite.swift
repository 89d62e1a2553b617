import Foundation

/// SQLite's library, to make files with.
enum SQLite {
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  private typealias Execute =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?
    ) -> Int32
  private typealias Close = @convention(c) (OpaquePointer?) -> Int32

  static let isThere = function("sqlite3_open") != nil

  private static func function(_ name: String) -> UnsafeMutableRawPointer? {
    dlopen("libsqlite3.so.0", RTLD_NOW).flatMap { dlsym($0, name) }
  }

  struct Failure: Error { var code: Int32 }

  /// Makes a file by statements.
  static func make(_ path: String, _ statements: String) throws {
    guard let open = function("sqlite3_open").map({ unsafeBitCast($0, to: Open.self) }),
      let execute = function("sqlite3_exec").map({ unsafeBitCast($0, to: Execute.self) }),
      let close = function("sqlite3_close").map({ unsafeBitCast($0, to: Close.self) })
    else { throw Failure(code: -1) }
    var file: OpaquePointer?
    var code = open(path, &file)
    if code == 0 { code = execute(file, statements, nil, nil, nil) }
    _ = close(file)
    guard code == 0 else { throw Failure(code: code) }
  }

  /// The tables of MBTiles, and tiles by zoom, column and row from the south.
  static func tables(
    _ tiles: [(zoom: Int, column: Int, row: Int, bytes: [UInt8])],
    metadata: [String: String] = ["format": "png"]
  ) -> String {
    var text =
      "CREATE TABLE metadata (name text, value text);"
      + "CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);"
      + "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);"
    for (name, value) in metadata {
      let quoted = value.replacing("'", with: "''")
      text += "INSERT INTO metadata VALUES ('\(name)', '\(quoted)');"
    }
    for tile in tiles {
      let digits = tile.bytes.map { String(format: "%02X", $0) }.joined()
      text +=
        "INSERT INTO tiles VALUES (\(tile.zoom), \(tile.column), \(tile.row), X'\(digits)');"
    }
    return text
  }
}

import Foundation
import Testing

@testable import MapDrawing

@Suite struct TileFolderTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func words(_ path: String) -> String {
    do {
      _ = try TileStore(path: path)
      return "opened"
    } catch { return "\(error)" }
  }

  @Test("tiles lie by zoom, column and row from the north, whatever their ending")
  func folder() throws {
    let red = TinyPNG.plain([255, 0, 0, 255])
    let drawing = Array("<?xml version='1.0'?><!-- x --><svg xmlns='x'/>".utf8)
    try scratch.write(red, to: "2/3/1.png")
    try scratch.write([0xFF, 0xD8, 0xFF, 0xE0], to: "4/0/15.jpeg")
    try scratch.write(Array("RIFF....WEBPVP8 ".utf8), to: "4/0/14.webp")
    try scratch.write(drawing, to: "4/1/0.svg")
    let store = try TileStore(path: scratch.path)
    #expect(store.minimumZoom == 2 && store.maximumZoom == 4 && store.attribution == nil)
    #expect(try store.tile(zoom: 2, x: 3, y: 1) == Tile(bytes: red))
    #expect(try store.tile(zoom: 2, x: 3, y: 1)?.mediaType == "image/png")
    #expect(try store.tile(zoom: 4, x: 0, y: 15)?.mediaType == "image/jpeg")
    #expect(try store.tile(zoom: 4, x: 0, y: 14)?.mediaType == "image/webp")
    #expect(try store.tile(zoom: 4, x: 1, y: 0)?.mediaType == "image/svg+xml")
    #expect(try store.tile(zoom: 2, x: 3, y: 2) == nil)
    for (zoom, x, y) in [(-1, 0, 0), (31, 0, 0), (2, 4, 0), (2, -1, 1), (2, 3, 4), (64, 0, 0)] {
      #expect(try store.tile(zoom: zoom, x: x, y: y) == nil)
    }
  }

  @Test("whose map it is stands in a file beside the tiles, without markup")
  func attribution() throws {
    try scratch.write(TinyPNG.plain([0, 0, 0, 255]), to: "0/0/0.png")
    try scratch.write(Array("{\"attribution\": \"from &lt;json&gt;\"}".utf8), to: "metadata.json")
    #expect(try TileStore(path: scratch.path).attribution == "from <json>")
    try scratch.write(
      Array("&copy; <a href=\"a.example\">Someone</a>,\n &#169;&#xA9; A &amp; B &bogus;".utf8),
      to: "attribution.txt")
    #expect(try TileStore(path: scratch.path).attribution == "© Someone, ©© A & B &bogus;")
  }

  @Test("what cannot be drawn is refused in words")
  func refused() throws {
    #expect(words("\(scratch.path)/none").contains("No such file"))
    #expect(words(scratch.path).contains("has no tiles"))
    #expect(words("/dev/null").contains("neither a folder nor a file"))
    try scratch.write([0x1A, 1], to: "3/1/1.pbf")
    #expect(words(scratch.path).contains("vector tiles (pbf) are not drawn"))
  }

  @Test("a tile that is none is an error, and its neighbour is read")
  func broken() throws {
    try scratch.write(Array("hello".utf8), to: "1/0/0.png")
    try scratch.write([], to: "1/0/1.png")
    try scratch.write([UInt8](repeating: 0x89, count: Tile.sizeLimit + 1), to: "1/1/0.png")
    try FileManager.default.createDirectory(
      atPath: "\(scratch.path)/1/1/1.png", withIntermediateDirectories: true)
    let store = try TileStore(path: scratch.path)
    #expect(throws: TileError.self) { try store.tile(zoom: 1, x: 0, y: 0) }
    #expect(throws: TileError.self) { try store.tile(zoom: 1, x: 0, y: 1) }
    #expect(throws: TileError.self) { try store.tile(zoom: 1, x: 1, y: 0) }
    #expect(throws: TileError.self) { try store.tile(zoom: 1, x: 1, y: 1) }
    // A pipe in a tile's place does not hold up who asks.
    #expect(mkfifo("\(scratch.path)/1/1/9.png", 0o600) == 0)
    #expect(throws: TileError.self) {
      try SmallFile.bytes(of: "\(scratch.path)/1/1/9.png", limit: 100, below: scratch.path)
    }
  }
}

/// A folder of tiles in which links lead here and there.
@Suite struct TileLinkTests {
  let scratch: Scratch
  private let tiles: String
  private static let red = TinyPNG.plain([255, 0, 0, 255])
  private static let secret = TinyPNG.plain([1, 2, 3, 255])

  init() throws {
    scratch = try Scratch()
    tiles = "\(scratch.path)/tiles"
    try scratch.write(Self.red, to: "tiles/1/0/0.png")
    // Beside the folder, and with a name that begins like it.
    try scratch.write(Self.secret, to: "tiles-of-others/1/1/1.png")
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(tiles)/\(name)", withDestinationPath: target)
  }

  @Test(
    "a link that stays in the folder is a tile, even if the folder is itself reached through a link"
  )
  func inside() throws {
    try link("1/0/1.png", to: "0.png")
    try link("1/1", to: "0")
    try link("2", to: "\(tiles)/1")
    let way = "\(scratch.path)/way"
    try FileManager.default.createSymbolicLink(atPath: way, withDestinationPath: "tiles")
    for path in [tiles, way, "\(way)/", "\(tiles)/../tiles"] {
      let store = try TileStore(path: path)
      #expect(try store.tile(zoom: 1, x: 0, y: 1)?.bytes == Self.red)
      #expect(try store.tile(zoom: 1, x: 1, y: 0)?.bytes == Self.red)
      #expect(try store.tile(zoom: 2, x: 0, y: 0)?.bytes == Self.red)
    }
  }

  @Test("a link that leads out of the folder is refused, in each part of the path")
  func outside() throws {
    let others = "\(scratch.path)/tiles-of-others"
    try link("1/0/1.png", to: "\(others)/1/1/1.png")
    try link("1/1", to: "../../tiles-of-others/1/1")
    try link("2", to: "\(others)/1")
    try link("attribution.txt", to: "/etc/hostname")
    let store = try TileStore(path: tiles)
    #expect(store.maximumZoom == 1 && store.attribution == nil)
    #expect(try store.tile(zoom: 1, x: 0, y: 0)?.bytes == Self.red)
    for (x, y) in [(0, 1), (1, 1)] {
      #expect {
        try store.tile(zoom: 1, x: x, y: y)
      } throws: { "\($0)".contains("leads out of the folder") }
    }
  }
}

/// Tiles in an SQLite file.
@Suite(.enabled(if: SQLite.isThere, "skipped: no libsqlite3.so.0 (Debian: libsqlite3-0)"))
struct MBTilesTests {
  let scratch: Scratch
  let file: String

  init() throws {
    scratch = try Scratch()
    // A name that means something in a URI.
    file = "\(scratch.path)/a #?%20 map.mbtiles"
  }

  private static let red = TinyPNG.plain([255, 0, 0, 255])
  private static let blue = TinyPNG.plain([0, 0, 255, 255])

  private func words() -> String {
    do {
      _ = try TileStore(path: file)
      return "opened"
    } catch { return "\(error)" }
  }

  @Test("rows are counted from the south, and asked for from the north")
  func rows() throws {
    try SQLite.make(
      file,
      SQLite.tables(
        [(1, 0, 0, Self.red), (1, 0, 1, Self.blue), (3, 7, 2, Self.red)],
        metadata: [
          "format": "png", "attribution": "<b>It's</b> ours &copy;", "minzoom": "0",
          "maxzoom": "twelve",
        ]))
    let store = try TileStore(path: file)
    #expect(try store.tile(zoom: 1, x: 0, y: 1)?.bytes == Self.red)
    #expect(try store.tile(zoom: 1, x: 0, y: 0)?.bytes == Self.blue)
    #expect(try store.tile(zoom: 3, x: 7, y: 5)?.bytes == Self.red)
    #expect(try store.tile(zoom: 1, x: 1, y: 1) == nil)
    // What it says of its zooms is not asked.
    #expect(store.minimumZoom == 1 && store.maximumZoom == 3)
    #expect(store.attribution == "It's ours ©")
  }

  @Test("tiles may be a view of pictures that are kept once")
  func view() throws {
    try SQLite.make(
      file,
      SQLite.tables([(2, 1, 1, Self.red)])
        + "ALTER TABLE tiles RENAME TO map; CREATE VIEW tiles AS SELECT * FROM map;")
    #expect(try TileStore(path: file).tile(zoom: 2, x: 1, y: 2)?.bytes == Self.red)
  }

  @Test("a file that nobody may write is read, also with a journal of its own")
  func readOnly() throws {
    try SQLite.make(file, "PRAGMA journal_mode=WAL;" + SQLite.tables([(0, 0, 0, Self.red)]))
    chmod(file, 0o444)
    chmod(scratch.path, 0o555)
    defer { chmod(scratch.path, 0o755) }
    #expect(try TileStore(path: file).tile(zoom: 0, x: 0, y: 0)?.bytes == Self.red)
  }

  @Test("the file is closed with the last store")
  func closed() throws {
    try SQLite.make(file, SQLite.tables([(0, 0, 0, Self.red)]))
    func isOpen() throws -> Bool {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
      }
    }
    var store: TileStore? = try TileStore(path: file)
    var copy = store
    #expect(try isOpen())
    store = nil
    #expect(try copy?.tile(zoom: 0, x: 0, y: 0) != nil && store == nil)
    copy = nil
    #expect(try !isOpen())
  }

  @Test("many threads ask one store")
  func threads() async throws {
    try SQLite.make(
      file, SQLite.tables((0..<64).map { (6, $0, 3, TinyPNG.plain([UInt8($0), 0, 0, 255])) }))
    let store = try TileStore(path: file)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for x in 0..<64 {
            let place = (x + thread * 8) % 64
            let tile = try store.tile(zoom: 6, x: place, y: 60)
            #expect(tile?.bytes == TinyPNG.plain([UInt8(place), 0, 0, 255]))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("what is no MBTiles file with pictures says what it is")
  func refused() throws {
    try Data("no database at all, but some text that is long enough".utf8).write(
      to: URL(filePath: file))
    #expect(words().contains("is not MBTiles: file is not a database"))
    try FileManager.default.removeItem(atPath: file)
    try SQLite.make(file, "CREATE TABLE other (a)")
    #expect(words().contains("no such table: tiles"))
    try SQLite.make(file, "CREATE TABLE tiles (zoom_level, tile_column, tile_row)")
    #expect(words().contains("no such column: tile_data"))
    try SQLite.make(file, "DROP TABLE tiles;" + SQLite.tables([]))
    #expect(words().contains("has no tiles"))
    try SQLite.make(file, "INSERT INTO tiles VALUES (0, 0, 0, X'1F8B0800')")
    #expect(words().contains("vector tiles (pbf) are not drawn"))
    try SQLite.make(file, "UPDATE metadata SET value = 'pbf'")
    #expect(words().contains("vector tiles (pbf) are not drawn"))
    try SQLite.make(file, "UPDATE metadata SET value = 'png'; UPDATE tiles SET zoom_level = 99")
    #expect(words().contains("zooms 99 to 99"))
    try SQLite.make(file, "UPDATE tiles SET zoom_level = 'high'")
    #expect(words().contains("has no tiles"))
  }

  @Test("text, nothing and too much in a tile's place are errors")
  func blobs() throws {
    try SQLite.make(
      file,
      SQLite.tables([(1, 0, 0, Self.red)])
        + "INSERT INTO tiles VALUES (1, 1, 0, 'text');"
        + "INSERT INTO tiles VALUES (1, 0, 1, NULL);"
        + "INSERT INTO tiles VALUES (1, 1, 1, zeroblob(\(Tile.sizeLimit + 1)));"
        + "INSERT INTO tiles VALUES (2, 0, 0, zeroblob(300000000));"
        + "INSERT INTO tiles VALUES (2, 0, 1, X'');")
    let store = try TileStore(path: file)
    for (zoom, x, y) in [(1, 1, 1), (1, 0, 0), (1, 1, 0), (2, 0, 3), (2, 0, 2)] {
      #expect(throws: TileError.self, "\(zoom)/\(x)/\(y)") {
        try store.tile(zoom: zoom, x: x, y: y)
      }
    }
    #expect(try store.tile(zoom: 1, x: 0, y: 1)?.bytes == Self.red)
  }

  @Test("a view without an end is given up")
  func endless() throws {
    try SQLite.make(
      file,
      """
      CREATE TABLE metadata (name, value);
      CREATE VIEW tiles AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS zoom_level, i AS tile_column, i AS tile_row, X'' AS tile_data FROM n;
      """)
    #expect(throws: TileError("\(file): interrupted")) { try MBTiles(path: file, patience: 50) }
  }

  @Test("whatever a file's bytes are, it is read or refused")
  func hostile() throws {
    try SQLite.make(
      file, SQLite.tables((0..<40).map { (6, $0, 3, TinyPNG.plain([9, 9, 9, 255], side: 8)) }))
    let whole = try [UInt8](Data(contentsOf: URL(filePath: file)))
    var dice = Dice(seed: 4)
    var (read, refused) = (0, 0)
    for round in 0..<300 {
      var bytes = whole
      if round % 3 == 0 {
        bytes.removeLast(.random(in: 1..<bytes.count, using: &dice))
      } else {
        // The first page is the schema; it is hit more often.
        for _ in 0..<Int.random(in: 1...30, using: &dice) {
          let end = round % 3 == 1 ? 4096 : bytes.count
          bytes[.random(in: 0..<end, using: &dice)] = .random(in: 0...255, using: &dice)
        }
      }
      try Data(bytes).write(to: URL(filePath: file))
      do {
        let store = try MBTiles(path: file, patience: 500)
        for x in 0..<40 { _ = try store.bytes(zoom: 6, x: x, y: 60) }
        read += 1
      } catch { refused += 1 }
    }
    #expect(read > 10 && refused > 100, "\(read) read, \(refused) refused")
  }
}

// Tiles as files: zoom/x/y.png.

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A folder of tiles. Paths are made of whole numbers alone.
struct TileFolder: TileSource {
  let path: String
  let attribution: String?
  let zooms: ClosedRange<Int>

  private static let endings = ["png", "jpg", "jpeg", "webp", "svg"]
  /// The names of vector tiles.
  private static let vectorEndings = ["pbf", "mvt"]

  init(path: String) throws(TileError) {
    self.path = path
    var found: [Int] = []
    var hasVectors = false
    for zoom in 0...TileStore.zoomLimit {
      switch Self.kind(below: "\(path)/\(zoom)") {
      case .pictures: found.append(zoom)
      case .vectors: hasVectors = true
      case nil: continue
      }
    }
    guard let low = found.first, let high = found.last else {
      throw TileError(
        hasVectors
          ? "\(path): vector tiles (pbf) are not drawn: pictures are needed (png, jpeg, webp or svg)"
          : "\(path) has no tiles: they would be files as 3/4/2.png (zoom, x, y from the north)")
    }
    zooms = low...high
    attribution = Self.attribution(of: path)
  }

  func bytes(zoom: Int, x: Int, y: Int) throws(TileError) -> [UInt8]? {
    for ending in Self.endings {
      let file = "\(path)/\(zoom)/\(x)/\(y).\(ending)"
      if let bytes = try SmallFile.bytes(of: file, limit: Tile.sizeLimit) { return bytes }
    }
    return nil
  }

  private enum Kind { case pictures, vectors }

  /// Of what kind a zoom's tiles are, by the first that is found.
  private static func kind(below folder: String) -> Kind? {
    var kind: Kind?
    for column in names(in: folder) where Int(column) != nil {
      for name in names(in: "\(folder)/\(column)") {
        let parts = name.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, Int(parts[0]) != nil else { continue }
        if endings.contains(String(parts[1])) { return .pictures }
        if vectorEndings.contains(String(parts[1])) { kind = .vectors }
      }
    }
    return kind
  }

  private static func names(in folder: String) -> [String] {
    // A folder that is not there has no tiles, as a zoom in the middle may have none.
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  private struct Metadata: Decodable { var attribution: String? }

  /// From attribution.txt, else from metadata.json. What cannot be read says nothing.
  private static func attribution(of path: String) -> String? {
    if let bytes = try? SmallFile.bytes(of: "\(path)/attribution.txt", limit: 65_536),
      let text = Attribution.plain(String(decoding: bytes, as: UTF8.self))
    {
      return text
    }
    guard let bytes = try? SmallFile.bytes(of: "\(path)/metadata.json", limit: 1 << 20),
      let metadata = try? JSONDecoder().decode(Metadata.self, from: Data(bytes))
    else { return nil }
    return metadata.attribution.flatMap(Attribution.plain)
  }
}

/// A file that is read as a whole, if it is a small one.
enum SmallFile {
  /// The bytes; nil where there is no such file. Throws for what is none, is too large or cannot be read.
  static func bytes(of path: String, limit: Int) throws(TileError) -> [UInt8]? {
    // A pipe in a file's place must not wait for somebody who writes.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw TileError("\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TileError("\(path) is not a file")
    }
    guard status.st_size <= limit else {
      throw TileError("\(path) has \(status.st_size) bytes: \(limit) are read")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let step = bytes.withUnsafeMutableBytes { buffer in
        read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
      }
      if step < 0, errno == EINTR { continue }
      guard step >= 0 else { throw TileError("\(path): \(String(cString: strerror(errno)))") }
      // It has become shorter meanwhile.
      guard step > 0 else { break }
      count += step
    }
    return Array(bytes[..<count])
  }
}

// Tiles as files: zoom/x/y.png.

import FoundationEssentials
import Glibc
import JSONReading

/// A folder of tiles. Paths are made of whole numbers alone.
struct TileFolder: TileSource {
  let path: String
  /// The resolved path of the folder. Links below it may not lead out of it.
  private let root: String
  let attribution: String?
  let zooms: ClosedRange<Int>

  private static let endings = ["png", "jpg", "jpeg", "webp", "svg"]
  /// The names of vector tiles.
  private static let vectorEndings = ["pbf", "mvt"]

  init(path: String) throws(TileError) {
    self.path = path
    guard let root = Self.resolved(path) else {
      throw TileError("\(path): \(String(cString: strerror(errno)))")
    }
    self.root = root
    var found: [Int] = []
    var hasVectors = false
    for zoom in 0...TileStore.zoomLimit {
      switch Self.kind(below: "\(path)/\(zoom)", root: root) {
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
    attribution = Self.attribution(of: path, root: root)
  }

  func bytes(zoom: Int, x: Int, y: Int) throws(TileError) -> [UInt8]? {
    for ending in Self.endings {
      let file = "\(path)/\(zoom)/\(x)/\(y).\(ending)"
      if let bytes = try SmallFile.bytes(of: file, limit: Tile.sizeLimit, below: root) {
        return bytes
      }
    }
    return nil
  }

  private enum Kind { case pictures, vectors }

  /// Of what kind a zoom's tiles are, by the first that is found.
  private static func kind(below folder: String, root: String) -> Kind? {
    var kind: Kind?
    for column in names(in: folder) where Int(column) != nil {
      guard isInside(resolved("\(folder)/\(column)"), root) else { continue }
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

  /// The path with all links resolved; `nil` if nothing exists there.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Returns whether a resolved path lies below a resolved folder.
  static func isInside(_ path: String?, _ root: String) -> Bool {
    path?.hasPrefix(root == "/" ? root : root + "/") ?? false
  }

  private struct Metadata: Decodable { var attribution: String? }

  /// From attribution.txt, else from metadata.json. What cannot be read says nothing.
  private static func attribution(of path: String, root: String) -> String? {
    if let bytes = try? SmallFile.bytes(of: "\(path)/attribution.txt", limit: 65_536, below: root),
      let text = Attribution.plain(String(decoding: bytes, as: UTF8.self))
    {
      return text
    }
    guard
      let bytes = try? SmallFile.bytes(of: "\(path)/metadata.json", limit: 1 << 20, below: root),
      let metadata = try? JSONDocument.decode(Metadata.self, from: Array(bytes))
    else { return nil }
    return metadata.attribution.flatMap(Attribution.plain)
  }
}

/// A file that is read as a whole, if it is a small one.
enum SmallFile {
  /// `O_PATH` of Linux, which the C library's headers have only as an extension: opens the name and not what is behind it.
  private static let openAsPlace: Int32 = 0o10_000_000

  /// Returns the bytes of a file, or nil if it does not exist. Throws if it is not a regular file, is too large, cannot be
  /// read, or is a link to a file outside of the folder `root`.
  static func bytes(of path: String, limit: Int, below root: String) throws(TileError) -> [UInt8]? {
    // O_PATH has no side effects on devices and pins the file: it is checked and then read even if the links change
    // in between.
    let place = open(path, openAsPlace | O_CLOEXEC)
    guard place >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw TileError("\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(place) }
    var status = stat()
    guard fstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TileError("\(path) is not a file")
    }
    guard TileFolder.isInside(target(of: "/proc/self/fd/\(place)"), root) else {
      throw TileError("\(path) is a link that leads out of the folder of the tiles")
    }
    let file = open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw TileError("\(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
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

  /// The target of a link; `nil` if it cannot be read.
  private static func target(of link: String) -> String? {
    var words = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &words, words.count)
    guard count > 0 else { return nil }
    return String(decoding: words[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

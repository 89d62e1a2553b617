// Pictures, as code for a phone hands them on.

public import CoreLocation
import LocationServices
import MapDrawing

/// A picture: one that was drawn here, or one that was read.
public final class UIImage: NSObject, Sendable {
  let content: ImageContent
  /// How large it is shown, points.
  public let size: CGSize
  /// Pixels a point.
  public let scale: CGFloat

  init(svg: String, size: CGSize, scale: CGFloat) {
    content = .drawing(svg: svg)
    self.size = size
    self.scale = scale
  }

  /// Reads a picture; nil for what is none. Its size is known of PNG; others are shown 32 points wide and high.
  public convenience init?(data: Data) { self.init(data: data, scale: 1) }

  /// Reads a picture that has so many pixels a point.
  public init?(data: Data, scale: CGFloat) {
    guard scale > 0, let tile = try? Tile(bytes: Array(data)) else { return nil }
    content = .file(tile)
    self.scale = scale
    let pixels = Self.pixels(ofPNG: tile.bytes) ?? CGSize(width: 32 * scale, height: 32 * scale)
    size = CGSize(width: pixels.width / scale, height: pixels.height / scale)
  }

  /// Reads a file; nil for one that is not there or no picture. `@2x` and `@3x` at the end of its name say how many
  /// pixels a point has.
  public convenience init?(contentsOfFile path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let name = URL(filePath: path).deletingPathExtension().lastPathComponent
    self.init(data: data, scale: name.hasSuffix("@3x") ? 3 : name.hasSuffix("@2x") ? 2 : 1)
  }

  /// The picture as PNG; nil where what makes one of a drawing is missing (`apt install librsvg2-bin`), which is said once by
  /// `LodestoneRuntime.shared.diagnosticHandler`.
  public func pngData() -> Data? {
    do {
      return try png()
    } catch {
      // Nil says nothing to who has to install something.
      processPort.note("there is no PNG: \(error)")
      return nil
    }
  }

  /// The picture as an SVG document; nil of one that was read. It is how a map is drawn: PNG is made of it. Not of the SDK.
  public func svgData() -> Data? {
    guard case .drawing(let svg) = content else { return nil }
    return Data(svg.utf8)
  }

  /// The picture as PNG. Throws what is missing or went wrong, in words. Not of the SDK.
  public func png() throws -> Data {
    switch content {
    case .file(let tile) where tile.mediaType == "image/png": return Data(tile.bytes)
    case .file(let tile) where tile.mediaType == "image/svg+xml":
      return try rasterise(String(decoding: tile.bytes, as: UTF8.self))
    case .file(let tile):
      let (width, height) = (size.width, size.height)
      let bytes = Data(tile.bytes).base64EncodedString()
      return try rasterise(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)">\
        <image width="\(width)" height="\(height)" href="data:\(tile.mediaType);base64,\(bytes)"/></svg>
        """)
    case .drawing(let svg): return try rasterise(svg)
    }
  }

  private func rasterise(_ svg: String) throws -> Data {
    Data(
      try Rasteriser.png(
        svg: svg, width: Int((size.width * scale).rounded()),
        height: Int((size.height * scale).rounded())))
  }

  /// A tile with the same picture, for a place in another one.
  var tile: Tile? {
    switch content {
    case .file(let tile): tile
    case .drawing(let svg): try? Tile(bytes: Array(svg.utf8))
    }
  }

  // PNG, 11.2.2: after the signature, length and type of the first chunk come width and height.
  private static func pixels(ofPNG bytes: [UInt8]) -> CGSize? {
    guard bytes.count >= 24, bytes[0] == 0x89, bytes[12..<16].elementsEqual("IHDR".utf8) else {
      return nil
    }
    func number(_ start: Int) -> Double {
      Double(bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }
    let size = CGSize(width: number(16), height: number(20))
    return (1...65_536).contains(size.width) && (1...65_536).contains(size.height) ? size : nil
  }
}

enum ImageContent: Sendable {
  /// Lines and words, as a document.
  case drawing(svg: String)
  /// What a file of a picture has in it: PNG, JPEG, WebP or SVG.
  case file(Tile)
}

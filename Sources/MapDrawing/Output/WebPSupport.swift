// Whether WebP is drawn: older versions of librsvg leave it out without a word where a module of gdk-pixbuf is missing.

import FoundationEssentials

enum WebPSupport {
  /// Whether a drawing has such a picture in it.
  static func isNeeded(_ svg: [UInt8]) -> Bool {
    let mark = Array("data:image/webp;".utf8)
    return svg.withUnsafeBufferPointer { bytes in
      guard bytes.count >= mark.count else { return false }
      for start in 0...bytes.count - mark.count where bytes[start] == mark[0] {
        if bytes[start..<start + mark.count].elementsEqual(mark) { return true }
      }
      return false
    }
  }

  /// Whether the installed program draws it: whether a red pixel makes a difference. Looked at once.
  static let isThere: Bool = {
    func drawn(_ content: String) -> [UInt8]? {
      let svg = """
        <svg xmlns="http://www.w3.org/2000/svg" width="2" height="2">\(content)</svg>
        """
      return try? Rasteriser.output(
        Array(svg.utf8), width: 2, height: 2, command: Rasteriser.command, seconds: 10)
    }
    let data = Data(redPixel).base64EncodedString()
    guard let without = drawn(""),
      let with = drawn(
        "<image width=\"2\" height=\"2\" href=\"data:image/webp;base64,\(data)\"/>")
      // What fails here fails again with the drawing itself, and is said then.
    else { return true }
    return with != without
  }()

  /// A lossless picture of one pixel (RFC 9649): a size of 1 by 1, no transforms, and five codes of one symbol each,
  /// for green 0, red 255, blue 0, alpha 255 and distance 0.
  static let redPixel: [UInt8] =
    Array("RIFF".utf8) + [24, 0, 0, 0] + Array("WEBPVP8L".utf8) + [12, 0, 0, 0]
    + [0x2F, 0, 0, 0, 0, 0x28, 0x40, 0xFF, 0x0B, 0xD0, 0xFF, 0]
}

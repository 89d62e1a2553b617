internal import FoundationEssentials
import Glibc

/// Why there is no PNG, in words.
package struct RasterError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package var errorDescription: String? { description }
  /// Whether the reason is a program that is not installed.
  package let isProgramMissing: Bool

  init(_ description: String, isProgramMissing: Bool = false) {
    self.description = description
    self.isProgramMissing = isProgramMissing
  }
}

/// Makes a PNG of an SVG with librsvg's `rsvg-convert`.
///
/// It is a program of its own: neither the build nor a board that needs no PNG needs it, and what goes wrong in it is an
/// error here.
package enum Rasteriser {
  /// The most pixels that are made.
  package static let pixelLimit = 64 << 20
  /// The largest file that is taken, bytes.
  package static let sizeLimit = 256 << 20
  /// Longest that it may take, seconds.
  package static let timeLimit = 30.0

  /// The program, and what it is given before everything else.
  static let command = ["rsvg-convert"]

  /// The picture, as wide and high as it is said to be, in pixels. Throws `RasterError`.
  package static func png(svg: String, width: Int, height: Int) throws -> [UInt8] {
    try png(svg: svg, width: width, height: height, command: command, seconds: timeLimit)
  }

  static func png(
    svg: String, width: Int, height: Int, command: [String], seconds: Double
  ) throws(RasterError) -> [UInt8] {
    let side = 32_000
    guard width > 0, height > 0, width <= side, height <= side, width * height <= pixelLimit else {
      throw RasterError(
        "a picture of \(width) by \(height) pixels is not made: \(pixelLimit >> 20) million pixels are the most"
      )
    }
    let input = Array(svg.utf8)
    guard input.count <= sizeLimit else {
      throw RasterError("a drawing of \(input.count >> 20) MB is too large for a picture")
    }
    if command == Self.command, WebPSupport.isNeeded(input), !WebPSupport.isThere {
      throw RasterError(
        "the tiles are WebP, which this system's rsvg-convert does not draw: apt-get install webp-pixbuf-loader",
        isProgramMissing: true)
    }
    return try output(input, width: width, height: height, command: command, seconds: seconds)
  }

  /// What the program makes of a drawing.
  static func output(
    _ input: [UInt8], width: Int, height: Int, command: [String], seconds: Double
  ) throws(RasterError) -> [UInt8] {
    let program = command[0]
    let run = PipedProcess(
      program: program,
      arguments: command.dropFirst() + [
        "--format", "png", "--width", "\(width)", "--height", "\(height)", "--unlimited",
      ],
      input: input, outputLimit: width * height * 5 + (1 << 20), seconds: seconds)
    let result: ProcessResult
    do { result = try run.run() } catch {
      switch error {
      case .start(ENOENT):
        throw RasterError(
          "PNG is made by \(program), which is not installed: apt-get install librsvg2-bin",
          isProgramMissing: true)
      case .start(let code), .call(let code):
        throw RasterError("\(program): \(String(cString: strerror(code)))")
      case .late:
        throw RasterError("\(program) took longer than \(Number.text(seconds)) s and was ended")
      case .tooMuch:
        throw RasterError("\(program) wrote more than a picture of this size can have")
      }
    }
    guard result.isSuccess, isPNG(result.output) else {
      let words = result.errors.split(separator: "\n").prefix(3).joined(separator: "; ")
      throw RasterError("\(program) made no PNG: \(words.isEmpty ? "it did not say why" : words)")
    }
    return result.output
  }

  /// Whether it begins and ends as one.
  private static func isPNG(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
      && bytes.suffix(8).starts(with: "IEND".utf8)
  }
}

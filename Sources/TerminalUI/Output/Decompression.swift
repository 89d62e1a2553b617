// Compressed files that a person names to be read.

import Glibc
import StateStore

/// The content of a compressed file, by way of the program that its format belongs to. It streams: nothing is held in memory
/// but what a pipe holds.
final class Decompression {
  /// A format, known by a file's first bytes.
  enum CompressionFormat: CaseIterable {
    case gzip, zstd

    /// The first bytes of a file: RFC 1952, RFC 8878.
    var magic: [UInt8] {
      switch self {
      case .gzip: [0x1F, 0x8B]
      case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
      }
    }

    /// The program, and the arguments with which it decompresses its input.
    var words: [String] {
      switch self {
      case .gzip: ["gzip", "-dc"]
      case .zstd: ["zstd", "-dcq"]
      }
    }

    var program: String { words[0] }

    /// The format of a file that begins like this; `nil` for one that is not compressed.
    init?(beginning: some Collection<UInt8>) {
      guard let format = Self.allCases.first(where: { beginning.starts(with: $0.magic) }) else {
        return nil
      }
      self = format
    }
  }

  /// How many times as large as its file a content may be. JSON lines are 10 to 20 times as large, a file of zeros a thousand
  /// times.
  static let mostGrowth = 200
  /// Bytes that any compressed file may hold.
  static let alwaysTaken = 64 << 20
  /// How long the program may take to end behind the last byte, in seconds.
  private static let patience = 10.0

  private let path: String
  private let format: CompressionFormat
  private let process: FilterProcess
  /// The most bytes that the content may have.
  private let limit: Int
  private var count = 0
  /// Whether its end was read.
  private(set) var isOver = false

  /// Starts the program, if a file is compressed. What cannot be looked into is not compressed.
  ///
  /// - Parameters:
  ///   - path: The file, for messages.
  ///   - descriptor: The file. The program reads it from where it stands.
  /// - Returns: What is to be told of the content, and the descriptor that it is read from, which the caller closes.
  static func start(
    _ path: String, reading descriptor: Int32
  ) throws -> (decompression: Decompression, output: Int32)? {
    var beginning = [UInt8](repeating: 0, count: 4)
    let position = lseek(descriptor, 0, SEEK_CUR)
    let count = pread(descriptor, &beginning, beginning.count, position)
    guard count > 0, let format = CompressionFormat(beginning: beginning[..<count]) else {
      return nil
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw CommandError(reading: FileProblem(path, errno: errno))
    }
    let ends = try FilterProcess.pipe(for: path)
    defer { close(ends[1]) }
    do {
      let process = try FilterProcess(format.words, input: descriptor, output: ends[1])
      let limit = limit(ofFile: Int(status.st_size))
      return (Decompression(path, format, process, limit: limit), ends[0])
    } catch {
      close(ends[0])
      throw CommandError(
        "\(path) is compressed, and \(format.program) cannot be run (\(error)). "
          + "Install it: apt install \(format.program)", kind: .configuration)
    }
  }

  /// Returns the most bytes that the content of a file may have.
  ///
  /// - Parameter size: The bytes of the file.
  static func limit(ofFile size: Int) -> Int {
    let (limit, isTooLarge) = size.multipliedReportingOverflow(by: mostGrowth)
    return isTooLarge ? .max : max(alwaysTaken, limit)
  }

  init(_ path: String, _ format: CompressionFormat, _ process: FilterProcess, limit: Int) {
    self.path = path
    self.format = format
    self.process = process
    self.limit = limit
  }

  /// Notes that this many more bytes of the content were read, 0 at its end. Throws where there are too many, and where the
  /// file is damaged or was cut off. What was read before is as it was written.
  func note(_ more: Int) throws {
    guard more > 0 else {
      guard !isOver else { return }
      isOver = true
      if let problem = process.end(within: Self.patience) {
        throw CommandError("\(path) is damaged or cut off (\(problem))", kind: .data)
      }
      return
    }
    count += more
    guard count <= limit else {
      throw CommandError(
        "\(path) holds more than \(limit) bytes: a recording or log does not grow that much when it is decompressed",
        kind: .data)
    }
  }
}

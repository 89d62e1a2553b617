// What the tests share: files made in a temporary folder, recordings made of nothing, a command run.

import Foundation
import FusionBenchmark
import LinearAlgebra

/// A folder that goes when the test is over.
final class Folder {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  @discardableResult func add(_ name: String, _ bytes: Data) throws -> URL {
    let file = url.appendingPathComponent(name)
    try bytes.write(to: file)
    return file
  }
}

/// The bytes of rows, as the data set's description says.
func bytes(_ rows: [[Float]]) -> Data {
  var data = Data()
  for value in rows.joined() {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { data.append(contentsOf: $0) }
  }
  return data
}

/// A row of a board that lies still, level, y to the north, in a field of 20 uT north and 45 down.
func still(_ flag: Float = 1) -> [Float] {
  [0, 0, 0, 0, 0, 9.81, 0, 20, -45, 1, 0, 0, 0, flag]
}

/// Rows whose force is (number, 0, 0), so that each is known again; the first `rest` do not count.
func numbered(_ count: Int, rest: Int = 0) -> Recording {
  Recording(
    name: "numbered",
    records: (0..<count).map {
      Record(
        rate: Vector3(0, Double($0), 0), force: Vector3(Double($0), 0, 0),
        field: Vector3(0, 0, Double($0)), truth: .identity, isMoving: $0 >= rest)
    })
}

/// A run of `broad`, which stands beside the tests.
struct Run {
  var status: Int32
  var output: String
  var error: String

  init(_ arguments: String...) throws { try self.init(arguments) }

  init(_ arguments: [String]) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("broad")
    process.arguments = arguments
    let folder = try Folder()
    let (output, error) = (
      try folder.add("output", Data()), try folder.add("error", Data())
    )
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    self.output = try String(contentsOf: output, encoding: .utf8)
    self.error = try String(contentsOf: error, encoding: .utf8)
  }
}

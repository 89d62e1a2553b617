// A recorded trial with optical truth, and its file. Reads files; knows nothing of filters.

package import Foundation
package import LinearAlgebra

/// Why a recording cannot be used: which, and what is wrong with it.
package struct RecordingError: Error, Equatable, CustomStringConvertible {
  /// For a person: begins with the file's or folder's path.
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// One row as it was recorded. Values are as they stand in the file, NaN included.
package struct Record: Equatable, Sendable {
  /// Angular rate, rad/s, sensor frame, right-handed: the mean over the interval that ends with the row.
  package var rate: Vector3
  /// Specific force, m/s^2, sensor frame: +9.81 up at rest.
  package var force: Vector3
  /// Magnetic field, microtesla, sensor frame.
  package var field: Vector3
  /// Sensor to earth (ENU with y to *magnetic* north), unit length; `nil` where the row has none.
  package var truth: Quaternion?
  /// Whether the row counts in the error, when it has truth.
  package var isMoving: Bool

  package init(
    rate: Vector3, force: Vector3, field: Vector3, truth: Quaternion?, isMoving: Bool
  ) {
    self.rate = rate
    self.force = force
    self.field = field
    self.truth = truth
    self.isMoving = isMoving
  }
}

/// A trial: rows at an even rate.
///
/// The file (`.f32`) is a table of little-endian `Float32`, 14 a row: gyro x y z, accelerometer x y z,
/// magnetometer x y z, truth w x y z, movement flag (1: the row counts).
package struct Recording: Equatable, Sendable {
  /// The file's name without its extension.
  package var name: String
  /// The rows, in order.
  package var records: [Record]

  package init(name: String, records: [Record]) {
    self.name = name
    self.records = records
  }

  /// Numbers in a row.
  package static let columns = 14
  /// Bytes in a row.
  package static let rowSize = 4 * columns
  /// The largest file that is read, bytes: 4.8 million rows, 4.6 hours at BROAD's rate.
  package static let largestFile = 256 << 20

  /// The `.f32` files of a folder, by name; a file is itself.
  package static func files(in folder: URL) throws -> [URL] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) else {
      throw RecordingError("\(folder.path): no such folder")
    }
    guard isFolder.boolValue else {
      guard folder.pathExtension == "f32" else {
        throw RecordingError("\(folder.path): neither a folder nor a .f32 file")
      }
      return [folder]
    }
    let all: [URL]
    do {
      all = try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
    } catch {
      throw RecordingError("\(folder.path): cannot be listed")
    }
    let files = all.filter { $0.pathExtension == "f32" }
    guard !files.isEmpty else { throw RecordingError("\(folder.path): no .f32 file in it") }
    return files.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Reads a file.
  package init(contentsOf file: URL, largest: Int = largestFile) throws {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: file.resolvingSymlinksInPath().path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular,
      let size = attributes?[.size] as? Int
    else { throw RecordingError("\(file.path): no file that can be read") }
    guard size <= largest else {
      throw RecordingError("\(file.path): \(size) bytes, more than the \(largest) that are read")
    }
    guard let bytes = try? Data(contentsOf: file) else {
      throw RecordingError("\(file.path): cannot be read")
    }
    guard let records = Self.records(bytes) else {
      throw RecordingError(
        "\(file.path): \(bytes.count) bytes are no whole number of rows of \(Self.rowSize)")
    }
    guard records.contains(where: { $0.isMoving && $0.truth != nil }) else {
      throw RecordingError("\(file.path): no row with movement flag 1 and truth")
    }
    self.init(name: file.deletingPathExtension().lastPathComponent, records: records)
  }

  /// The rows of a file's bytes; `nil` where they are none, or not whole.
  package static func records(_ bytes: Data) -> [Record]? {
    guard !bytes.isEmpty, bytes.count % rowSize == 0 else { return nil }
    return bytes.withUnsafeBytes { raw in
      (0..<raw.count / rowSize).map { row in
        func value(_ column: Int) -> Double {
          let offset = row * rowSize + 4 * column
          let bits = raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
          return Double(Float(bitPattern: UInt32(littleEndian: bits)))
        }
        func vector(_ column: Int) -> Vector3 {
          Vector3(value(column), value(column + 1), value(column + 2))
        }
        return Record(
          rate: vector(0), force: vector(3), field: vector(6),
          truth: rotation(w: value(9), vector: vector(10)), isMoving: value(13) == 1)
      }
    }
  }

  /// A unit quaternion, or `nil` where the four numbers are no rotation.
  private static func rotation(w: Double, vector: Vector3) -> Quaternion? {
    let square = w * w + vector.lengthSquared
    guard square.isFinite, square > 0.25 else { return nil }
    return Quaternion(w: w, vector: vector).normalized
  }
}

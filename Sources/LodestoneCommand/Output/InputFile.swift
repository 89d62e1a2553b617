// Files that a person names to be read.

import Foundation

/// A file, or standard input for `-`, read piece by piece; every mistake names it.
struct InputFile {
  private let path: String
  private let handle: FileHandle

  init(_ path: String) throws {
    self.path = path
    do {
      handle =
        path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
    } catch {
      throw CommandError(path, error)
    }
  }

  /// The next bytes, as many as there are at once, at most so many; `nil` at the end.
  func read(_ most: Int) throws -> Data? {
    do {
      let data = try handle.read(upToCount: most)
      return data?.isEmpty ?? true ? nil : data
    } catch {
      throw CommandError(path, error)
    }
  }
}

package import FoundationEssentials

/// A small file that one application of this machine keeps between its runs: whole or not there, whenever the power goes
/// or the program is killed.
package struct ApplicationFile: Sendable {
  package let file: URL
  private let folder: StateFolder

  /// Makes the name of a file; nothing is read.
  ///
  /// - Parameters:
  ///   - kind: What is kept, a folder's name.
  ///   - application: Whose it is: the name of its executable.
  ///   - folder: `StateDirectory.current()` on a board; a folder of its own in a test.
  package init(_ kind: String, of application: String, in folder: URL) {
    // A name is one step of a path, whatever it holds.
    let name = application.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }
    let isStep = name.contains { $0 != "." }
    self.folder = StateFolder(folder)
    file = folder.appending(path: kind)
      .appending(path: (isStep ? String(name.prefix(100)) : "program") + ".json")
  }

  /// Returns the names of the applications that have a file of a kind in a folder, sorted.
  package static func applications(_ kind: String, in folder: URL) -> [String] {
    StateFile.names(in: folder.appending(path: kind).path)
      .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }

  /// Reads the file.
  ///
  /// - Parameter limit: The largest file that is read, in bytes.
  package func read(limit: Int = StateFile.limit) -> ApplicationFileContent {
    switch StateFile.read(file.path, limit: limit) {
    case .missing: .missing
    case .bytes(let bytes): .data(Data(bytes))
    case .unreadable(let reason): .unreadable(reason)
    }
  }

  package func write(_ data: Data) throws {
    folder.close()
    try StateFile.write(Array(data), to: file)
  }

  /// Replaces its content for whoever comes after this process; `force` keeps it from going with the power too.
  ///
  /// For what must be said in the same moment: a rename takes microseconds, the disk milliseconds. `close` belongs before
  /// the first of them.
  package func replace(_ data: Data) throws { try StateFile.replace(file, with: Array(data)) }

  /// Closes the state folder to other users, with all that is in it.
  package func close() { folder.close() }

  /// The rest of `write` after `replace`.
  package func force() throws { try StateFile.forceNames(beside: file) }

  /// Removes the file, if there is one.
  package func remove() { StateFile.remove(file) }

  /// Puts a content that is of no use aside, under a name that ends in `.damaged`.
  package func putAside() throws {
    try StateFile.rename(file, to: file.appendingPathExtension("damaged"))
  }
}

package enum ApplicationFileContent: Sendable, Equatable {
  case missing
  case data(Data)
  /// There is one that cannot be read, and why.
  case unreadable(String)
}

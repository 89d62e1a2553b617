package import BoardFile
package import FoundationEssentials
import StateStore

/// A board file that was found and read.
package struct LocatedBoard: Sendable {
  package let board: Board
  /// Its text, for a recording.
  package let text: String
  package let file: URL
}

/// Finds board files by name or path.
package enum BoardLocator {
  /// The path that a machine's own board file has.
  package static let systemFile = "/etc/lodestone/board.yaml"

  /// No file of that name; where it was looked for.
  package struct NotFound: Error, Sendable, CustomStringConvertible {
    /// What was asked for.
    package let name: String
    /// The folders that were searched, but for those that are not there and are no usual place.
    package let folders: [String]
    /// Boards of these folders with a name that is nearly the same.
    package let near: [String]

    /// The message, in one line.
    package var description: String {
      "no board called '\(name)': there is no \(name).yaml in \(folders.joined(separator: ", ")); "
        + (near.isEmpty ? "" : "there is \(near.joined(separator: ", ")); ")
        + "a path works too, and 'simulated' is always there"
    }
  }

  /// The board called `name` (a path, or a file of a board folder with or without `.yaml`), else
  /// `$LODESTONE_BOARD`, else the machine's own file; `nil` when nothing names one: then the buses are
  /// probed.
  package static func locate(
    _ name: String?, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> LocatedBoard? {
    if let name = name ?? environment["LODESTONE_BOARD"], !name.isEmpty {
      do {
        return try read(try file(named: name))
      } catch is NotFound where name == "simulated" {
        return try simulated()
      }
    }
    guard FileManager.default.fileExists(atPath: systemFile) else { return nil }
    return try read(URL(filePath: systemFile))
  }

  /// The folders with board files, nearest first: the working directory's, the project's (above the
  /// executable), the system's.
  package static var folders: [URL] {
    var folders = [URL(filePath: FileManager.default.currentDirectoryPath)]
    var folder = URL(filePath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
    if let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    {
      folder = URL(filePath: executable)
    }
    for _ in 0..<6 {
      folder = folder.deletingLastPathComponent()
      folders.append(folder)
    }
    var seen: Set<String> = []
    return
      (folders.map { $0.appending(path: "Boards") } + [
        URL(filePath: "/etc/lodestone"), URL(filePath: "/usr/share/lodestone/Boards"),
      ]).filter { seen.insert($0.standardized.path).inserted }
  }

  private static func file(named name: String) throws -> URL {
    if name.contains("/") || name.hasSuffix(".yaml") {
      let direct = URL(filePath: name)
      if name.contains("/") || FileManager.default.fileExists(atPath: direct.path) { return direct }
    }
    let plain = name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name
    for folder in folders {
      let candidate = folder.appending(path: plain + ".yaml")
      if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
    }
    // The nearest, where a file may well be put, and the system's, whether they are there or not.
    let usual = folders.prefix(1) + folders.suffix(2)
    let places = folders.filter {
      usual.contains($0) || FileManager.default.fileExists(atPath: $0.path)
    }
    throw NotFound(name: plain, folders: places.map(\.path), near: boards(like: plain, in: places))
  }

  /// Boards whose names hold the same letters and digits, or these among others; five at most.
  private static func boards(like name: String, in folders: [URL]) -> [String] {
    func plain(_ name: String) -> String {
      name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
    let wanted = plain(name)
    guard wanted.count >= 3 else { return [] }
    let names = folders.flatMap {
      ((try? FileManager.default.contentsOfDirectory(atPath: $0.path)) ?? [])
        .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
    }
    let near = Set(names).filter { name in
      let name = plain(name)
      return name.count >= 3 && (name.contains(wanted) || wanted.contains(name))
    }
    return Array(near.sorted { ($0.count, $0) < ($1.count, $1) }.prefix(5))
  }

  // The one board that needs no hardware needs no file either: it is part of the library.
  private static func simulated() throws -> LocatedBoard {
    let text = String(decoding: PackageResources.simulated_yaml, as: UTF8.self)
    return LocatedBoard(
      board: try BoardFile.parse(text, file: "simulated.yaml"), text: text,
      file: URL(filePath: "simulated.yaml"))
  }

  private static func read(_ file: URL) throws -> LocatedBoard {
    func failure(_ message: String) -> BoardFileError {
      BoardFileError(file: file.path, line: 0, message: message)
    }
    var isFolder = false
    guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
      throw failure("there is no such file")
    }
    guard !isFolder else { throw failure("is a folder, not a board file") }
    let text: String
    do throws(FileProblem) {
      text = try TextFile.read(file.path, limit: BoardFile.limit, isNamed: true)
    } catch {
      // Errors of the system, such as a missing right, keep their own exit code.
      if error.code != 0 { throw error }
      throw failure(error.words)
    }
    return LocatedBoard(
      board: try BoardFile.parse(text, file: file.path), text: text, file: file)
  }
}

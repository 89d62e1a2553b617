package import Foundation

/// The recordings and tables beside the repository: below `$LODESTONE_SHARED`, else below `shared` next to it.
///
/// On a developer's machine a test without its data is skipped. In CI it runs and fails: a green check says that the
/// accuracy was measured.
package enum SharedData {
  /// The folder `shared`.
  package static let root: URL =
    ProcessInfo.processInfo.environment["LODESTONE_SHARED"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared")

  /// Whether missing data is an error: `$CI` is set.
  package static var isRequired: Bool {
    !(ProcessInfo.processInfo.environment["CI"] ?? "").isEmpty
  }

  /// Whether a test of this file or folder is to run, which it must where data is required.
  package static func isThere(_ path: String) -> Bool {
    isRequired || FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// The files of a folder with this extension, by name. Where data is required and there is none it is the folder itself,
  /// which no test can read.
  package static func files(in path: String, extension: String) -> [URL] {
    let folder = root.appending(path: path)
    let all = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    let files = (all ?? []).filter { $0.pathExtension == `extension` }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
    return files.isEmpty && isRequired ? [folder] : files
  }
}

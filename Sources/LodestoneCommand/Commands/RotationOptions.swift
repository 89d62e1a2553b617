import ArgumentParser
import TerminalUI

/// How the files of a series follow each other.
struct RotationOptions: ParsableArguments {
  static let discussion = """
    With --rotate the file is a series. The name of each of its files has the UTC time at which the file begins, before the \
    ending: drive-20261129T020000Z.jsonl. No file is ever written over. While the system's clock is not set or is behind the \
    newest file, a file is named one second after the newest, so that the order of the names is that of the files. A new file \
    begins when the old one is full, on SIGHUP, and at each start of the command. When the disk is full, what does not fit is \
    dropped and counted, a message says so every minute, and the file is tried again every second. Only regular files with \
    exactly such a name are deleted or compressed, and no file that is being written.
    """

  @Option(
    help: ArgumentHelp(
      """
      Begin a new file at a size such as 100M (units k, M, G; at least 64k) or after a time such as 1d (units s, m, h, d). \
      Give the option twice for both.
      """, valueName: "limit"))
  var rotate: [RotationLimit] = []

  @Option(
    help:
      "With --rotate: finished files that are kept; older ones are deleted. All are kept without it."
  )
  var keep: Int?

  @Flag(
    help: """
      Compress finished files of the series with gzip, at the lowest priority. The last file of a run is compressed by the \
      next run.
      """)
  var compress = false

  /// `nil` for one file without a series.
  var rotation: Rotation? {
    rotate.isEmpty
      ? nil : Rotation(rule: RotationRule(rotate), keep: keep, compresses: compress)
  }

  func validate() throws {
    if let keep, keep < 1 { throw ValidationError("--keep takes a number of files, 1 at least") }
    if rotate.isEmpty, keep != nil || compress {
      throw ValidationError("--keep and --compress go with --rotate")
    }
  }
}

extension RotationLimit: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}

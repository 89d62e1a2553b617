import FoundationEssentials
import Glibc

/// What is wrong with a file, in one line: its path and what the system says.
package struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
  /// The same without the path.
  package let words: String
  /// The system's error number; 0 where the system has not said anything.
  package let code: Int32

  /// What is known without the system.
  package init(_ path: String, _ words: String) { self.init(path, words, 0) }

  private init(_ path: String, _ words: String, _ code: Int32) {
    description = "\(path): \(words)"
    self.words = words
    self.code = code
  }

  /// What the system said by number.
  package init(_ path: String, errno code: Int32) {
    self.init(path, String(cString: strerror(code)).lowercased(), code)
  }

  /// What Foundation says, as the system said it to Foundation.
  package init(_ path: String, _ error: any Error) {
    var code: Int32 = 0
    var next: (any Error)? = error
    // Foundation wraps once or twice; a chain of errors ends sooner than this.
    for _ in 0..<4 {
      if let error = next as? POSIXError { code = error.code.rawValue }
      next = (next as? CocoaError)?.underlying
    }
    if code == 0, let error = error as? CocoaError {
      code =
        switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: ENOENT
        case .fileReadNoPermission, .fileWriteNoPermission: EACCES
        case .fileWriteFileExists: EEXIST
        case .fileWriteOutOfSpace: ENOSPC
        case .fileWriteVolumeReadOnly: EROFS
        default: 0
        }
    }
    self.init(path, errno: code == 0 ? EIO : code)
  }
}

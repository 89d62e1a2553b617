import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// What is wrong with a file, in one line: its path and what the system says.
public struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line for a person.
  public let description: String

  /// What is known without the system.
  init(_ path: String, _ words: String) { description = "\(path): \(words)" }

  /// What the system said by number.
  public init(_ path: String, errno code: Int32) {
    description = "\(path): \(String(cString: strerror(code)).lowercased())"
  }

  /// What Foundation says, as the system said it to Foundation.
  public init(_ path: String, _ error: any Error) {
    var code: Int32 = 0
    var next: (any Error)? = error
    // Foundation wraps once or twice; a chain of errors ends sooner than this.
    for _ in 0..<4 {
      guard let error = next as NSError? else { break }
      if error.domain == NSPOSIXErrorDomain { code = Int32(clamping: error.code) }
      next = error.userInfo[NSUnderlyingErrorKey] as? any Error
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

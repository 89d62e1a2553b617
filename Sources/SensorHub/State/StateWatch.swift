#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// One file of the state directory, looked at again and again. Confined to a worker's thread.
final class StateWatch {
  private struct Signature: Equatable {
    var exists = false
    var inode: UInt64 = 0
    var size: Int64 = 0
    var seconds = 0
    var nanoseconds = 0
  }

  private let path: String
  private var seen: Signature?

  init(path: String) { self.path = path }

  /// The file's content where it is new since the last look; the first look is always new.
  ///
  /// A look that finds nothing new is one system call and allocates nothing.
  func change() -> StateFile.Content? {
    let signature = signature()
    guard signature != seen else { return nil }
    seen = signature
    return StateFile.read(path)
  }

  private func signature() -> Signature {
    var status = stat()
    guard stat(path, &status) == 0 else { return Signature() }
    return Signature(
      exists: true, inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: Int(status.st_mtim.tv_sec), nanoseconds: Int(status.st_mtim.tv_nsec))
  }
}

// Standard output as a command writes it, with its write errors.

import Glibc
import Synchronization

/// A descriptor that receives a command's output. Nothing is written after the first write that fails, so that a reader
/// never sees output with a gap in it.
package final class OutputDescriptor: Sendable {
  private let descriptor: Int32
  /// The name in messages.
  private let name: String
  /// Receives the message about the write that failed.
  private let warn: @Sendable (String) -> Void
  /// The error number of the write that failed, including `EPIPE`; 0 if no write has failed.
  private let error = Atomic<Int32>(0)

  init(
    _ descriptor: Int32, name: String, warn: @escaping @Sendable (String) -> Void
  ) {
    self.descriptor = descriptor
    self.name = name
    self.warn = warn
  }

  /// The error number of the write that failed. `nil` if no write has failed, and after `EPIPE`: a reader may close its
  /// end of a pipe at any time.
  package var failure: Int32? {
    let code = error.load(ordering: .acquiring)
    return code == 0 || code == EPIPE ? nil : code
  }

  /// Writes all bytes. Returns false if this write or an earlier one failed. The first failure is reported to `warn`,
  /// unless it is `EPIPE`.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard error.load(ordering: .acquiring) == 0 else { return false }
    return take(Self.write(bytes, to: descriptor))
  }

  /// Closes the descriptor. Some file systems report a full disk only here.
  package func close() {
    guard error.load(ordering: .acquiring) == 0 else { return }
    _ = take(Glibc.close(descriptor) == 0 || errno == EINTR ? 0 : errno)
  }

  /// Records the error number of a call; 0 means success. Returns whether the call succeeded.
  private func take(_ code: Int32) -> Bool {
    guard code != 0 else { return true }
    let isFirst = error.compareExchange(
      expected: 0, desired: code, ordering: .acquiringAndReleasing
    ).exchanged
    if isFirst, code != EPIPE {
      warn("lodestone: cannot write to \(name): \(String(cString: strerror(code))) (\(code))")
    }
    return false
  }

  /// Writes all bytes to a descriptor. Returns 0 or the error number.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = Glibc.write(descriptor, start, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? EIO : errno }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return 0
  }

  /// Opens those of standard input, output and error that are closed. Otherwise the next file that is opened gets their
  /// number, and receives what the command prints. Writing to a standard output opened here fails with `EBADF`.
  package static func reserveStandardOnes() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ]
    where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // `open` returns the lowest free number, which is this one: those below it are open by now.
      _ = open("/dev/null", mode)
    }
  }
}

// Changes of stored files, noticed on a thread that may wait for a disk.

import Dispatch
import Glibc
import Synchronization

/// Notices which of one worker's stored files have changed, and holds what they contain until the worker takes it.
///
/// `look` asks the file system and can block for as long as the disk does. It runs on the hub's queue for disk work, never on
/// a bus thread. All other methods return at once.
package final class StateFileMonitor: Sendable {
  private struct Signature: Equatable {
    var exists = false
    var inode: UInt64 = 0
    var size: Int64 = 0
    var seconds = 0
    var nanoseconds = 0

    init(of path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return }
      exists = true
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      seconds = Int(status.st_mtim.tv_sec)
      nanoseconds = Int(status.st_mtim.tv_nsec)
    }
  }

  private let files: [MonitoredFile]
  // Held while the file system is asked, by `look` alone.
  private let seen = Mutex<[Int: Signature]>([:])
  // Held for a moment only.
  private let contents = Mutex<[Int: StateFileContent]>([:])
  private let hasNews = Atomic<Bool>(false)
  private let hasLooked = DispatchSemaphore(value: 0)
  private let queue: WorkQueue?
  private let isRequested = Atomic<Bool>(false)

  /// - Parameters:
  ///   - files: The files.
  ///   - queue: Where `look` runs; `nil`: on the thread that requests it.
  package init(_ files: [MonitoredFile], queue: WorkQueue?) {
    self.files = files
    self.queue = queue
  }

  /// Asks for a look at the files. While one is waiting or under way, another request adds nothing.
  package func request() {
    guard let queue else { return look() }
    guard !isRequested.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.add { [self] in
      look()
      isRequested.store(false, ordering: .releasing)
    }
  }

  /// Waits until the files have been looked at once, but no longer than this many seconds.
  package func waitForFirstLook(within seconds: Double) {
    _ = hasLooked.wait(timeout: .now() + seconds)
  }

  /// Reads the files that are new since the last look; in the first one all are new.
  ///
  /// A look that finds nothing new is a system call a file.
  func look() {
    seen.withLock { seen in
      for file in files {
        if file.isReadOnce, seen[file.number] != nil { continue }
        let signature = Signature(of: file.path)
        guard signature != seen[file.number] else { continue }
        seen[file.number] = signature
        let content = StateFile.read(file.path)
        contents.withLock { $0[file.number] = content }
        hasNews.store(true, ordering: .releasing)
      }
    }
    hasLooked.signal()
  }

  /// Returns whether there is content to take, and forgets that there was.
  package func takeNews() -> Bool { hasNews.exchange(false, ordering: .acquiringAndReleasing) }

  /// Takes the newest content of a file; `nil` if it has not changed since it was last taken.
  package func take(_ number: Int) -> StateFileContent? {
    contents.withLock { $0.removeValue(forKey: number) }
  }
}

/// One file to look after.
package struct MonitoredFile: Sendable {
  /// Identifies the file among all that the board looks after, and in a recording.
  package let number: Int
  let path: String
  /// Whether only its first content counts.
  var isReadOnce = false

  package init(number: Int, path: String, isReadOnce: Bool = false) {
    self.number = number; self.path = path; self.isReadOnce = isReadOnce
  }
}

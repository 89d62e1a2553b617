// How much memory a process keeps.

import CLinuxIO

/// Limits of the memory that a process keeps.
package enum MemoryLimits {
  /// Limits the number of arenas that threads allocate from. Call it before the process has threads.
  ///
  /// By default each thread gets an arena, up to eight per processor core, and each keeps the most that it has ever needed.
  package static func limitArenas(to most: Int) { lodestone_limit_arenas(Int32(clamping: most)) }

  /// Gives back the memory of all code that is mapped; code that runs again is mapped again, from the kernel's cache, in microseconds.
  ///
  /// The kernel maps 64 KB of a program around each page that is touched. Most of what a process has mapped when it has started was
  /// touched for the start only, or never.
  package static func releaseCode() { lodestone_release_code() }
}

// How much memory the allocator may keep for a process.

import CLinuxIO

/// Limits of the memory that the allocator keeps.
package enum MemoryLimits {
  /// Limits the number of arenas that threads allocate from. Call it before the process has threads.
  ///
  /// By default each thread gets an arena, up to eight per processor core, and each keeps the most that it has ever needed.
  package static func limitArenas(to most: Int) { lodestone_limit_arenas(Int32(clamping: most)) }
}

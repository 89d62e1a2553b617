// Which units a sweep judges: others with another SEED.

import Foundation

enum Seeds {
  /// The first unit: SEED from the environment, 1 where it is not said.
  static let first = ProcessInfo.processInfo.environment["SEED"].flatMap { Int($0) } ?? 1
  /// What is added to numbers that are a sweep's own.
  static var shift: UInt64 { UInt64(max(0, first - 1)) * 1_000_003 }

  static func units(_ count: Int) -> ClosedRange<Int> { first...first + count - 1 }
}

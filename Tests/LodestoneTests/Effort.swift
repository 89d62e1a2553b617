import Foundation

/// How much chance is tried: little in a check, much in `make check-long`.
enum Effort {
  static let isLong = ProcessInfo.processInfo.environment["LODESTONE_LONG"] == "1"

  /// Seeds for a test: the first few, or many.
  static func seeds(_ few: Int, long: Int) -> [Int] { Array(1...(isLong ? long : few)) }
}

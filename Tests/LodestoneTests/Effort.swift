import Foundation

/// How much chance is tried: little in a check, much in `make check-long`.
enum Effort {
  static let isLong = ProcessInfo.processInfo.environment["LODESTONE_LONG"] == "1"

  /// Whether the tests are built as a product is: figures of speed and of hundreds of runs need it.
  #if DEBUG
    static let isOptimised = false
  #else
    static let isOptimised = true
  #endif

  /// Seeds for a test: the first few, or many.
  static func seeds(_ few: Int, long: Int) -> [Int] { Array(1...(isLong ? long : few)) }
}

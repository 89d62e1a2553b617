import CFuzzer
import Foundation
import FuzzChecks

/// Attacks `StreamChecks.gpsd`.
@main
struct FuzzGPSD {
  static func main() {
    let code = fuzz(CommandLine.argc, CommandLine.unsafeArgv) { start, count in
      let failures = StreamChecks.gpsd([UInt8](UnsafeBufferPointer(start: start, count: count)))
      if !failures.isEmpty { fatalError(failures.joined(separator: "; ")) }
      return 0
    }
    exit(code)
  }
}

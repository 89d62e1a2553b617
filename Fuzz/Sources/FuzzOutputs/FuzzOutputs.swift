import CFuzzer
import Foundation
import FuzzChecks

/// Passes each input to the checks of what peers of outputs say (`OutputChecks.output`).
@main
struct FuzzOutputs {
  static func main() {
    let code = fuzz(CommandLine.argc, CommandLine.unsafeArgv) { start, count in
      let failures = OutputChecks.output([UInt8](UnsafeBufferPointer(start: start, count: count)))
      if !failures.isEmpty { fatalError(failures.joined(separator: "; ")) }
      return 0
    }
    exit(code)
  }
}

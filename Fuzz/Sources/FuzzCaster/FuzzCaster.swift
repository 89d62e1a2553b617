import CFuzzer
import Foundation
import FuzzChecks

/// Passes each input to the checks of what a caster sends (`CasterChecks.caster`).
@main
struct FuzzCaster {
  static func main() {
    let code = fuzz(CommandLine.argc, CommandLine.unsafeArgv) { start, count in
      let failures = CasterChecks.caster([UInt8](UnsafeBufferPointer(start: start, count: count)))
      if !failures.isEmpty { fatalError(failures.joined(separator: "; ")) }
      return 0
    }
    exit(code)
  }
}

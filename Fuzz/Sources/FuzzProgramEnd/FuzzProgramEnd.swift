import CFuzzer
import Foundation
import FuzzChecks

/// Attacks a program's end of a connection, as `ServiceChecks.programEnd` checks it.
@main
struct FuzzProgramEnd {
  static func main() {
    let code = fuzz(CommandLine.argc, CommandLine.unsafeArgv) { start, count in
      let failures = ServiceChecks.programEnd(
        [UInt8](UnsafeBufferPointer(start: start, count: count)))
      if !failures.isEmpty { fatalError(failures.joined(separator: "; ")) }
      return 0
    }
    exit(code)
  }
}

import CFuzzer
import Foundation
import FuzzChecks

/// Attacks the daemon's end of a connection, as `ServiceChecks.daemonEnd` checks it.
@main
struct FuzzDaemonEnd {
  static func main() {
    let code = fuzz(CommandLine.argc, CommandLine.unsafeArgv) { start, count in
      let failures = ServiceChecks.daemonEnd(
        [UInt8](UnsafeBufferPointer(start: start, count: count)))
      if !failures.isEmpty { fatalError(failures.joined(separator: "; ")) }
      return 0
    }
    exit(code)
  }
}

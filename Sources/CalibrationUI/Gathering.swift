import Glibc
package import Lodestone
package import SensorTypes
import TerminalUI

/// Runs a board with everything on and hands on what its chips say, raw, and what the hub makes of it.
package struct Gathering {
  let session: any CalibrationBoard

  /// Calls `body` with each batch, at least every `patience` seconds, until it returns false or somebody
  /// interrupts; the board is stopped then. A batch may be empty.
  package func run(patience: Double = 0.1, _ body: ([BoardOutput]) throws -> Bool) throws
    -> GatheringEnd
  {
    let arrivals = ArrivalQueue<BoardOutput>()
    let interrupts = Interrupts { arrivals.stop($0) }
    session.begin(.everything, readings: { arrivals.post(.reading($0)) }) {
      arrivals.post(.observation($0))
    }
    defer {
      session.end()
      withExtendedLifetime(interrupts) {}
    }
    var batch: [BoardOutput] = []
    while arrivals.stopSignal == nil {
      // What was dropped is lost to a fit and to nobody else.
      _ = arrivals.take(into: &batch, waiting: patience)
      let goesOn = try body(batch)
      // The program that reads the progress would never see the result.
      if Terminal.output.failure != nil { throw CommandExit.finding }
      guard goesOn else { return .finished }
    }
    return .interrupted(by: arrivals.stopSignal ?? SIGTERM)
  }

  package init(session: any CalibrationBoard) { self.session = session }
}

/// How a gathering ended.
package enum GatheringEnd {
  /// As the caller wished.
  case finished
  /// By Ctrl-C or a service manager's stop: the signal's number.
  case interrupted(by: Int32)

  /// Throws the exit code of a gathering that a signal has ended, and says so.
  package func check() throws {
    if case .interrupted(let signal) = self { throw Interrupts.end(by: signal) }
  }
}

/// One thing that came.
package enum BoardOutput: Sendable {
  /// A sample of a chip, before calibration and mount.
  case reading(SensorReading)
  /// What the hub published.
  case observation(Observation)
}

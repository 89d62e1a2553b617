package import BoardFile
import FoundationEssentials
package import FusionCore
import Geomagnetism
package import Recording
package import SensorTypes
import StateStore

/// Runs a recording through the same drivers, supervision and fusion again.
///
/// Time is the recording's: nothing waits, and two runs are alike to the bit.
package struct Replay {
  /// A recording that cannot be followed: by the drivers of this version, or because steps are missing.
  package struct Divergence: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line of the recording at which the step begins.
    package var line: Int
    /// What was asked for.
    package var message: String

    /// The message, in one line.
    package var description: String { "line \(line): \(message)" }
  }

  /// Replays all of `recording`.
  ///
  /// - Parameters:
  ///   - board: The board of the recording, parsed from its own text.
  ///   - smoother: What `smoother(for:board:)` has made of the same recording; headings, where the
  ///     filter ran, are then those that it finds with their accuracy and attitude. All else is as without: whether a
  ///     heading has an accuracy at all, its `reason` and field, and every other kind of observation.
  ///   - isWanted: Asked before each step whether the replay goes on.
  ///   - clock: Told what the system's clock showed and when, each time that a worker looked.
  ///   - handler: Takes what is published, in order.
  package static func run(
    _ recording: Recording, board: Board, smoother: AttitudeSmoother? = nil,
    isWanted: () -> Bool = { true },
    clock: (_ reading: ClockReading, _ time: Timestamp) -> Void = { _, _ in },
    handler: (Observation) -> Void
  ) throws(Divergence) {
    let pass = smoother.map { SmoothingPass.second($0) } ?? .none
    let played = play(recording, board, pass, isWanted: isWanted, clock: clock, handler: handler)
    if let divergence = played.divergence { throw divergence }
  }

  /// Replays `recording` to learn what it says of attitude as a whole; of a damaged one up to the damage, which
  /// `run` then tells.
  ///
  /// The filter is tuned for that with `AttitudeParameters.offline`; `run` has the default ones.
  /// - Returns: A smoother; an empty one where there was no gyro with an accelerometer.
  package static func smoother(for recording: Recording, board: Board) -> AttitudeSmoother {
    play(recording, board, .first, isWanted: { true }, clock: { _, _ in }, handler: { _ in })
      .pipeline.makeSmoother()
  }

  private static func play(
    _ recording: Recording, _ board: Board, _ pass: SmoothingPass, isWanted: () -> Bool,
    clock: (_ reading: ClockReading, _ time: Timestamp) -> Void, handler: (Observation) -> Void
  ) -> (pipeline: Pipeline, divergence: Divergence?) {
    var models = [MagneticModel.wmm2025]
    var problem: Divergence?
    do throws(CoefficientFileError) {
      if let text = recording.modelText {
        models.append(try MagneticModel(coefficientFile: text))
      }
    } catch {
      problem = Divergence(line: recording.modelLine + error.line, message: error.message)
    }
    var pipeline = Pipeline(board: board, models: models, isSimulated: true, pass: pass)
    if let problem { return (pipeline, problem) }
    // Never looked into: what was stored is in the recording.
    let state = StateStore(folder: URL(filePath: "/nonexistent"))
    let demand = DemandBox()
    demand.value = .everything
    var delivered: [WorkerOutput] = []
    // The workers of one thread: a class, because the closures below outlive this line.
    final class Collector { var deliveries: [WorkerOutput] = [] }
    let collector = Collector()
    let workers = WorkerPlan.plans(for: board).map { plan in
      let player = Player()
      let worker = plan.makeWorker(
        input: player, state: state, demand: demand
      ) {
        deliveries, _ in collector.deliveries = deliveries
      }
      return (worker: worker, player: player)
    }
    let hole = recording.holes.first
    let steps = recording.steps[..<(hole?.position ?? recording.steps.count)]
    for (index, step) in steps.enumerated() where isWanted() {
      let line = recording.stepLines[index]
      guard step.worker < workers.count, step.worker >= 0 else {
        let message = "worker \(step.worker) is not of this board"
        return (pipeline, Divergence(line: line, message: message))
      }
      let (worker, player) = workers[step.worker]
      player.load(step.lines)
      _ = worker.step()
      if let message = player.finish() {
        return (pipeline, Divergence(line: line, message: message))
      }
      delivered = collector.deliveries
      for delivery in delivered {
        if case .wallTime(let seconds, let isSet, let time) = delivery {
          clock(ClockReading(seconds: seconds, isSet: isSet), time)
        }
        pipeline.process(delivery, publish: handler)
      }
    }
    // The drivers know nothing of what happened meanwhile: what follows would answer other questions.
    let divergence = (isWanted() ? hole : nil).map { hole in
      let steps = hole.missing == 1 ? "step is" : "steps are"
      return Divergence(
        line: hole.line,
        message: "\(hole.missing) \(steps) missing, because what was recorded into was too slow; "
          + "the replay ends here")
    }
    return (pipeline, divergence)
  }
}

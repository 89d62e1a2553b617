import Synchronization
import TextForms

/// A person at the terminal, with the board on the desk.
package final class Person: Operator {
  /// Why a step is skipped after the end of input.
  static let ended = "input ended"

  package let name = "a person"
  package let isPerson = true
  private let say: @Sendable (String) -> Void
  private let answer: @Sendable (String) throws(BrokenOff) -> String?
  private let isGone = Atomic<Bool>(false)

  /// - Parameters:
  ///   - say: Shows a line.
  ///   - answer: Asks a question and waits for a line that was begun after it; `nil` when there is nobody any
  ///     more.
  package init(
    say: @escaping @Sendable (String) -> Void,
    answer: @escaping @Sendable (String) throws(BrokenOff) -> String?
  ) {
    self.say = say
    self.answer = answer
  }

  /// Whether input has ended.
  package var hasLeft: Bool { isGone.load(ordering: .relaxed) }

  /// Hands turn, tilt, lift, and pull one wire.
  package func objection(to action: ScenarioAction) -> String? {
    switch action {
    case .measure, .turn, .tilt, .lift: nil
    case .fault(_, let fault, _):
      fault == .noAnswer || fault == .receiverSilent
        ? nil : "\(fault.rawValue) is not for hands: it needs a rig (--rig) or the simulated board"
    case .randomFaults: "random faults are not for hands: they need a rig or the simulated board"
    case .show:
      "showing a chip something exact is not for hands: it needs a rig or the simulated board"
    }
  }

  /// Asks for the wire to be pulled.
  package func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    if let objection = objection(to: .fault(chip: chip.index, fault, seconds: seconds)) {
      throw OperatorError(objection)
    }
    try ask(
      "Pull the wire of \(chip.name) (SDA, or TX of a receiver), and press return at that moment. "
        + "You will be told when to plug it back, after \(Report.figure(seconds)) s.")
    say("    \(chip.name) is to be off now; leave it off")
  }

  package func show(_ shown: Shown, on chip: ChipTarget) throws {
    throw OperatorError("showing an exact \(shown) is not for hands: it needs a rig")
  }

  package func endShow(on chip: ChipTarget) throws {}

  /// Shows the instruction and waits for the return key.
  package func ask(_ instruction: String) throws {
    switch try line("\n>>> \(instruction)\n>>> Return begins, s skips the step: ") {
    case nil: throw StepSkipped(Self.ended)
    case "s"?: throw StepSkipped("skipped by the person")
    default: return
    }
  }

  /// Asks whether a failed step is to be repeated.
  package func wantsAgain() throws(BrokenOff) -> Bool {
    try line("\n>>> r repeats the step, return goes on: ").map { ["r", "y"].contains($0) } ?? false
  }

  // The first letter of an answer, in small; `nil` when there is none to come.
  private func line(_ question: String) throws(BrokenOff) -> String? {
    guard !hasLeft else { return nil }
    guard let line = try answer(question) else {
      isGone.store(true, ordering: .relaxed)
      say("\n\(Self.ended): the remaining steps by hand are skipped")
      return nil
    }
    return String(line.trimmingBlanks().lowercased().prefix(1))
  }
}

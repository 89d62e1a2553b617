// The prompts that a daemon has a program show.

import LocationServices
import SensorTypes

/// The prompts that a program shows for its daemon.
struct ShownPrompts: Sendable {
  private var isCalibrationShown = false
  /// The number of authorization prompts that a program takes. A daemon that sends more is not heard.
  private static let most = 64
  /// The numbers of the authorization prompts that the program's agent shows, or is about to show.
  private var authorizations: [UInt64] = []

  /// Returns what the program hears of a message about prompts.
  mutating func accept(_ message: DaemonMessage) -> [ProgramEnd.Incoming] {
    switch message {
    case .calibrationPrompt(let change):
      let before: [ProgramEnd.Incoming] =
        isCalibrationShown ? [.calibrationPrompt(.dismiss(.dismissed))] : []
      guard case .show = change else {
        isCalibrationShown = false
        return [.calibrationPrompt(change)]
      }
      isCalibrationShown = true
      return before + [.calibrationPrompt(change)]
    case .calibrationProgress(let progress): return [.calibrationProgress(progress)]
    case .authorizationPrompt(let prompt, let client):
      guard authorizations.count < Self.most else { return [] }
      authorizations.append(prompt.number)
      return [.authorizationPrompt(prompt, of: client)]
    case .withdrawnPrompt(let number):
      return isAnswered(number) ? [.withdrawnPrompt(number)] : []
    default: return []
    }
  }

  /// Whether an answer is one to the prompt that is shown, which it then is no longer.
  mutating func isAnswered(_ prompt: UInt64) -> Bool {
    guard let index = authorizations.firstIndex(of: prompt) else { return false }
    authorizations.remove(at: index)
    return true
  }

  /// Returns what the program hears when the daemon has gone.
  mutating func takeDown() -> [ProgramEnd.Incoming] {
    var incoming: [ProgramEnd.Incoming] = []
    if isCalibrationShown { incoming.append(.calibrationPrompt(.dismiss(.boardChanged))) }
    incoming += authorizations.map { .withdrawnPrompt($0) }
    self = ShownPrompts()
    return incoming
  }
}

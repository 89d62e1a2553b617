// The prompt that asks for a calibration, and who shows it.

import Dispatch
import Inboxes
import LocationServices
import SensorHub
import SensorTypes

/// Shows the prompt that asks for a calibration, on a separate queue.
///
/// A presenter may write to a terminal that is slow: it is never called on the thread that publishes, and its methods are called one
/// after the other. One that only passes on is called at once, so that prompts and events keep their order.
package final class PromptStage: Sendable {
  struct State: Sendable {
    var presenter: any HeadingCalibrationPresenter = NoCalibrationPresenter()
    var standing: ShownPrompt?
  }

  let state = OrderedLock("the presenter's lock", State())
  private let queue = DispatchQueue(label: "lodestone.prompt")

  /// Who shows the next prompt.
  package var presenter: any HeadingCalibrationPresenter {
    get { state.withLock { $0.presenter } }
    set {
      // The old one goes outside of the lock: its `deinit` may call the runtime.
      let old = state.withLock { state in
        let old = state.presenter
        state.presenter = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Whether a prompt is shown.
  var isShowing: Bool { state.withLock { $0.standing != nil } }

  /// Shows a prompt, or takes it down.
  ///
  /// - Parameter passLock: Takes and leaves the lock that the caller holds.
  func take(_ change: CalibrationPromptChange, passLock: @escaping @Sendable () -> Void) {
    switch change {
    case .show(let prompt):
      let standing = state.withLock { state in
        let standing = ShownPrompt(presenter: state.presenter)
        state.standing = standing
        return standing
      }
      if let relay = standing.presenter as? any PromptRelay { return relay.show(prompt) }
      standing.progress.setWake(.atOnce { [queue] in queue.async(execute: standing.update) })
      queue.async { standing.presenter.show(prompt) }
    case .dismiss(let end):
      let standing = state.withLock { state in
        defer { state.standing = nil }
        return state.standing
      }
      guard let standing else { return }
      if let relay = standing.presenter as? any PromptRelay { return relay.dismiss(end) }
      standing.progress.setWake(.nobody)
      queue.async {
        // The caller lets go of the presenter first: a `deinit` of it may call the runtime.
        passLock()
        standing.presenter.dismiss(end)
      }
    }
  }

  /// Passes progress on to the presenter that shows the prompt. If the presenter is slower than the
  /// calibration, it gets only the newest progress.
  func update(_ progress: CalibrationProgress) {
    state.withLock { state in
      if let relay = state.standing?.presenter as? any PromptRelay { return relay.update(progress) }
      _ = state.standing?.progress.post(progress)
    }
  }
}

/// A presenter that passes prompts on without waiting. Its methods may be called with the services' locks held.
package protocol PromptRelay: HeadingCalibrationPresenter {}

/// Who shows a prompt that stands, and the newest progress, which waits to be shown by it.
struct ShownPrompt: Sendable {
  let presenter: any HeadingCalibrationPresenter
  let progress = Inbox<CalibrationProgress, OneKind>(InboxPolicy(.newest))

  /// Shows the newest progress.
  func update() {
    progress.beginRound()
    if let newest = progress.take() { presenter.update(newest) }
  }
}

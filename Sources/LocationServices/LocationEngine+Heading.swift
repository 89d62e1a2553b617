// Headings: who is told of them, and when interference is a failure; and the calibration prompt, which follows from them.

package import SensorTypes

extension LocationEngine {
  /// What has become of the calibration prompt, in order, one a call; `nil` when all was said.
  package mutating func takePromptChange() -> CalibrationPromptChange? {
    promptChanges.isEmpty ? nil : promptChanges.removeFirst()
  }

  /// Whether the calibration prompt stands.
  package var showsPrompt: Bool { prompt.isShown }

  mutating func startHeading(
    _ index: Int, at now: Timestamp, _ emit: (ServiceEvent) -> Void
  ) {
    guard clients[index].heading == nil else { return }
    // Nobody has waited for headings meanwhile.
    if !clients.contains(where: { $0.heading != nil }) { headingFreshness = Freshness() }
    clients[index].heading = HeadingFilter()
    clients[index].hasToldHeadingLoss = false
    switch heading {
    case .nothing: break
    case .value(let estimate):
      if now.seconds(since: estimate.time) <= Self.headingLifetime {
        deliver(estimate, index, emit)
      }
    case .missing(let reason): tellHeadingLoss(reason, index, emit)
    }
  }

  /// Notes that the board has given a heading, at `now` on the clock that requests are dated by.
  package mutating func noteHeading(at now: Timestamp) { headingFreshness.note(now) }

  /// When the newest heading stops standing for now; `nil` while nobody waits for one.
  var headingDeadline: Timestamp? {
    guard clients.contains(where: { $0.heading != nil }) else { return nil }
    return headingFreshness.deadline
  }

  /// Takes away a heading that has grown old: a board that stands still says nothing, not even that it has no heading.
  mutating func advanceHeading(to now: Timestamp, _ emit: (ServiceEvent) -> Void) {
    guard let deadline = headingDeadline, now >= deadline else { return }
    let age = headingFreshness.lifetime
    headingFreshness = Freshness()
    let seconds = Int(age.rounded())
    let reason = NoData.sensorLost("nothing was heard of the compass for \(seconds) s")
    if case .value = heading { heading = .missing(reason) }
    for index in clients.indices where clients[index].heading != nil {
      guard !clients[index].isSuspended else { continue }
      emit(ServiceEvent(client: clients[index].id, content: .headingExpired))
      tellHeadingLoss(reason, index, emit)
    }
  }

  // An old heading is worth nothing to a client that wakes up: the next one is for it.
  mutating func deliver(
    _ estimate: HeadingEstimate, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard clients[index].heading != nil, !clients[index].isSuspended else { return }
    let settings = clients[index].settings
    let isReduced = authorization.report.accuracy == .reduced
    let estimate = isReduced ? ObservationFilter.reduce(estimate) : estimate
    if var report = HeadingReport(estimate, orientation: settings.headingOrientation) {
      // True heading needs a position, and tells something of it.
      if !authorization.mayLocate { report.trueHeading = nil }
      if clients[index].heading?.accepts(report, filter: settings.headingFilter) == true {
        emit(ServiceEvent(client: clients[index].id, content: .heading(report)))
      }
    }
    guard let since = interferenceSince, let reason = estimate.reason else {
      clients[index].hasToldHeadingLoss = false
      return
    }
    if estimate.time.seconds(since: since) > Self.interferencePatience {
      tellHeadingLoss(reason, index, emit)
    }
  }

  mutating func noteInterference(_ estimate: HeadingEstimate) {
    if case .magneticInterference = estimate.reason, estimate.accuracy == nil {
      interferenceSince = interferenceSince ?? estimate.time
    } else {
      interferenceSince = nil
    }
  }

  /// Whether anybody wants headings, or an attitude against north.
  private var wantsHeading: Bool {
    clients.contains { $0.heading != nil || $0.observer?.request.demand.heading == true }
      || wantsNorth
  }

  // Every client that can answer is asked, also one that was made while the question is open.
  mutating func judgePrompt(
    _ estimate: HeadingEstimate, _ emit: (ServiceEvent) -> Void
  ) {
    if prompt.take(estimate, mayAsk: isInForeground && wantsHeading) {
      wanting = nil
      promptChanges.append(.dismiss(.calibrated))
    }
    closeQuestion(emit)
    guard isInForeground, var question = prompt.question else { return }
    question.prompt = shown(question.prompt)
    toldQuestion = question.number
    for index in clients.indices where clients[index].asked != question.number {
      guard clients[index].settings.answersQuestions, !clients[index].isSuspended else { continue }
      clients[index].asked = question.number
      emit(ServiceEvent(client: clients[index].id, content: .question(question)))
    }
  }

  /// Tells those that were asked that nothing is asked any more.
  mutating func closeQuestion(_ emit: (ServiceEvent) -> Void) {
    guard let told = toldQuestion, prompt.number != told else { return }
    toldQuestion = nil
    for client in clients where client.asked == told {
      emit(ServiceEvent(client: client.id, content: .questionClosed(told)))
    }
  }

  mutating func answer(_ question: UInt64, _ display: Bool, of client: ClientID) {
    guard let prompt = prompt.answer(question, display: display) else { return }
    wanting = client
    promptChanges.append(.show(shown(prompt)))
  }

  mutating func dismissPrompt(_ end: CalibrationPromptEnd) {
    guard prompt.dismiss() else { return }
    wanting = nil
    promptChanges.append(.dismiss(end))
  }

  mutating func tellHeadingLoss(
    _ reason: NoData, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard clients[index].heading != nil, !clients[index].hasToldHeadingLoss,
      Self.isWorthTelling(reason)
    else { return }
    clients[index].hasToldHeadingLoss = true
    emitFailure(.heading, reason, index, emit)
  }
}

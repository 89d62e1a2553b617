// The location service as one client has it: its updates, their pause, its request.

import SensorTypes

/// What a client has started of the location service, and what it has been told.
///
/// Updates and a request exclude each other: to start updates cancels a request, and while they run none begins.
struct ClientLocation: Sendable {
  typealias Emit = (EventContent) -> Void

  /// The longest time between two positions, seconds.
  static let longestInterval = 60.0
  /// The shortest that an accuracy in metres asks for, which is also that of a client that waits for its first
  /// position, seconds.
  static let shortestInterval = 1.0
  /// How often a client that is paused has the board looked for, seconds.
  static let pausedInterval = 30.0

  private struct Updates: Sendable {
    var filter = LocationFilter()
    var standstill = StationaryDetector()
    var isPaused = false
    /// Whether the loss that lasts was told.
    var hasToldLoss = false
    /// What makes positions wait.
    var deferral: Deferral?
  }

  private var updates: Updates?
  private var request: LocationRequest?

  /// Whether positions are wanted of the board.
  var isWanted: Bool { updates != nil || request != nil }

  /// Whether updates are started.
  var isUpdating: Bool { updates != nil }

  /// When something is due without any position coming; `nil`: never.
  var deadline: Timestamp? {
    LocationEngine.earlier(request?.deadline, updates?.deferral?.deadline)
  }

  /// Seconds that may lie between two positions for this client; `nil`: as fast as it goes.
  ///
  /// Where an accuracy in metres is desired it is the time in which the board gets so far, within limits. The first
  /// position, and the answer to a request, are not to wait for that.
  func interval(_ settings: ClientSettings) -> Double? {
    let isPaused = updates?.isPaused == true
    guard let desired = settings.finiteAccuracy else { return isPaused ? Self.pausedInterval : nil }
    guard updates?.filter.delivered != nil || isPaused else { return Self.shortestInterval }
    let shortest = isPaused ? Self.pausedInterval : Self.shortestInterval
    return min(max(desired / settings.activity.cruisingSpeed, shortest), Self.longestInterval)
  }

  /// Starts updates. What is known and still of use is told at once, and then that there is nothing at the moment.
  mutating func start(
    _ known: LocationReport?, _ loss: NoData?, at now: Timestamp, _ settings: ClientSettings,
    distance: LocationEngine.Distance, _ emit: Emit
  ) {
    request = nil
    if updates != nil {
      // The SDK leaves it to the application to start again after a pause.
      guard resume(emit) else { return }
    } else {
      updates = Updates()
    }
    // How long the board stands counts from the first position that comes.
    if let known, known.isOfUse(at: now, settings) {
      deliver(known, settings, distance: distance, emit)
    }
    if let loss { lose(loss, emit) }
  }

  /// Begins a request; nothing while updates run or another one waits.
  mutating func ask(
    _ known: LocationReport?, _ loss: NoData?, at now: Timestamp, _ settings: ClientSettings,
    _ emit: Emit
  ) {
    guard updates == nil, request == nil else { return }
    request = LocationRequest(at: now)
    if let known, known.isOfUse(at: now, settings) { offer(known, at: now, settings, emit) }
    if let loss { lose(loss, emit) }
  }

  /// Stops updates and cancels a request. What waits is not told any more.
  mutating func stop(_ emit: Emit) {
    updates?.deferral?.forget()
    endDeferral(.canceled, emit)
    updates = nil
    request = nil
  }

  /// Lets positions wait, in the place of what was allowed before. Whatever comes of it, its end is told once.
  mutating func allowDeferral(
    distance: Double, timeout: Double, _ loss: NoData?, at now: Timestamp,
    _ settings: ClientSettings, _ emit: Emit
  ) {
    endDeferral(.canceled, emit)
    guard let updates, !updates.isPaused else { return emit(.deferralEnded(.notUpdating)) }
    if let problem = settings.deferralProblem { return emit(.deferralEnded(problem)) }
    // A receiver that is about to speak is none that is lost.
    if let loss, loss != .notYet { return emit(.deferralEnded(.failed(loss.description))) }
    guard
      let deferral = Deferral(
        distance: distance, timeout: timeout, from: updates.filter.delivered, at: now)
    else {
      let problem = "\(distance) m or \(timeout) s is no limit"
      return emit(.deferralEnded(.failed(problem)))
    }
    self.updates?.deferral = deferral
  }

  /// Ends a deferral; nothing where none is under way. What waits is told, then the end.
  mutating func endDeferral(_ problem: DeferralProblem?, _ emit: Emit) {
    guard let deferral = updates?.deferral else { return }
    updates?.deferral = nil
    if !deferral.gathered.isEmpty { emit(.deferredLocations(deferral.gathered)) }
    emit(.deferralEnded(problem))
  }

  /// What waits may not be known any more: it is forgotten, and the deferral ends.
  mutating func withdraw(_ emit: Emit) {
    updates?.deferral?.forget()
    endDeferral(.failed("the application may not know any more where the board was"), emit)
  }

  /// Other settings hold: a pause that is not allowed any more ends, and so does a deferral.
  mutating func configure(_ settings: ClientSettings, _ emit: Emit) {
    if !settings.pausesAutomatically { _ = resume(emit) }
    if let problem = settings.deferralProblem { endDeferral(problem, emit) }
  }

  /// Forgets what the board has said: another one speaks now.
  mutating func forget() {
    request?.forget()
    if var updates {
      updates.deferral?.forget()
      self.updates = Updates(isPaused: updates.isPaused, deferral: updates.deferral)
    }
  }

  /// Takes a position; returns whether updates tell it, now or with those that wait.
  mutating func take(
    _ report: LocationReport, _ settings: ClientSettings, distance: LocationEngine.Distance,
    _ emit: Emit
  ) -> Bool {
    offer(report, at: report.time, settings, emit)
    guard let hasMoved = updates?.standstill.take(report, distance: distance) else { return false }
    if updates?.isPaused == true {
      guard hasMoved else { return false }
      updates?.isPaused = false
      emit(.resumed)
    }
    let isTold = deliver(report, settings, distance: distance, emit)
    if settings.pausesAutomatically,
      updates?.standstill.duration ?? 0 >= settings.activity.standstill
    {
      endDeferral(.notUpdating, emit)
      updates?.isPaused = true
      emit(.paused)
    }
    return isTold
  }

  /// There is no position at the moment. A board without a receiver has none either, and a client that waits for one
  /// must hear it; once a loss. A request waits for a position, unless there can be none.
  mutating func lose(_ reason: NoData, _ emit: Emit) {
    if request != nil, case .notEquipped = reason { failRequest(reason, emit) }
    guard let updates, !updates.isPaused else { return }
    self.updates?.standstill.forget()
    guard !updates.hasToldLoss else { return }
    self.updates?.hasToldLoss = true
    emit(.failure(ServiceFailure(service: .location, reason: reason.description)))
  }

  /// Answers a request, and ends a deferral, whose time is over.
  mutating func advance(to now: Timestamp, _ loss: NoData?, _ emit: Emit) {
    if let deadline = updates?.deferral?.deadline, now >= deadline { endDeferral(nil, emit) }
    guard let request, now >= request.deadline else { return }
    if let best = request.best {
      self.request = nil
      emit(.requestedLocation(best))
    } else {
      failRequest(loss ?? .notYet, emit)
    }
  }

  private mutating func failRequest(_ reason: NoData, _ emit: Emit) {
    request = nil
    emit(.requestFailed(ServiceFailure(service: .location, reason: reason.description)))
  }

  private mutating func offer(
    _ report: LocationReport, at now: Timestamp, _ settings: ClientSettings, _ emit: Emit
  ) {
    guard let answer = request?.take(report, at: now, for: settings) else { return }
    request = nil
    emit(.requestedLocation(answer))
  }

  @discardableResult
  private mutating func deliver(
    _ report: LocationReport, _ settings: ClientSettings, distance: LocationEngine.Distance,
    _ emit: Emit
  ) -> Bool {
    updates?.hasToldLoss = false
    let filter = settings.distanceFilter
    guard updates?.filter.accepts(report, filter: filter, distance: distance) == true else {
      return false
    }
    switch updates?.deferral?.take(report, measure: distance) {
    case nil: emit(.location(report))
    case .waits: break
    case .reached: endDeferral(nil, emit)
    case .full:
      endDeferral(.failed("\(Deferral.limit) locations wait, and no more can"), emit)
    }
    return true
  }

  /// Ends a pause; returns whether there was one.
  private mutating func resume(_ emit: Emit) -> Bool {
    guard updates?.isPaused == true else { return false }
    updates?.isPaused = false
    updates?.standstill.forget()
    emit(.resumed)
    return true
  }
}

extension ClientSettings {
  /// The accuracy that is desired, metres; `nil`: the best.
  var finiteAccuracy: Double? { desiredAccuracy > 0 ? desiredAccuracy : nil }

  /// What keeps positions from waiting; `nil`: nothing does.
  var deferralProblem: DeferralProblem? {
    if finiteAccuracy != nil { return .accuracyTooLow }
    return distanceFilter > 0 ? .distanceFiltered : nil
  }
}

extension LocationReport {
  /// Whether it answers a client that has just begun: it is new, or the board is still as near to it as the client
  /// desires.
  func isOfUse(at now: Timestamp, _ settings: ClientSettings) -> Bool {
    if now.seconds(since: time) <= LocationEngine.locationLifetime { return true }
    guard let desired = settings.finiteAccuracy else { return false }
    return uncertainty(at: now, activity: settings.activity) ?? .infinity <= desired
  }
}

// Which of the clients hears what, and which failures are worth telling.

import Geodesy
import SensorTypes

extension LocationEngine {
  // Positions are emitted for a suspended client too: it gets them in one batch when it runs again.
  mutating func deliver(
    _ report: LocationReport, _ reduced: LocationReport, _ index: Int,
    _ emit: (ServiceEvent) -> Void
  ) {
    let (client, settings) = (clients[index].id, settings(of: clients[index]))
    let shown = isReduced(settings) ? reduced : report
    let isTold = clients[index].location.take(shown, settings, distance: distance) {
      emit(ServiceEvent(client: client, content: $0))
    }
    tellChange(report, as: shown, index) { if !isTold { emit($0) } }
    if let visit = clients[index].visits?.take(report, distance: distance) {
      let told = isReduced(settings) ? ReducedAccuracy.reduce(visit) : visit
      emit(ServiceEvent(client: client, content: .visit(told)))
    }
  }

  mutating func judgeRegions(
    _ report: LocationReport, _ tell: (RegionEvent) -> Void, answer: (ServiceEvent) -> Void
  ) {
    let (distance, clients) = (distance, clients)
    regions.take(report, distance: distance) {
      clients.hearRegions(of: $0)
    } tell: {
      tell($0)
    } answer: {
      answer(ServiceEvent(client: $0, content: .region($1)))
    }
  }

  // Whether the board is somewhere else is judged by where it really is. Whoever has the same position of the updates is
  // not told twice.
  mutating func tellChange(
    _ report: LocationReport, as shown: LocationReport, _ index: Int,
    _ emit: (ServiceEvent) -> Void
  ) {
    guard clients[index].changes?.accepts(report, distance: distance) == true else { return }
    emit(ServiceEvent(client: clients[index].id, content: .significantChange(shown)))
  }

  mutating func deliver(
    _ estimate: AltitudeEstimate, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard !clients[index].isSuspended, let report = clients[index].altitude?.report(estimate)
    else { return }
    clients[index].hasToldAltitudeLoss = false
    emit(ServiceEvent(client: clients[index].id, content: .altitude(report)))
  }

  mutating func tellAltitudeLoss(
    _ reason: NoData, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    guard !clients[index].isSuspended, Self.isWorthTelling(reason) else { return }
    if clients[index].altitude != nil, !clients[index].hasToldAltitudeLoss {
      clients[index].hasToldAltitudeLoss = true
      emitFailure(.altitude, reason, index, emit)
    }
    if clients[index].absoluteAltitude?.hasToldLoss == false {
      clients[index].absoluteAltitude?.hasToldLoss = true
      emitFailure(.absoluteAltitude, reason, index, emit)
    }
  }

  // Starting a service that the board does not have does nothing and tells nothing (the SDK's promise for
  // heading and altitude); nor is it a failure that the first sample is still on its way.
  static func isWorthTelling(_ reason: NoData) -> Bool {
    switch reason {
    case .notEquipped, .noBoard, .notYet: false
    default: true
    }
  }

  func emitFailure(
    _ service: Service, _ reason: NoData, _ index: Int, _ emit: (ServiceEvent) -> Void
  ) {
    emit(
      ServiceEvent(
        client: clients[index].id,
        content: .failure(ServiceFailure(service: service, reason: words(reason)))))
  }

  /// A reason in words, as far as the application may know it.
  func words(_ reason: NoData) -> String {
    (authorization.mayLocate ? reason : reason.withoutPlace).description
  }

  /// A calibration prompt, as far as the application may know it.
  func shown(_ prompt: CalibrationPrompt) -> CalibrationPrompt {
    authorization.mayLocate ? prompt : prompt.withoutPlace
  }
}

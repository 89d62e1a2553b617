// What the services make of what the board says.

import Geodesy
package import SensorTypes

extension LocationEngine {
  /// Takes what the board says and emits what follows for every client, in the order of registration. What the time
  /// of a position makes due comes before it.
  package mutating func handle(_ observation: Observation, emit: (ServiceEvent) -> Void) {
    observe(observation, emit)
    switch observation {
    case .location(let estimate):
      guard let report = LocationReport(estimate) else { return }
      advance(to: report.time, emit: emit)
      let reduced = reducedAccuracy.reduce(report)
      if report.time >= newest?.time ?? report.time { (newest, newestReduced) = (report, reduced) }
      loss = nil
      guard authorization.mayLocate else { return withhold(report, emit) }
      for index in clients.indices { deliver(report, reduced, index, emit) }
      guard judgesRegions else { return }
      let clients = clients
      judgeRegions(report) {
        clients.tell($0, emit)
      } answer: {
        emit($0)
      }
    case .locationUnavailable(let reason, let time):
      advance(to: time, emit: emit)
      loss = reason
      guard authorization.mayLocate else { return }
      for index in clients.indices {
        let client = clients[index].id
        clients[index].location.lose(reason) { emit(ServiceEvent(client: client, content: $0)) }
      }
    case .heading(let estimate):
      heading = .value(estimate)
      noteInterference(estimate)
      judgePrompt(estimate, emit)
      for index in clients.indices { deliver(estimate, index, emit) }
    case .headingUnavailable(let reason, _):
      heading = .missing(reason)
      interferenceSince = nil
      for index in clients.indices { tellHeadingLoss(reason, index, emit) }
    case .altitude(let estimate):
      altitude = .value(())
      for index in clients.indices { deliver(estimate, index, emit) }
    case .altitudeUnavailable(let reason, _):
      altitude = .missing(reason)
      for index in clients.indices { tellAltitudeLoss(reason, index, emit) }
    case .absoluteAltitude(let estimate): deliver(estimate, emit)
    case .motion(let estimate): take(estimate, emit)
    case .motionUnavailable(let sensor, let reason, _): lose(sensor, reason, emit)
    case .waves: wavesLoss = nil
    case .wavesUnavailable(let reason, _): wavesLoss = reason
    case .sensor(let status):
      sensors[status.index] = status
      if case .missing(let reason) = heading, reason.ends(with: status) { heading = .nothing }
      if wavesLoss?.ends(with: status) == true { wavesLoss = nil }
    case .sky, .diagnostic: break
    }
  }
}

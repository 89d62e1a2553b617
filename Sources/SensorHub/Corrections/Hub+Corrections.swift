// Corrections in the hub: a thread for each receiver that gets any, beside the threads of the buses.

import SensorBus
import SensorTypes

extension Hub {
  /// What the workers open their buses with.
  func correctedAccess(_ provider: any BusProvider) -> any BusAccess & Sendable {
    guard !corrections.isEmpty else { return provider }
    let feeds = corrections.map { ($0.place, $0.feed) }
    return CorrectedAccess(
      base: provider, feeds: Dictionary(feeds, uniquingKeysWith: { a, _ in a }))
  }

  /// Starts the threads that fetch corrections.
  ///
  /// - Parameter workers: The threads of the buses, in the order of their plans.
  func startCorrections(workers: [any BusRun]) -> [any BusRun] {
    corrections.map { service in
      let (provider, program) = (self.provider, self.program)
      let place = renewals.firstIndex { $0.plan.bus == service.bus }
      let worker = place.flatMap { workers.indices.contains($0) ? workers[$0] : nil }
      let run = runner.startBackground(name: "corrections") { [weak self] in
        CorrectionWork(
          service, provider: provider, program: program, passOn: { worker?.wake() },
          say: { self?.say($0) })
      }
      service.started(run)
      return run
    }
  }

  /// Adds how the corrections of receivers are doing.
  func withCorrections(_ status: [SensorStatus]) -> [SensorStatus] {
    var status = status
    for service in corrections where status.indices.contains(service.sensor) {
      var link = status[service.sensor].link ?? ReceiverLink()
      link.corrections = service.status
      status[service.sensor].link = link
    }
    return status
  }
}

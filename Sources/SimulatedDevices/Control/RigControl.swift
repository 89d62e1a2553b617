// What the control line's requests do to the simulated board.

import SensorTypes

/// Answers the lines of a simulated board's control line.
package struct RigControl: Sendable {
  private let provider: SimulatedBusProvider
  private let names: [String]
  /// Seconds for which the twins were kept from their work so far.
  package var stoodStill = 0.0

  /// - Parameters:
  ///   - provider: The board.
  ///   - names: Its chips as the board file calls them, in the board's order.
  package init(provider: SimulatedBusProvider, names: [String]) {
    self.provider = provider
    self.names = names
  }

  /// The answer to a line without its end; `nil` for one that is an answer itself. The guest's terminal may
  /// echo what we say, and to answer that would never end.
  package func answer(to bytes: [UInt8]) -> String? {
    var bytes = bytes[...]
    while bytes.last == 13 { bytes = bytes.dropLast() }
    let isEcho = ["ok", "error ", "rig ", "stood ", "{"].contains { answer in
      answer == "ok" ? bytes.elementsEqual(answer.utf8) : bytes.starts(with: answer.utf8)
    }
    if isEcho { return nil }
    guard bytes.count <= ControlRequest.longest else {
      return "error a line has \(ControlRequest.longest) bytes at most"
    }
    guard bytes.allSatisfy({ $0 >= 32 && $0 < 127 }) else { return "error not plain text" }
    let line = String(decoding: bytes, as: UTF8.self)
    do throws(ControlRequest.Mistake) {
      return try carryOut(try ControlRequest.parse(line))
    } catch {
      return "error \(error.text)"
    }
  }

  private func carryOut(_ request: ControlRequest) throws(ControlRequest.Mistake) -> String {
    switch request {
    case .hello: return "rig twins"
    case .truth: return truth()
    case .stood: return "stood \(stoodStill)"
    case .fault(let name, let fault, let seconds):
      let chip = try chip(name)
      if let why = Self.objection(to: fault, at: provider.board.chips[chip]) {
        throw ControlRequest.Mistake("\(name) \(why)")
      }
      let now = provider.now()
      provider.inject(fault, chip: chip, from: now, until: now.advanced(bySeconds: seconds))
    case .mend(let name): provider.endFaults(chip: try chip(name))
    case .show(let name, let quantity):
      let chip = try chip(name)
      guard case .bus = provider.board.chips[chip].place else {
        throw ControlRequest.Mistake("\(name) is a receiver and measures none of this")
      }
      var shown = provider.shown(chip: chip)
      switch quantity {
      case .field(let value): shown.magneticField = value
      case .acceleration(let value): shown.specificForce = value
      case .rate(let value): shown.angularRate = value
      case .pressure(let value): shown.pressure = value
      case .temperature(let value): shown.temperature = value
      case .humidity(let value): shown.humidity = value
      }
      provider.show(shown, chip: chip)
    case .walk(let name): provider.show(.init(), chip: try chip(name))
    case .move(let motion):
      guard provider.move(motion) else {
        throw ControlRequest.Mistake("the board is on its own way, which does not end")
      }
    }
    return "ok"
  }

  /// The place of a chip in the board's list. `NAME#2` is the second of that name.
  private func chip(_ name: String) throws(ControlRequest.Mistake) -> Int {
    let parts = name.split(separator: "#", maxSplits: 1).map(String.init)
    let places = names.indices.filter { names[$0] == parts.first }
    guard let first = places.first else {
      throw ControlRequest.Mistake("no chip '\(name)': \(names.joined(separator: ", "))")
    }
    guard parts.count > 1 else {
      guard places.count == 1 else {
        throw ControlRequest.Mistake("there are \(places.count) \(name): \(name)#1 is the first")
      }
      return first
    }
    guard let number = Int(parts[1]), number >= 1, number <= places.count else {
      throw ControlRequest.Mistake("there are \(places.count) \(parts[0])")
    }
    return places[number - 1]
  }

  /// Why a fault cannot befall a chip.
  private static func objection(to fault: SimulatedFault, at chip: SimulatedChip) -> String? {
    let isReceiver =
      switch chip.kind {
      case .receiver, .gpsd: true
      case .registers: false
      }
    switch (fault, chip.place) {
    case (.receiverSilent, _), (.receiverGarbage, _):
      return isReceiver ? nil : "is no receiver"
    case (.wrongIdentity, .port), (.stuckData, .port), (.bitFlip, .port), (.overflow, .port),
      (.slow, .port):
      return "is at a serial port and has no registers"
    case (.wrongIdentity, .server), (.bitFlip, .server), (.overflow, .server), (.slow, .server):
      return "is a server and has no registers"
    default: return nil
    }
  }

  /// What is so on the walk at this moment; what a chip is shown does not change it.
  private func truth() -> String {
    let now = provider.now()
    let truth = provider.truth(at: now)
    let field = truth.magneticField
    let numbers: [(String, Double)] = [
      ("heading", truth.heading), ("magneticHeading", truth.magneticHeading),
      ("pitch", truth.pitch), ("roll", truth.roll), ("pressure", truth.pressure),
      ("temperature", truth.temperature), ("latitude", truth.latitude),
      ("longitude", truth.longitude), ("altitude", truth.altitude), ("speed", truth.speed),
      ("course", truth.course),
    ]
    // Swift prints the shortest digits that mean the same number, which is what JSON wants too.
    let parts =
      ["\"monotonicNanoseconds\":\(now.nanoseconds)"]
      + numbers.map { "\"\($0.0)\":\($0.1.isFinite ? "\($0.1)" : "null")" }
      + ["\"field\":[\(field.x),\(field.y),\(field.z)]", "\"hasFix\":\(truth.hasFix)"]
    return "{\(parts.joined(separator: ","))}"
  }
}

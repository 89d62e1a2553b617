package import BoardFile
import CalibrationCore
import Geomagnetism
import LinearAlgebra
import SensorBus
import SensorHub
import SensorTypes
package import SimulatedDevices
package import StateStore

/// Turns the simulation of a board file into twins.
package enum Simulation {
  /// The twins of a board, their world and their way; it starts at the whole second before a date, seconds since 1970.
  package static func board(
    _ board: Board, plan: SimulationPlan, utcStart: Double
  ) -> SimulatedBoard {
    let year = MagneticModel.decimalYear(unixSeconds: utcStart)
    let sensors = twinned(board)
    var simulated = SimulatedBoard(
      chips: sensors.compactMap { sensor in
        var chip = chip(sensor, plan: plan)
        chip?.host =
          sensor.behind == nil
          ? nil : board.host(of: sensor).flatMap { sensors.firstIndex(of: $0) }
        return chip
      },
      trajectory: Trajectory(segments: segments(plan.legs)),
      world: WorldDescription(
        latitude: plan.start.latitude, longitude: plan.start.longitude,
        altitude: plan.start.altitude, startHeading: plan.heading,
        utcStart: Int64(utcStart.rounded(.down)),
        field: { latitude, longitude, altitude in
          guard
            let field = try? MagneticModel.wmm2025.field(
              latitude: latitude, longitude: longitude, altitude: altitude, decimalYear: year)
          else { return WorldDescription.constantField }
          return Vector3(field.east, field.north, -field.down) / 1_000
        },
        sea: plan.sea.map {
          SimulatedSea(
            height: $0.height, period: $0.period, direction: $0.direction, seed: plan.seed)
        }),
      seed: plan.seed)
    simulated.casters = board.sensors.compactMap(\.corrections).map { source in
      SimulatedCaster(
        address: .tcp(host: source.host, port: source.port), mountpoint: source.mountpoint)
    }
    return simulated
  }

  /// What a person should know of the corrections of a simulated board: none of its casters is connected to.
  package static func correctionNote(of sensor: Board.Sensor) -> String? {
    sensor.corrections.map {
      "\(sensor.chip): its corrections are simulated; \($0.caster) is not connected to"
    }
  }

  /// For how long a board that `board(_:plan:utcStart:)` makes at this date, seconds since 1970, has been under way: the
  /// world begins with a whole second, as receivers count them, and shows the date all the same.
  package static func elapsed(at date: Double) -> Double { date - date.rounded(.down) }

  /// Lays the faults of the board file into the future of a board that starts now.
  package static func scheduleFaults(of plan: SimulationPlan, on simulation: SimulatedBusProvider) {
    let start = simulation.now()
    for planned in plan.faults {
      let from = start.advanced(bySeconds: planned.from)
      simulation.inject(
        fault(planned.kind), chip: planned.sensor, from: from,
        until: from.advanced(bySeconds: planned.seconds))
    }
  }

  /// How the records of `storeCalibrations` say that they were made.
  package static let method = "simulated"

  /// Gives a simulated board's magnetometers the records that a good calibration would have left: the
  /// truth, with an error of the size that the record's own covariance says. What is there already stays, a
  /// damaged one too: the hub says what is wrong with it, as on a real board. But one that was made here of another
  /// specimen, by another seed or other iron in the board file, is of a chip that is not there any more.
  package static func storeCalibrations(
    of board: Board, _ simulation: SimulatedBusProvider, in store: CalibrationStore
  ) throws {
    for (index, sensor) in board.sensors.enumerated() {
      guard let ideal = simulation.board.idealCalibration(ofChip: index) else { continue }
      let sigma = 0.1
      let error = sigma * Vector3(1, -1, 1)
      let p = Matrix3(diagonal: Vector3(repeating: sigma * sigma))
      let record = StoredRecord.magnetometer(
        CalibrationRecord(
          chip: sensor.chip, busPosition: sensor.attachment.description, board: board.name,
          date: "1970-01-01T00:00:00Z", method: Self.method, samples: 0, coverage: 0, residual: 0.3,
          field: 49, matrix: ideal.matrix, offset: ideal.offset + error, offsetCovariance: p))
      switch store.current(.init(.magnetometer, sensor)) {
      case .none: try store.save(record)
      case .record(let kept) where kept.isOfAnotherSpecimen(than: record): try store.save(record)
      case .record, .unusable: break
      }
    }
  }

  private static func fault(_ kind: PlannedFaultKind) -> SimulatedFault {
    switch kind {
    case .unplugged: .noAnswer
    case .timeout: .timeout
    case .disturbed: .disturbed(every: 3)
    case .shortRead: .shortRead(bytes: 3)
    // No chip of the catalog has this one.
    case .wrongIdentity: .wrongIdentity(0xEE)
    case .brownOut: .brownOut
    case .stuck: .stuckData
    case .overflow: .overflow
    case .silent: .receiverSilent
    case .garbage: .receiverGarbage
    case .noPulse: .pulse(.missing)
    }
  }

  /// The names of the twins, in their order.
  package static func names(of board: Board) -> [String] { twinned(board).map(\.chip) }

  private static func twinned(_ board: Board) -> [Board.Sensor] {
    board.sensors.filter { kind($0) != nil }
  }

  private static func chip(_ sensor: Board.Sensor, plan: SimulationPlan) -> SimulatedChip? {
    guard let kind = kind(sensor) else { return nil }
    let place: SimulatedAttachment
    switch sensor.attachment {
    case .i2c(let bus, let address): place = .bus(bus, address: address)
    case .serial(let port, let baudRate): place = .port(port, baudRate: baudRate)
    case .server(let address, _): place = .server(address)
    }
    var chip = SimulatedChip(
      kind, at: place, mount: sensor.mount, interrupt: sensor.gpio,
      softIron: Matrix3(rows: plan.softIron[0], plan.softIron[1], plan.softIron[2]),
      hardIron: plan.hardIron)
    chip.antennas = sensor.antennas
    return chip
  }

  private static func kind(_ sensor: Board.Sensor) -> TwinKind? {
    TwinKind(chip: sensor.chip)
  }

  // Whether there is a fix stays as it was until a leg says otherwise.
  private static func segments(_ legs: [RouteLeg]) -> [Trajectory.Segment] {
    var hasFix = true
    return legs.map { leg in
      hasFix = leg.fix ?? hasFix
      return Trajectory.Segment(
        duration: leg.seconds, turn: leg.turn, pitch: leg.pitch, roll: leg.roll, climb: leg.climb,
        speed: leg.speed, fix: hasFix)
    }
  }
}

extension StoredRecord {
  /// Whether it was made by a simulation, for chips that are not these. As read again: a file rounds.
  fileprivate func isOfAnotherSpecimen(than record: StoredRecord) -> Bool {
    guard case .magnetometer(let mine) = self, mine.method == Simulation.method, !mine.isLocked,
      let written = try? record.encoded(), let read = try? StoredRecord(json: written)
    else { return false }
    return !saysTheSame(as: read)
  }
}

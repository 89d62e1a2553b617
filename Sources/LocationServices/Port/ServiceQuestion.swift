// Questions to the services, and their answers.

package import SensorTypes

/// A question to the services. It is answered after the requests that the program sent before it.
package enum ServiceQuestion: Hashable, Codable, Sendable {
  /// What is the application authorized to receive?
  case authorization
  /// Which capabilities does the board have? Opens the board if necessary, which may take seconds.
  case capabilities
  /// Why can no beacons be received? Asks the system's Bluetooth service, which may take seconds.
  case beacons
  /// Where is the board, by its newest position? Starts no service.
  case position(isReduced: Bool)
  /// Which regions of a monitor (`nil`: of the location managers) are monitored, and what was the application told of each?
  case regions(of: String?)
  /// Is the application to be told this event? If so, its state is stored as told, and no later run repeats it.
  case keep(RegionEvent)
  /// How do the services know the application, and which problems do they report?
  case program
  /// What is the state of the daemon? Services that run in the program itself do not answer it.
  case daemon
  /// Which board is it, and what is the state of its sensors? Opens the board if necessary, which may take seconds.
  case board
  /// Which calibration records are stored? Only for the owner of the machine.
  case records
  /// Store this calibration record. Only for the owner of the machine.
  case saveRecord(RecordSave)
  /// Take this for the board's altitude. Opens the board if necessary, which may take seconds.
  case setAltitude(AltitudeStatement)
}

/// The answer to a `ServiceQuestion`.
package enum ServiceAnswer: Hashable, Codable, Sendable {
  /// The authorization of the application.
  case authorization(AuthorizationReport)
  /// The capabilities of the board.
  case capabilities(HardwareCapabilities)
  /// The reason why no beacons can be received, or `nil` if they can.
  case beacons(problem: String?)
  /// The position of the board.
  case position(PositionAnswer)
  case regions(RegionList)
  /// Whether the application is to be told. `false` if the region is no longer monitored.
  case kept(Bool)
  case program(ProgramReport)
  case daemon(DaemonStatus)
  case board(BoardReport)
  case records(RecordFiles)
  /// What has become of a record that was to be stored.
  case recordSaved(RecordSave.Outcome)
  /// The reason why the altitude cannot be set, or `nil` if it is.
  case altitudeSet(AltitudeStatement.Problem?)
}

/// The position of the board and the authorization to know it, at one moment.
package struct PositionAnswer: Hashable, Codable, Sendable {
  /// Whether positions are authorized, in full or reduced.
  package var isGranted: Bool
  /// The newest position of the board. `nil` before the first one, and while the application is not authorized.
  package var known: KnownPosition?

  package init(isGranted: Bool, known: KnownPosition?) {
    self.isGranted = isGranted
    self.known = known
  }
}

/// A monitored region and the state that the application was told.
package struct RegionRecord: Hashable, Codable, Sendable {
  package var region: MonitoredRegion
  /// The side of the boundary on which the application was told the board is.
  package var state: RegionState
  /// When that became known, in seconds since 1970. `nil` in files that did not store it.
  package var date: Double?

  package init(region: MonitoredRegion, state: RegionState, date: Double?) {
    self.region = region
    self.state = state
    self.date = date
  }
}

/// The regions of a monitor, or of the location managers, in the order in which they were added.
package struct RegionList: Hashable, Codable, Sendable {
  /// The regions with their states.
  package var records: [RegionRecord]
  /// The reason why they are monitored only until the program ends, or `nil` if they are stored.
  package var problem: String?

  package init(records: [RegionRecord], problem: String?) {
    self.records = records
    self.problem = problem
  }
}

/// The board and its sensors at one moment.
package struct BoardReport: Hashable, Codable, Sendable {
  /// `nil` if the board could not be opened.
  package var board: BoardDescription?
  /// The board as its file describes it, encoded as the messages are; without its position if the application may not know it.
  package var file: [UInt8]?
  /// The sensors in the order of the board file.
  package var sensors: [SensorStatus]
  /// The reason why the board could not be opened.
  package var problem: String?

  package init(
    board: BoardDescription?, file: [UInt8]? = nil, sensors: [SensorStatus], problem: String?
  ) {
    (self.board, self.file, self.sensors, self.problem) = (board, file, sensors, problem)
  }
}

/// A question with the type of its answer, and the default if there is no answer in time.
package struct ServiceQuery<Answer: Sendable>: Sendable {
  package let question: ServiceQuestion
  /// The default if there is no answer in time.
  package let unanswered: Answer
  let read: @Sendable (ServiceAnswer) -> Answer?
}

extension ServiceQuery where Answer == AuthorizationReport {
  /// Asks for the authorization of the application. Default: not determined.
  package static var authorization: Self {
    let nothing = AuthorizationReport(
      status: .notDetermined, accuracy: .full, isInUse: true, isBeingAsked: false)
    return Self(question: .authorization, unanswered: nothing) { answer in
      if case .authorization(let report) = answer { report } else { nil }
    }
  }
}

extension ServiceQuery where Answer == HardwareCapabilities {
  /// Asks for the capabilities of the board. Default: none.
  package static var capabilities: Self {
    let nothing = HardwareCapabilities(heading: false, location: false, relativeAltitude: false)
    return Self(question: .capabilities, unanswered: nothing) { answer in
      if case .capabilities(let capabilities) = answer { capabilities } else { nil }
    }
  }
}

extension ServiceQuery where Answer == String? {
  /// Asks why no beacons can be received; `nil` if they can. Default: that the services do not answer.
  package static var beacons: Self {
    Self(question: .beacons, unanswered: noAnswer) { answer in
      if case .beacons(let problem) = answer { .some(problem) } else { nil }
    }
  }
}

extension ServiceQuery where Answer == PositionAnswer {
  /// Asks for the position of the board. Default: not authorized, not known.
  package static func position(isReduced: Bool) -> Self {
    let nowhere = PositionAnswer(isGranted: false, known: nil)
    return Self(question: .position(isReduced: isReduced), unanswered: nowhere) { answer in
      if case .position(let position) = answer { position } else { nil }
    }
  }
}

extension ServiceQuery where Answer == RegionList {
  /// Asks for the regions of a monitor, or of the location managers. Default: none.
  package static func regions(of monitor: String?) -> Self {
    let none = RegionList(records: [], problem: noAnswer)
    return Self(question: .regions(of: monitor), unanswered: none) { answer in
      if case .regions(let list) = answer { list } else { nil }
    }
  }
}

extension ServiceQuery where Answer == Bool {
  /// Asks whether the application is to be told an event. Default: `true`, so the next run may repeat it.
  package static func keep(_ event: RegionEvent) -> Self {
    Self(question: .keep(event), unanswered: true) { answer in
      if case .kept(let isToBeTold) = answer { isToBeTold } else { nil }
    }
  }
}

extension ServiceQuery where Answer == ProgramReport? {
  /// Asks for what the services know of the application. Default: nothing.
  package static var program: Self {
    Self(question: .program, unanswered: nil) { answer in
      if case .program(let report) = answer { report } else { nil }
    }
  }
}

extension ServiceQuery where Answer == DaemonStatus? {
  /// Asks for the state of the daemon. Default: nothing.
  package static var daemon: Self {
    Self(question: .daemon, unanswered: nil) { answer in
      if case .daemon(let status) = answer { status } else { nil }
    }
  }
}

extension ServiceQuery where Answer == BoardReport? {
  /// Asks for the board and the state of its sensors. Default: nothing.
  package static var board: Self {
    Self(question: .board, unanswered: nil) { answer in
      if case .board(let report) = answer { report } else { nil }
    }
  }
}

extension ServiceQuery where Answer == RecordFiles? {
  /// Asks for the calibration records. Default: nothing.
  package static var records: Self {
    Self(question: .records, unanswered: nil) { answer in
      if case .records(let files) = answer { files } else { nil }
    }
  }
}

extension ServiceQuery where Answer == RecordSave.Outcome? {
  /// Stores a calibration record. Default: nothing is known.
  package static func saveRecord(_ save: RecordSave) -> Self {
    Self(question: .saveRecord(save), unanswered: nil) { answer in
      if case .recordSaved(let outcome) = answer { outcome } else { nil }
    }
  }
}

extension ServiceQuery where Answer == AltitudeStatement.Problem? {
  /// Sets the altitude of the board. Default: that the services do not answer.
  package static func setAltitude(_ statement: AltitudeStatement) -> Self {
    Self(question: .setAltitude(statement), unanswered: .impossible(noAnswer)) { answer in
      if case .altitudeSet(let problem) = answer { .some(problem) } else { nil }
    }
  }
}

private let noAnswer = "the location services do not answer"

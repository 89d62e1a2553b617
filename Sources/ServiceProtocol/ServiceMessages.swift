// What a program and the daemon say to each other after the greeting.

package import LocationServices
package import SensorTypes

/// A message from a program to the daemon.
package enum ProgramMessage: Hashable, Codable, Sendable {
  case hello(ProgramHello)
  /// A request of one of the program's clients. Each number is larger than the one before.
  case request(number: UInt64, ServiceRequest)
  /// A question. It is answered after the requests that were sent before it; answers to slow questions (`isSlow`) may come
  /// after those to later questions.
  case question(number: UInt64, ServiceQuestion)
  /// The state of the application, sent whenever it changes and after each greeting.
  case application(ApplicationMode)
  /// The agent that the program has, or `nil` if it has none any more. If it has one, this is sent before any request.
  case agent(AgentRole?)
  /// The answer of the program's agent to an authorization prompt, or `nil` if nobody answered.
  case reply(prompt: UInt64, AuthorizationAnswer?, accuracy: AccuracyAuthorization?)
}

/// For whom a program's agent asks for authorization.
package enum AgentRole: String, Hashable, Codable, Sendable {
  /// For the program itself, where the owner of the machine has no rule about it.
  case program
  /// For the owner of the machine, where a rule says that somebody is asked. The daemon hears it from the owner's users only.
  case owner
}

/// What an application is doing, as `LodestoneRuntime.applicationState` says.
package enum ApplicationMode: String, Hashable, Codable, Sendable {
  case foreground, background, suspended
}

/// A message from the daemon to a program.
package enum DaemonMessage: Hashable, Codable, Sendable {
  case hello(DaemonHello)
  /// The connection is closed after this.
  case farewell(Farewell)
  /// An event for one of the program's clients.
  ///
  /// - `during`: The number of the request that the daemon was carrying out, or had carried out last, when the event arose.
  case event(during: UInt64, ServiceEvent)
  case answer(number: UInt64, ServiceAnswer)
  /// All requests up to this number have been carried out, and what they store is stored.
  case carriedOut(UInt64)
  /// The request of this number is of a kind that the daemon does not know. It was not carried out.
  case unknownRequest(UInt64)
  /// The question of this number has no answer: the daemon does not know its kind, or has too much to do.
  case noAnswer(UInt64)
  /// The prompt for a calibration of the compass is shown or taken down.
  case calibrationPrompt(CalibrationPromptChange)
  /// The progress of the calibration while the prompt is shown.
  case calibrationProgress(CalibrationProgress)
  /// The program's agent is to ask this. The client is the program as the daemon knows it.
  case authorizationPrompt(AuthorizationPrompt, of: AuthorizationClient)
  /// The authorization prompt of this number is no longer shown.
  case withdrawnPrompt(UInt64)
}

/// The number of a message whose content is of a kind that this version does not know.
struct UnknownMessage: Decodable {
  struct Numbered: Decodable { var number: UInt64 }
  var request: Numbered?
  var question: Numbered?
}

extension ServiceAction {
  /// Whether the daemon stores the effect of the request, so that the program sends it again until it is known to be stored. Carried out
  /// twice it does no harm.
  var isStored: Bool {
    switch self {
    case .startRegion, .stopRegion, .regionTold: true
    default: false
    }
  }

  /// The region whose stored state the request changes.
  var storedRegion: RegionKey? {
    switch self {
    case .startRegion(let region, _): region.key
    case .stopRegion(let key), .regionTold(let key): key
    default: nil
    }
  }
}

extension ServiceQuestion {
  /// Whether the question also makes a statement that must reach the daemon: that the application is told an event.
  var isStatement: Bool { if case .keep = self { true } else { false } }

  /// Whether the question only reads.
  package var isRead: Bool {
    switch self {
    case .setAltitude, .saveRecord, .keep: false
    default: true
    }
  }

  /// Whether the answer may take seconds: the board's chips are identified, or the radio's owner is asked.
  package var isSlow: Bool {
    switch self {
    case .capabilities, .beacons, .board, .setAltitude, .records, .saveRecord: true
    case .authorization, .position, .regions, .keep, .program, .daemon: false
    }
  }
}

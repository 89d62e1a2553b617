// What somebody is asked, what can be answered, and why nobody is.

/// What an application asks for.
public enum AuthorizationRequest: Hashable, Codable, Sendable {
  /// Positions while it is in use.
  case whenInUse
  /// Positions at all times.
  case always
  /// Exact positions until it is no longer in use, for one of the purposes that it has described.
  case fullAccuracy(purpose: String)
}

/// What can be answered.
public enum AuthorizationAnswer: String, Hashable, Codable, Sendable, CaseIterable {
  /// While the application is in use.
  case allowWhileUsing
  /// Until it is no longer in use.
  case allowOnce
  /// No.
  case dontAllow
  /// Not at all times.
  case keepOnlyWhileUsing
  /// At all times.
  case changeToAlways
}

/// A prompt that stands until it is answered or withdrawn; one at a time.
public struct AuthorizationPrompt: Hashable, Codable, Sendable {
  /// Names the prompt in the answer; not used twice in one run.
  public var number: UInt64
  /// What is asked.
  public var kind: AuthorizationPromptKind
  /// What the application says that it is for.
  public var usage: String
  /// How exact positions are if the answer says nothing of it.
  public var accuracy: AccuracyAuthorization

  package init(
    number: UInt64, kind: AuthorizationPromptKind, usage: String, accuracy: AccuracyAuthorization
  ) {
    self.number = number
    self.kind = kind
    self.usage = usage
    self.accuracy = accuracy
  }

  /// What can be answered, in the order in which it is offered.
  public var options: [AuthorizationAnswer] {
    switch kind {
    case .position: [.allowWhileUsing, .allowOnce, .dontAllow]
    case .always: [.keepOnlyWhileUsing, .changeToAlways]
    case .fullAccuracy: [.allowOnce, .dontAllow]
    }
  }
}

/// The kinds of prompt.
public enum AuthorizationPromptKind: String, Hashable, Codable, Sendable, CaseIterable {
  /// May the application have positions? The first prompt, whatever it has asked for.
  case position
  /// May it have them at all times, and not only while it is in use?
  case always
  /// May they be exact for once?
  case fullAccuracy
}

extension UsageDescriptions {
  /// The bytes that a text and the name of a purpose may have in a message, and the number of purposes.
  private static let most = (text: 400, name: 128, purposes: 16)

  /// The descriptions, cut to what fits into a message.
  package var shortened: UsageDescriptions {
    func cut(_ text: String, _ most: Int = Self.most.text) -> String {
      var short = text.prefix(most)
      while short.utf8.count > most { short.removeLast() }
      return String(short)
    }
    var short = self
    short.whenInUse = whenInUse.map { cut($0) }
    short.always = always.map { cut($0) }
    short.purposes = [:]
    for (key, text) in purposes.sorted(by: { $0.key < $1.key }).prefix(Self.most.purposes) {
      short.purposes[cut(key, Self.most.name)] = cut(text)
    }
    return short
  }
}

/// What an application says that it needs positions for, and what it has declared of itself.
public struct UsageDescriptions: Hashable, Codable, Sendable {
  /// The key of `whenInUse` in an `Info.plist`.
  public static let whenInUseKey = "NSLocationWhenInUseUsageDescription"
  /// The key of `always`.
  public static let alwaysKey = "NSLocationAlwaysUsageDescription"
  /// The newer key of `always`, which counts as much.
  public static let bothKey = "NSLocationAlwaysAndWhenInUseUsageDescription"
  /// The key of `purposes`.
  public static let purposesKey = "NSLocationTemporaryUsageDescriptionDictionary"
  /// The key of `isReducedByDefault`.
  public static let reducedKey = "NSLocationDefaultAccuracyReduced"
  /// The key of the list whose `location` is `declaresBackground`.
  public static let backgroundKey = "UIBackgroundModes"

  /// While it is in use.
  public var whenInUse: String?
  /// At all times.
  public var always: String?
  /// Exactly for once, by purpose.
  public var purposes: [String: String]
  /// Whether it is content with reduced accuracy unless somebody says otherwise.
  public var isReducedByDefault: Bool
  /// Whether it has declared that it works in the background.
  public var declaresBackground: Bool

  /// Makes descriptions.
  public init(
    whenInUse: String? = nil, always: String? = nil, purposes: [String: String] = [:],
    isReducedByDefault: Bool = false, declaresBackground: Bool = false
  ) {
    self.whenInUse = whenInUse
    self.always = always
    self.purposes = purposes
    self.isReducedByDefault = isReducedByDefault
    self.declaresBackground = declaresBackground
  }
}

/// Why a request leads to no prompt, or a prompt to no decision: one line for a person.
public enum AuthorizationProblem: Hashable, Codable, Sendable, CustomStringConvertible, Error {
  /// The application does not say what for: these keys are missing.
  case missingUsage([String])
  /// The application is not in the foreground.
  case inBackground
  /// Another prompt stands.
  case promptStands
  /// The application may not use the services at all.
  case notGranted
  /// Whoever was asked said no.
  case declined
  /// Nobody has answered.
  case unanswered
  /// Background updates are wanted by an application that has not declared them.
  case undeclaredBackground

  /// In words.
  public var description: String {
    switch self {
    case .missingUsage(let keys):
      "nobody is asked: \(keys.joined(separator: " and ")) "
        + "\(keys.count == 1 ? "is" : "are") neither in an Info.plist beside the executable nor in "
        + "the authorization file"
    case .inBackground: "nobody is asked: the application is not in the foreground"
    case .promptStands: "nobody is asked: another prompt is not answered yet"
    case .notGranted: "the application may not use the location services"
    case .declined: "whoever was asked has declined"
    case .unanswered: "nobody has answered the prompt"
    case .undeclaredBackground:
      "allowsBackgroundLocationUpdates is set, and \(UsageDescriptions.backgroundKey) does not "
        + "declare 'location'"
    }
  }
}

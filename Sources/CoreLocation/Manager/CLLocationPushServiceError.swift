// Why locations cannot be asked for by push messages.

public import Foundation

/// The domain of the errors of location pushes.
public let CLLocationPushServiceErrorDomain = "CLLocationPushServiceErrorDomain"

/// An error of location pushes. On a board it is always `unsupportedPlatform`: nobody can push to it.
public struct CLLocationPushServiceError: CustomNSError, Hashable, Sendable {
  /// The kinds of error, with the SDK's numbers.
  public enum Code: Int, Sendable {
    /// Something else.
    case unknown = 0
    /// The application has no extension for pushes.
    case missingPushExtension = 1
    /// The application was not built for a push server.
    case missingPushServerEnvironment = 2
    /// The application was not built for location pushes.
    case missingEntitlement = 3
    /// The system has no location pushes: a board.
    case unsupportedPlatform = 4
  }

  /// What kind of error it is.
  public let code: Code
  private let info: ErrorInfo

  /// Makes an error; `userInfo` may hold a description for a person.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    info = ErrorInfo(userInfo)
  }

  /// The domain, `CLLocationPushServiceErrorDomain`.
  public static var errorDomain: String { CLLocationPushServiceErrorDomain }
  /// The number of `code`.
  public var errorCode: Int { code.rawValue }
  /// What it was made with, and a description for a person.
  public var errorUserInfo: [String: Any] { info.described(as: "\(code)") }
  /// What it was made with.
  public var userInfo: [String: Any] { info.userInfo }
  /// The description for a person; the name of the code where it was made without one.
  public var localizedDescription: String { info.description ?? "\(code)" }

  /// Something else.
  public static var unknown: Code { .unknown }
  /// The application has no extension for pushes.
  public static var missingPushExtension: Code { .missingPushExtension }
  /// The application was not built for a push server.
  public static var missingPushServerEnvironment: Code { .missingPushServerEnvironment }
  /// The application was not built for location pushes.
  public static var missingEntitlement: Code { .missingEntitlement }
  /// The system has no location pushes: a board.
  public static var unsupportedPlatform: Code { .unsupportedPlatform }
}

extension CLLocationPushServiceError.Code {
  /// Whether an error that was caught is one of this kind: a `CLLocationPushServiceError`, or an `NSError` of its domain and
  /// number.
  public static func ~= (code: CLLocationPushServiceError.Code, error: any Error) -> Bool {
    ErrorInfo.isError(error, code.rawValue, in: CLLocationPushServiceErrorDomain)
  }
}

// What maps answer where they cannot.

public import CoreLocation

/// The domain of a map's errors.
public let MKErrorDomain = "MKErrorDomain"

/// Why a map cannot do what it was asked for.
public struct MKError: CustomNSError, Hashable, Sendable {
  /// Which error.
  public enum Code: UInt, Sendable {
    /// Something that has no other name.
    case unknown = 1
    /// A server failed. None is asked.
    case serverFailure
    /// There is too much to be done at once.
    case loadingThrottled
    /// Nothing of that kind was found.
    case placemarkNotFound
    /// No way was found.
    case directionsNotFound
    /// Something could not be read.
    case decodingFailed
  }

  /// Which error.
  public let code: Code
  private let info: ErrorInfo

  /// Makes an error; `userInfo` may hold a description for a person.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    info = ErrorInfo(userInfo)
  }

  /// The domain, `MKErrorDomain`.
  public static var errorDomain: String { MKErrorDomain }
  /// The number of `code`.
  public var errorCode: Int { Int(code.rawValue) }
  /// What it was made with, and a description for a person.
  public var errorUserInfo: [String: Any] { info.described(as: "\(code)") }
  /// What it was made with.
  public var userInfo: [String: Any] { info.userInfo }
  /// The description for a person; the name of the code where it was made without one.
  public var localizedDescription: String { info.description ?? "\(code)" }

  /// Something that has no other name.
  public static var unknown: Code { .unknown }
  /// A server failed.
  public static var serverFailure: Code { .serverFailure }
  /// There is too much to be done at once.
  public static var loadingThrottled: Code { .loadingThrottled }
  /// Nothing of that kind was found.
  public static var placemarkNotFound: Code { .placemarkNotFound }
  /// No way was found.
  public static var directionsNotFound: Code { .directionsNotFound }
  /// Something could not be read.
  public static var decodingFailed: Code { .decodingFailed }
}

extension MKError.Code {
  /// Whether an error that was caught has this code: an `MKError`, or an `NSError` of its domain and number.
  public static func ~= (code: MKError.Code, error: any Error) -> Bool {
    ErrorInfo.isError(error, Int(code.rawValue), in: MKErrorDomain)
  }
}

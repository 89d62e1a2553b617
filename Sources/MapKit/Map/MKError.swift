// What maps answer where they cannot.

public import CoreLocation

/// The domain of a map's errors.
public let MKErrorDomain = "MKErrorDomain"

/// Why a map cannot do what it was asked for.
public struct MKError: Error, Hashable, Sendable {
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

  /// Makes an error of a code.
  public init(_ code: Code) { self.code = code }

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
  /// Whether an error has a code: `catch MKError.loadingThrottled`.
  public static func ~= (code: MKError.Code, error: any Error) -> Bool {
    (error as? MKError)?.code == code
  }
}

extension MKError: CustomNSError {
  /// `MKErrorDomain`.
  public static var errorDomain: String { MKErrorDomain }
  /// The code's number.
  public var errorCode: Int { Int(code.rawValue) }
}

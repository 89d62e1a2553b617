// What code of before iOS 9 says of annotations.

public import CoreLocation

/// The colours that pins had before they could have any.
@available(*, deprecated, message: "use pinTintColor")
public enum MKPinAnnotationColor: UInt, Sendable {
  /// A place to go to.
  case red
  /// A place to start from.
  case green
  /// A place that a user has set.
  case purple
}

extension MKPinAnnotationView {
  /// The colour of its head, of three. Of another `pinTintColor` it is red.
  @available(*, deprecated, message: "use pinTintColor")
  public var pinColor: MKPinAnnotationColor {
    get {
      switch pinTintColor {
      case Self.greenPinColor(): .green
      case Self.purplePinColor(): .purple
      default: .red
      }
    }
    set {
      pinTintColor =
        switch newValue {
        case .red: Self.redPinColor()
        case .green: Self.greenPinColor()
        case .purple: Self.purplePinColor()
        }
    }
  }
}

extension NSNotification.Name {
  /// Posted in code of before iOS 4 when an annotation's words have changed. A board's map needs no such hint: it asks for the
  /// words when it draws them.
  public static let MKAnnotationCalloutInfoDidChange = NSNotification.Name(
    "MKAnnotationCalloutInfoDidChangeNotification")
}

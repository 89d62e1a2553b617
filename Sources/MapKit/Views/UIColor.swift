// Colours, as code for a phone names them.

public import CoreLocation
import MapDrawing

/// A colour: red, green, blue in sRGB, and how opaque it is, each from 0 to 1.
public final class UIColor: NSObject, Sendable {
  let red: Double
  let green: Double
  let blue: Double
  let opacity: Double

  /// Makes a colour of its parts; what is below 0 counts as 0, what is above 1 as 1.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    func part(_ value: CGFloat) -> Double { value.isNaN ? 0 : min(max(value, 0), 1) }
    self.red = part(red)
    self.green = part(green)
    self.blue = part(blue)
    opacity = part(alpha)
  }

  /// Makes a grey.
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  /// Makes a colour of its hue (0 to 1 around the circle from red), saturation and brightness.
  public convenience init(
    hue: CGFloat, saturation: CGFloat, brightness: CGFloat, alpha: CGFloat
  ) {
    // The sector's edge colours, each falling off with the distance on the circle.
    func part(_ offset: CGFloat) -> CGFloat {
      let k = (offset + hue * 6).truncatingRemainder(dividingBy: 6)
      return brightness * (1 - saturation * max(0, min(k, 4 - k, 1)))
    }
    self.init(red: part(5), green: part(3), blue: part(1), alpha: alpha)
  }

  /// The same colour, more or less opaque.
  public func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
    UIColor(red: red, green: green, blue: blue, alpha: alpha)
  }

  /// Gives the colour's parts; always true.
  @discardableResult
  public func getRed(
    _ red: UnsafeMutablePointer<CGFloat>?, green: UnsafeMutablePointer<CGFloat>?,
    blue: UnsafeMutablePointer<CGFloat>?, alpha: UnsafeMutablePointer<CGFloat>?
  ) -> Bool {
    red?.pointee = self.red
    green?.pointee = self.green
    blue?.pointee = self.blue
    alpha?.pointee = opacity
    return true
  }

  /// The colour itself, as drawing contexts take it.
  public var cgColor: CGColor { self }

  /// Whether another object is the same colour.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UIColor else { return false }
    return (red, green, blue, opacity) == (other.red, other.green, other.blue, other.opacity)
  }

  /// Equal colours have the same.
  public override var hash: Int { [red, green, blue, opacity].hashValue }

  /// Black.
  public static let black = UIColor(white: 0, alpha: 1)
  /// White.
  public static let white = UIColor(white: 1, alpha: 1)
  /// The grey between black and white.
  public static let gray = UIColor(white: 0.5, alpha: 1)
  /// A dark grey.
  public static let darkGray = UIColor(white: 1.0 / 3, alpha: 1)
  /// A light grey.
  public static let lightGray = UIColor(white: 2.0 / 3, alpha: 1)
  /// Red alone.
  public static let red = UIColor(red: 1, green: 0, blue: 0, alpha: 1)
  /// Green alone.
  public static let green = UIColor(red: 0, green: 1, blue: 0, alpha: 1)
  /// Blue alone.
  public static let blue = UIColor(red: 0, green: 0, blue: 1, alpha: 1)
  /// Green and blue.
  public static let cyan = UIColor(red: 0, green: 1, blue: 1, alpha: 1)
  /// Red and green.
  public static let yellow = UIColor(red: 1, green: 1, blue: 0, alpha: 1)
  /// Red and blue.
  public static let magenta = UIColor(red: 1, green: 0, blue: 1, alpha: 1)
  /// Red and half of green.
  public static let orange = UIColor(red: 1, green: 0.5, blue: 0, alpha: 1)
  /// Half of red and of blue.
  public static let purple = UIColor(red: 0.5, green: 0, blue: 0.5, alpha: 1)
  /// A brown.
  public static let brown = UIColor(red: 0.6, green: 0.4, blue: 0.2, alpha: 1)
  /// Nothing to be seen.
  public static let clear = UIColor(white: 0, alpha: 0)
  /// A red for marks that are to be found.
  public static let systemRed = UIColor(red: 0.9, green: 0.22, blue: 0.2, alpha: 1)
  /// A green.
  public static let systemGreen = UIColor(red: 0.16, green: 0.65, blue: 0.33, alpha: 1)
  /// A blue for what can be touched.
  public static let systemBlue = UIColor(red: 0.07, green: 0.42, blue: 0.87, alpha: 1)
  /// A yellow.
  public static let systemYellow = UIColor(red: 0.95, green: 0.76, blue: 0.05, alpha: 1)
  /// An orange.
  public static let systemOrange = UIColor(red: 0.95, green: 0.52, blue: 0.05, alpha: 1)
  /// A purple.
  public static let systemPurple = UIColor(red: 0.58, green: 0.3, blue: 0.8, alpha: 1)
}

/// A colour as drawing contexts take it.
public typealias CGColor = UIColor

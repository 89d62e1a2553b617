// Distances in words, as maps say them.

public import CoreLocation

/// Says distances as a map does: rounded, in the units of a country.
///
/// Up to a thousand of metres, feet or yards it is in those, by ten from a hundred on; then in kilometres or miles, with one decimal
/// below ten. Numbers are written as the locale writes them; the units' names are English, because a board has no others.
open class MKDistanceFormatter: Formatter {
  /// Which units are used.
  public enum Units: UInt, Sendable {
    /// Those of the locale.
    case `default`
    /// Metres and kilometres.
    case metric
    /// Feet and miles.
    case imperial
    /// Yards and miles.
    case imperialWithYards
  }

  /// How units are written.
  public enum DistanceUnitStyle: UInt, Sendable {
    /// As symbols.
    case `default`
    /// As symbols: `km`.
    case abbreviated
    /// As words: `kilometers`.
    case full
  }

  /// Whose units and whose way to write numbers; the user's at first.
  open var locale: Locale = .current
  /// Which units are used; the locale's at first.
  open var units = Units.default
  /// How units are written; as symbols at first.
  open var unitStyle = DistanceUnitStyle.default

  private struct Unit {
    let symbol: String
    let name: String
    let names: String
    let metres: Double

    static let metre = Unit(symbol: "m", name: "meter", names: "meters", metres: 1)
    static let kilometre = Unit(
      symbol: "km", name: "kilometer", names: "kilometers", metres: 1000)
    static let foot = Unit(symbol: "ft", name: "foot", names: "feet", metres: 0.3048)
    static let yard = Unit(symbol: "yd", name: "yard", names: "yards", metres: 0.9144)
    static let mile = Unit(symbol: "mi", name: "mile", names: "miles", metres: 1609.344)

    static let all = [metre, kilometre, foot, yard, mile]
  }

  /// The small and the large unit.
  private var pair: (small: Unit, large: Unit) {
    switch units {
    case .metric: (.metre, .kilometre)
    case .imperial: (.foot, .mile)
    case .imperialWithYards: (.yard, .mile)
    case .default:
      switch locale.measurementSystem {
      case .us: (.foot, .mile)
      case .uk: (.yard, .mile)
      default: (.metre, .kilometre)
      }
    }
  }

  private var numbers: NumberFormatter {
    let numbers = NumberFormatter()
    numbers.locale = locale
    numbers.numberStyle = .decimal
    numbers.minimumFractionDigits = 0
    return numbers
  }

  /// A distance in words; nothing for one that is no number.
  open func string(fromDistance distance: CLLocationDistance) -> String {
    guard distance.isFinite else { return "" }
    let (small, large) = pair
    var unit = small
    var number = Self.rounded(
      distance / small.metres, to: abs(distance) < 100 * small.metres ? 1 : 10)
    var decimals = 0
    if abs(number) >= 1000 {
      unit = large
      number = distance / large.metres
      decimals = abs(Self.rounded(number, to: 0.1)) < 10 ? 1 : 0
      number = Self.rounded(number, to: decimals == 1 ? 0.1 : 1)
    }
    let numbers = numbers
    numbers.maximumFractionDigits = decimals
    guard let text = numbers.string(from: NSNumber(value: number)) else { return "" }
    guard unitStyle == .full else { return "\(text) \(unit.symbol)" }
    return "\(text) \(number == 1 ? unit.name : unit.names)"
  }

  private static func rounded(_ number: Double, to step: Double) -> Double {
    let rounded = (number / step).rounded() * step
    // No distance is not less than nothing.
    return rounded == 0 ? 0 : rounded
  }

  /// The metres of a distance in words, in any of the units and as the locale writes numbers; -1 for what is none.
  open func distance(from distance: String) -> CLLocationDistance {
    let text = distance.trimmingCharacters(in: .whitespaces)
    let word = String(text.reversed().prefix(while: \.isLetter).reversed())
    let unit = Unit.all.first { [$0.symbol, $0.name, $0.names].contains(word.lowercased()) }
    let number = text.dropLast(word.count).trimmingCharacters(in: .whitespaces)
    guard let unit, let value = numbers.number(from: number) else { return -1 }
    return value.doubleValue * unit.metres
  }

  /// A number of metres in words; nil for what is no number.
  open override func string(for obj: Any?) -> String? {
    switch obj {
    case let number as NSNumber: string(fromDistance: number.doubleValue)
    case let metres as Double: string(fromDistance: metres)
    case let metres as Int: string(fromDistance: Double(metres))
    default: nil
    }
  }

  /// The same as another object.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = MKDistanceFormatter()
    copy.locale = locale
    copy.units = units
    copy.unitStyle = unitStyle
    return copy
  }
}

/// The name that `MKDistanceFormatter.Units` had before Swift 4.2.
public typealias MKDistanceFormatterUnits = MKDistanceFormatter.Units
/// The name that `MKDistanceFormatter.DistanceUnitStyle` had before Swift 4.2.
public typealias MKDistanceFormatterUnitStyle = MKDistanceFormatter.DistanceUnitStyle

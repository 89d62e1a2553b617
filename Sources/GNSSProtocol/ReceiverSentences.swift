// Sentences that configure receivers which have no binary protocol, or none that is documented. They are sent a
// few times in a receiver's life, so plain strings do. None writes to a receiver's flash but Unicore's survey of a base station's
// place, whose result the receiver keeps there by itself.

public import SensorTypes

/// Builds the commands of MediaTek, Airoha, CASIC, Unicore and Quectel receivers.
public enum ReceiverSentences {
  /// A sentence with `$`, check sum and end.
  public static func frame(_ content: String) -> [UInt8] {
    let sum = content.utf8.reduce(0, ^)
    let digits = String(sum, radix: 16, uppercase: true)
    return Array("$\(content)*\(digits.count == 1 ? "0" : "")\(digits)\r\n".utf8)
  }

  /// The question of every family who is there: one that it does not know a receiver passes over.
  public static let identityQuestions = [
    "PMTK605", "PAIR021", "PQTMVERNO", "PCAS06,0", "PCAS06,1",
  ]

  /// The question of Unicore's receivers who is there, as a line.
  public static let unicoreQuestion = "VERSIONA"

  /// A command of Unicore's, which has neither a frame nor a check sum.
  public static func line(_ command: String) -> [UInt8] { Array("\(command)\r\n".utf8) }

  // MediaTek (MT3339 PMTK command manual; Quectel L76 series protocol specification).

  /// RMC, GGA and GSA every epoch, GSV every fifth. The fields are GLL, RMC, VTG, GGA, GSA, GSV and 13 others.
  public static let mediaTekSentences = "PMTK314,0,1,0,1,1,5,0,0,0,0,0,0,0,0,0,0,0,0,0"

  /// Normal, fitness, aviation, stationary; there is none for boats, which move like cars.
  public static func mediaTek(_ model: DynamicModel) -> String {
    switch model {
    case .portable, .automotive, .sea: "PMTK886,0"
    case .pedestrian: "PMTK886,1"
    case .airborne: "PMTK886,2"
    case .stationary: "PMTK886,4"
    }
  }

  // Airoha (Quectel LC29H and LC76G protocol specifications).

  /// GGA, GLL, GSA, GSV, RMC and VTG by their numbers, epochs between two of each.
  /// An LC29H (EA) has them with every epoch or not at all.
  public static func airohaSentences(isEveryEpoch: Bool) -> [String] {
    [
      "PAIR062,0,1", "PAIR062,1,0", "PAIR062,2,1", "PAIR062,3,\(isEveryEpoch ? 1 : 5)",
      "PAIR062,4,1",
      "PAIR062,5,0",
    ]
  }

  /// Normal, fitness, stationary; `nil` for an aircraft, for which the descriptions disagree.
  public static func airoha(_ model: DynamicModel) -> String? {
    switch model {
    case .portable, .automotive, .sea: "PAIR080,0"
    case .pedestrian: "PAIR080,1"
    case .stationary: "PAIR080,4"
    case .airborne: nil
    }
  }

  // CASIC (Quectel L76K protocol specification; CASIC multimode receiver protocol).

  /// GGA, GLL, GSA, GSV, RMC, VTG, ZDA and others: epochs between two of each, an empty field for as it is.
  public static let casicSentences = "PCAS03,1,0,1,5,1,0,0,0"

  /// The rate of the port, by its number; `nil` for one that it has not.
  public static func casic(baudRate: Int) -> String? {
    [4_800, 9_600, 19_200, 38_400, 57_600, 115_200].firstIndex(of: baudRate).map { "PCAS01,\($0)" }
  }

  /// Portable, stationary, pedestrian, automotive, sea, airborne below 1 g, 2 g and 4 g.
  public static func casic(_ model: DynamicModel) -> String {
    switch model {
    case .portable: "PCAS11,0"
    case .stationary: "PCAS11,1"
    case .pedestrian: "PCAS11,2"
    case .automotive: "PCAS11,3"
    case .sea: "PCAS11,4"
    case .airborne: "PCAS11,6"
    }
  }

  // Unicore (Unicore Reference Commands Manual For N4 High Precision Products, R1.13). A log without a port is for the port on
  // which it is asked for.

  /// No log but these on this port: RMC, GGA, GSA and GST once a second and, where the line has room, GSV every fifth.
  public static func unicoreSentences(hasRoom: Bool) -> [String] {
    ["UNLOG"] + unicoreRate(milliseconds: 1_000) + (hasRoom ? ["GPGSV 5"] : [])
  }

  /// RMC, GGA, GSA and GST, which has the receiver's own accuracies, at an interval.
  public static func unicoreRate(milliseconds: Int) -> [String] {
    ["GPRMC", "GPGGA", "GPGSA", "GPGST"].map { "\($0) \(seconds(milliseconds))" }
  }

  /// The heading by two antennas at an interval.
  public static func unicoreHeading(milliseconds: Int) -> String {
    "UNIHEADINGA \(seconds(milliseconds))"
  }

  /// Rover modes: for surveys, which move little, for cars and for aircraft; `nil` at sea, which the manual does not have.
  public static func unicore(_ model: DynamicModel) -> String? {
    switch model {
    case .portable, .pedestrian, .stationary: "MODE ROVER SURVEY"
    case .automotive: "MODE ROVER AUTOMOTIVE"
    case .airborne: "MODE ROVER UAV"
    case .sea: nil
    }
  }

  /// The longest survey that the manual allows, seconds.
  package static let longestUnicoreSurvey = 3_600.0

  /// The mode of a base station (manual, section 3, MODE BASE); `nil` for what the command cannot say.
  ///
  /// A survey ends after its seconds at the latest, and has no limit of accuracy. The receiver stores its result in its flash; the
  /// distance 0 says that a place of an earlier survey is not taken. A place is given in the earth-centred frame: in the geodetic one
  /// the manual's height is that above the sea. Numbers within the range of degrees and of heights would be taken for them.
  package static func unicoreBase(_ place: BasePlace) -> String? {
    switch place {
    case .survey(let seconds, _):
      return (1...longestUnicoreSurvey).contains(seconds)
        ? "MODE BASE TIME \(Int(seconds.rounded(.up))) 0" : nil
    case .known(let latitude, let longitude, let height, _):
      let place = ECEFSolution(latitude: latitude, longitude: longitude, height: height)
      guard let p = place.position, abs(p.x) > 90.1, abs(p.y) > 180.1, abs(p.z) > 30_000.1,
        [p.x, p.y, p.z].allSatisfy({ abs($0) < 1e8 })
      else { return nil }
      return "MODE BASE \(decimal(p.x)) \(decimal(p.y)) \(decimal(p.z))"
    }
  }

  /// A number with four decimals.
  private static func decimal(_ value: Double) -> String {
    let total = Int64((value * 1e4).rounded())
    let (whole, rest) = total.magnitude.quotientAndRemainder(dividingBy: 10_000)
    return "\(total < 0 ? "-" : "")\(whole).\(String(10_000 + rest).dropFirst())"
  }

  /// As the manual writes intervals: 1, 0.5, 0.2.
  private static func seconds(_ milliseconds: Int) -> String {
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    guard rest > 0 else { return "\(whole)" }
    return rest % 100 == 0
      ? "\(whole).\(rest / 100)" : "\(whole).\(String(1_000 + rest).dropFirst())"
  }

  // Quectel LG290P and LGx80P (their GNSS Protocol Specification V1.1). A message comes with every so many fixes, at most every 20th,
  // from then on. Another interval of fixes, a navigation mode and a rate of the line count after they are saved and the module is
  // restarted, which is not done.

  /// The question for the time between fixes.
  public static let quectelFixQuestion = "PQTMCFGFIXRATE,R"

  /// RMC, GGA, GSA and PQTMEPE, which has the expected errors, at an interval of so many fixes.
  public static func quectelRate(fixes: Int) -> [String] {
    ["RMC", "GGA", "GSA", "PQTMEPE"].map { quectel($0, fixes: fixes) }
  }

  /// What else is sent when it is delivered: GSV seldom, GLL and VTG not at all.
  public static let quectelSentences = [
    quectel("GSV", fixes: 20), quectel("GLL", fixes: 0), quectel("VTG", fixes: 0),
  ]

  /// The heading by two antennas, of those that have two.
  public static func quectelHeading(fixes: Int) -> String { quectel("PQTMTAR", fixes: fixes) }

  /// Messages of Quectel's own have a version.
  private static func quectel(_ message: String, fixes: Int) -> String {
    let version = message == "PQTMEPE" ? ",2" : message == "PQTMTAR" ? ",1" : ""
    return "PQTMCFGMSGRATE,W,\(message),\(min(20, fixes))\(version)"
  }
}

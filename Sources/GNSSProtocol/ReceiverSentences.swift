// Sentences that configure receivers which have no binary protocol, or none that is documented. They are sent a
// few times in a receiver's life, so plain strings do. None writes to a receiver's flash.

public import SensorTypes

/// Builds the commands of MediaTek, Airoha and CASIC receivers.
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
  public static let airohaSentences = [
    "PAIR062,0,1", "PAIR062,1,0", "PAIR062,2,1", "PAIR062,3,5", "PAIR062,4,1", "PAIR062,5,0",
  ]

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
}

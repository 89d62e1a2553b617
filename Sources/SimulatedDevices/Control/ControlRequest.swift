// The requests of a simulated board's control line, one a line of plain text.

package import LinearAlgebra

/// What a line asks for.
package enum ControlRequest: Equatable {
  case hello
  case truth
  case stood
  case fault(chip: String, SimulatedFault, seconds: Double)
  case mend(chip: String)
  case show(chip: String, ShownQuantity)
  case walk(chip: String)
  case move(HandMotion)

  /// What is wrong with a line.
  package struct Mistake: Error, Equatable {
    package let text: String
    init(_ text: String) { self.text = text }
  }

  /// Bytes of a line at most, without its end.
  package static let longest = 200
  /// Seconds that a fault may last.
  private static let longestFault = 86_400.0
  /// Milliseconds that a transfer may be made to take.
  private static let slowest = 10_000.0

  /// Reads a line without its end.
  package static func parse(_ line: String) throws(Mistake) -> ControlRequest {
    var words = line.split(separator: " ").map(String.init)[...]
    guard let verb = words.popFirst() else { throw Mistake("nothing asked") }
    let request: ControlRequest
    switch verb {
    case "hello": request = .hello
    case "truth": request = .truth
    case "stood": request = .stood
    case "mend": request = .mend(chip: try word(&words, "CHIP"))
    case "walk": request = .walk(chip: try word(&words, "CHIP"))
    case "move": request = .move(try motion(&words))
    case "show":
      let chip = try word(&words, "CHIP")
      request = .show(chip: chip, try quantity(&words))
    case "fault":
      let chip = try word(&words, "CHIP")
      let kind = try word(&words, "KIND")
      let seconds = try number(&words, "SECONDS", 0...longestFault)
      request = .fault(chip: chip, try fault(kind, &words), seconds: seconds)
    default:
      throw Mistake("no request '\(verb)': hello, fault, mend, show, walk, move, truth or stood")
    }
    if let more = words.first { throw Mistake("'\(more)' is too much") }
    return request
  }

  private static func word(
    _ words: inout ArraySlice<String>, _ name: String
  ) throws(Mistake) -> String {
    guard let word = words.popFirst() else { throw Mistake("\(name) is missing") }
    return word
  }

  private static func number(
    _ words: inout ArraySlice<String>, _ name: String, _ range: ClosedRange<Double>
  ) throws(Mistake) -> Double {
    let text = try word(&words, name)
    guard let value = Double(text), value.isFinite, range.contains(value) else {
      throw Mistake(
        "\(name) '\(text)' is no number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  private static func byte(
    _ words: inout ArraySlice<String>, _ name: String
  ) throws(Mistake) -> UInt8 {
    let text = try word(&words, name)
    let value = text.hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
    guard let value else { throw Mistake("\(name) '\(text)' is no byte, as 18 or 0x12") }
    return value
  }

  private static func fault(
    _ kind: String, _ words: inout ArraySlice<String>
  ) throws(Mistake) -> SimulatedFault {
    switch kind {
    // The board file's names are understood too.
    case "noAnswer", "unplugged": .noAnswer
    case "timeout": .timeout
    case "shortRead": .shortRead(bytes: words.isEmpty ? 3 : Int(try byte(&words, "BYTES")))
    // No chip of the catalog has this one.
    case "wrongIdentity": .wrongIdentity(words.isEmpty ? 0xEE : try byte(&words, "IDENTITY"))
    case "brownOut": .brownOut
    case "stuckData", "stuck": .stuckData
    case "stuckLow": .stuckLow
    case "bitFlip":
      .bitFlip(register: try byte(&words, "REGISTER"), mask: try byte(&words, "MASK"))
    case "overflow": .overflow
    case "disturbed": .disturbed(every: words.isEmpty ? 3 : max(1, Int(try byte(&words, "EVERY"))))
    case "slow": .slow(seconds: try number(&words, "MILLISECONDS", 0...slowest) / 1_000)
    case "receiverSilent", "silent": .receiverSilent
    case "receiverGarbage", "garbage": .receiverGarbage
    case "noPulse": .pulse(.missing)
    default:
      throw Mistake(
        "no fault '\(kind)': noAnswer, timeout, shortRead, wrongIdentity, brownOut, stuckData, "
          + "stuckLow, bitFlip, overflow, slow, disturbed, receiverSilent, receiverGarbage or noPulse"
      )
    }
  }

  /// `move SECONDS [turn DEGREES] [pitch DEGREES] [roll DEGREES] [field X Y Z]`
  private static func motion(
    _ words: inout ArraySlice<String>
  ) throws(Mistake) -> HandMotion {
    var motion = HandMotion(seconds: try number(&words, "SECONDS", HandMotion.durations))
    while let name = words.popFirst() {
      switch name {
      case "turn": motion.turn = try number(&words, "turn", -3_600...3_600)
      case "pitch": motion.pitch = try number(&words, "pitch", -85...85)
      case "roll": motion.roll = try number(&words, "roll", -3_600...3_600)
      case "field":
        let x = try number(&words, "X", -1e5...1e5)
        let y = try number(&words, "Y", -1e5...1e5)
        motion.field = Vector3(x, y, try number(&words, "Z", -1e5...1e5))
      default: throw Mistake("cannot move '\(name)': turn, pitch, roll or field")
      }
    }
    return motion
  }

  private static func quantity(
    _ words: inout ArraySlice<String>
  ) throws(Mistake) -> ShownQuantity {
    func vector(_ limit: Double) throws(Mistake) -> Vector3 {
      let x = try number(&words, "X", -limit...limit)
      let y = try number(&words, "Y", -limit...limit)
      return Vector3(x, y, try number(&words, "Z", -limit...limit))
    }
    let name = try word(&words, "what to show")
    // The limits are beyond every chip's range, so that each can be driven out of it.
    switch name {
    case "field": return .field(try vector(1e5))
    case "acceleration": return .acceleration(try vector(1e4))
    case "rate": return .rate(try vector(1e4))
    case "pressure": return .pressure(try number(&words, "P", 0...1e6))
    case "temperature": return .temperature(try number(&words, "T", -273.15...1_000))
    case "humidity": return .humidity(try number(&words, "H", 0...100))
    default:
      throw Mistake(
        "cannot show '\(name)': field, acceleration, rate, pressure, temperature or humidity")
    }
  }
}

/// What a chip is to see, in its own frame.
package enum ShownQuantity: Equatable {
  /// Microtesla.
  case field(Vector3)
  /// Specific force, m/s^2.
  case acceleration(Vector3)
  /// Rad/s.
  case rate(Vector3)
  /// Pascals.
  case pressure(Double)
  /// Degrees Celsius.
  case temperature(Double)
  /// Percent.
  case humidity(Double)
}

import CalibrationCore
import LinearAlgebra
import TerminalUI
import TextForms

/// The screen of the guided calibration as lines of at most 80 columns: what to do, the sphere, bars and keys.
package struct GuideScreen {
  static let columns = 80
  /// As many lines as there are.
  static let rows = 24
  private static let mapWidth = 34

  let look: TerminalCapabilities
  /// What is calibrated: `LIS3MDL at /dev/i2c-1:0x1c`.
  let title: String

  /// The lines for what the coach says now. A terminal too narrow or too low for the sphere is given the figures
  /// alone.
  ///
  /// - Parameters:
  ///   - note: What the command itself has to say, in place of a hint or a warning.
  ///   - size: Of the terminal.
  func lines(
    _ coach: CalibrationCoach, note: String? = nil,
    size: (columns: Int, rows: Int) = (columns, rows)
  ) -> [String] {
    let width = min(size.columns, Self.columns) - 1
    let isSmall = width < Self.columns - 4 || size.rows < Self.rows - 1
    var lines: [String] = []
    // What a terminal can do without, by its line, the first first.
    var spare: [Int] = []
    lines.append(" " + style("Calibrating the magnetometer", .bold) + "  " + title.prefix(48))
    lines.append("")
    let words = coach.words
    lines.append("   " + style(words.pose.uppercased(), .bold))
    lines.append("   " + words.turn)
    lines.append("")
    if let note {
      // The answer to a key comes first.
      lines += wrapped(note, width, .bold)
    } else if let warning = coach.warning {
      lines += wrapped(warning.words, width, .warning)
    } else {
      lines += wrapped(hint(coach), width, nil)
    }
    lines.append("")
    let panel = panel(coach)
    if isSmall {
      let figures = lines.count
      lines += panel.filter { !$0.isEmpty }.map { "   " + $0 }
      // Samples, what is wanted, the field, the heading.
      spare = [5, 2, 3, 4].map { figures + $0 }
    } else {
      for (row, ring) in map(coach).enumerated() {
        lines.append("   " + ring + "    " + (row < panel.count ? panel[row] : ""))
      }
      lines.append("")
      let marks = Marks(look)
      lines.append(
        "   \(style(marks.seen, .seen)) seen   \(style(marks.wanted, .wanted)) asked for   "
          + "\(marks.open) not yet   \(style(marks.here, .here)) the field now")
    }
    lines.append("")
    // Two lines, so that the keys stay where they are.
    let missing = coach.missing.map { "missing: \($0)" } ?? "nothing is missing"
    spare += [lines.count, lines.count + 1]
    lines += (Wrap.lines(missing, indent: 3, width: width) + ["", ""]).prefix(2)
    let keys = "q quit without saving    s save now    r start over"
    lines.append(" " + (keys.count < width ? keys : "q quit   s save   r start over"))
    return isSmall ? Self.short(lines, spare: spare, rows: size.rows) : lines
  }

  /// As many lines as there is room for: empty ones go first, then those that can be done without. The keys stay.
  private static func short(_ lines: [String], spare: [Int], rows: Int) -> [String] {
    let order = lines.indices.filter { lines[$0].isEmpty } + spare.filter { !lines[$0].isEmpty }
    let gone = Set(order.prefix(max(0, lines.count - rows)))
    return lines.indices.filter { !gone.contains($0) }.map { lines[$0] }
  }

  private func wrapped(_ text: String, _ width: Int, _ look: Style?) -> [String] {
    Wrap.lines(text, indent: 3, width: width).map { line in look.map { style(line, $0) } ?? line }
  }

  private func hint(_ coach: CalibrationCoach) -> String {
    coach.age < 12
      ? "Take the board as a whole; keep iron and magnets a forearm away."
      : "The words change when what they ask for is done."
  }

  // MARK: The sphere

  private struct Marks {
    let seen: String
    let wanted: String
    let open: String
    let here: String

    init(_ look: TerminalCapabilities) {
      (seen, wanted, open, here) =
        look.isUnicode ? ("██", "▒▒", "··", "◆ ") : ("##", "oo", "..", "<>")
    }
  }

  /// The cells, a ring a line, from the side of the chip's z axis to the other.
  func map(_ coach: CalibrationCoach) -> [String] {
    let marks = Marks(look)
    let here = coach.direction.flatMap(SphereCells.index(of:))
    var first = 0
    return SphereCells.rings.map { count in
      let margin = String(repeating: " ", count: Self.mapWidth / 2 - count)
      // Neighbours of one colour share its codes: a line may be slow.
      var line = margin
      var run: (text: String, style: Style?) = ("", nil)
      func flush() { line += run.style.map { style(run.text, $0) } ?? run.text }
      for cell in first..<first + count {
        let mark: (text: String, style: Style?) =
          if cell == here {
            (marks.here, .here)
          } else if coach.cells.contains(cell) {
            (marks.seen, .seen)
          } else if coach.wanted.contains(cell) {
            (marks.wanted, .wanted)
          } else {
            (marks.open, nil)
          }
        if mark.style != run.style {
          flush()
          run = mark
        } else {
          run.text += mark.text
        }
      }
      flush()
      first += count
      return line + margin
    }
  }

  // MARK: The numbers

  private func panel(_ coach: CalibrationCoach) -> [String] {
    let coverage = coach.coverage
    func row(_ name: String, _ text: String) -> String {
      name + String(repeating: " ", count: max(1, 9 - name.count)) + text
    }
    var lines = [
      row(
        "seen",
        bar(coverage, mark: coach.params.goodCoverage)
          + " \(Int((100 * coverage).rounded())) %"),
      row(
        "score",
        bar(Double(coach.score) / 100, mark: Double(coach.params.goodScore) / 100)
          + " \(coach.score)"),
      row("", "wanted \(Int(100 * coach.params.goodCoverage)) % and \(coach.params.goodScore)"),
      "",
    ]
    let strength = coach.strength.map { "\(figure($0)) uT" } ?? "not known yet"
    let expected = coach.expected.strength.map { ", expected \(figure($0))" } ?? ""
    lines.append(row("field", strength + expected))
    let error = coach.headingError.map { "+- \(figure($0)) deg expected" }
    lines.append(row("heading", error ?? "not known yet"))
    lines.append(row("samples", "\(coach.samples.count)"))
    lines.append(
      row("time", "\(Self.clock(coach.age)) of at most \(Self.clock(coach.params.seconds))"))
    return lines
  }

  private func bar(_ share: Double, mark: Double) -> String {
    let width = 20
    let full = max(0, min(width, Int((share * Double(width)).rounded(.down))))
    let (on, off) = look.isUnicode ? ("█", "░") : ("#", "-")
    let style: Style = share >= mark ? .seen : .wanted
    return "["
      + self.style(String(repeating: on, count: full), style)
      + String(repeating: off, count: width - full) + "]"
  }

  private func figure(_ value: Double) -> String {
    let text = DecimalText.short(value, 1)
    return text.contains(".") ? text : text + ".0"
  }

  /// Minutes and seconds.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(86_400, seconds)))
    let rest = whole % 60
    return "\(whole / 60):" + (rest < 10 ? "0" : "") + "\(rest)"
  }

  // MARK: Style

  private enum Style: String {
    case bold = "1"
    case seen = "32"
    case wanted = "33"
    case here = "1;35"
    case warning = "1;33"
  }

  private func style(_ text: String, _ style: Style) -> String {
    look.hasColor && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  package init(look: TerminalCapabilities, title: String) { self.look = look; self.title = title }
}

/// What the terminal can show.
package struct TerminalCapabilities: Sendable, Equatable {
  /// Characters beyond ASCII.
  var isUnicode = false
  var hasColor = false

  /// What this process's environment says of its terminal.
  package init(environment: [String: String]) {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
      .first { !$0.isEmpty }
    let name = locale?.lowercased() ?? ""
    isUnicode = name.contains("utf-8") || name.contains("utf8")
    hasColor = environment["NO_COLOR"]?.isEmpty ?? true
  }

  init() {}
}

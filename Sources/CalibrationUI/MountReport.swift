package import BoardFile
package import CalibrationCore
import FoundationEssentials
import Geomagnetism
import LinearAlgebra
package import Lodestone
import OutputProtocols
import SensorDrivers
package import SensorTypes
package import TerminalUI
import TextForms

/// The chips of a board that have a mount.
package struct MountedChips {
  /// By the place in the board file.
  package let senses: [MountDetector.Senses]

  package init(_ board: Board) {
    senses = board.sensors.map { sensor in
      switch ChipCatalog.chip(named: sensor.chip)?.kind {
      case .magnetometer: .field
      case .accelerometer: .force
      case .inertial: [.force, .turning]
      case .barometer, .receiver, nil: []
      }
    }
  }

  package func check() throws {
    guard senses.contains(where: { !$0.isEmpty }) else {
      throw CommandError("no chip of this board has a mount to be found")
    }
    guard senses.contains(where: { $0.contains(.force) }) else {
      throw CommandError(
        "this board has no accelerometer: without one nothing says where up is; take the mount from the "
          + "magnetometer's drawing and write it into the board file")
    }
  }
}

/// The vertical part of the earth's field where the board is, as well as that is known.
package struct FieldPlace {
  /// Microtesla, positive down; `nil` while the place is not known.
  package private(set) var downward: Double?
  private var hasFix = false

  package init(_ session: any CalibrationBoard) {
    downward = LocalPlace(of: session.board, session.state, session.access).flatMap(Self.field(at:))
  }

  /// Takes where a receiver says it is; returns whether that is news.
  package mutating func take(_ fix: GNSSFix) -> Bool {
    // Ten kilometres change nothing here: one fix is enough.
    guard !hasFix, let place = LocalPlace(fix) else { return false }
    hasFix = true
    downward = Self.field(at: place)
    return true
  }

  private static func field(at place: LocalPlace) -> Double? {
    // The date matters little: a degree of inclination in ten years. Where the clock is not set, the
    // model's beginning does.
    let begun = MagneticModel.wmm2025.epoch
    let now = MagneticModel.decimalYear(unixSeconds: Date().timeIntervalSince1970)
    let field = try? place.field(decimalYear: max(begun, min(now, begun + 5)))
    return field.map { $0.down / 1_000 }
  }
}

/// Says once a second what to do next.
package struct MountProgress {
  let format: OutputFormat
  private let isDrawn: Bool
  private var said: Int?
  private var step: MountStep?

  package init(format: OutputFormat) {
    self.format = format
    isDrawn = format == .text && Terminal.isInteractive
  }

  /// Prints what has changed. Returns false when nobody reads it any more.
  package mutating func show(_ guide: MountGuide, seconds: Double) -> Bool {
    let text = text(
      of: guide.step, hint: guide.hint, (guide.seen, guide.unchecked), seconds: seconds,
      width: isDrawn ? Terminal.size.columns : nil)
    return text.isEmpty || Terminal.write(text)
  }

  /// What is to be printed; empty where nothing has changed within a second.
  ///
  /// - Parameter width: The columns of the terminal that it draws on; `nil` where each state is a line.
  mutating func text(
    of now: MountStep, hint: String?,
    _ gestures: (seen: [MountDetector.Gesture], unchecked: [MountDetector.Gesture]),
    seconds: Double, width: Int?
  ) -> String {
    let second = Int(seconds)
    guard second != said || now != step else { return "" }
    defer { (said, step) = (second, now) }
    guard format == .text else {
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "progress")
      line.set("seconds", second)
      line.set("step", now.rawValue)
      line.set("say", now.words)
      line.set("hint", hint)
      return line.line + "\n"
    }
    var text = ""
    let clock = String(repeating: " ", count: max(0, 4 - "\(second)".count)) + "\(second) s  "
    if now != step {
      if let step, let gesture = MountDetector.Gesture(rawValue: step.rawValue) {
        // The finished step's line stays, with what came of it; the next begins below it.
        let outcome =
          gestures.seen.contains(gesture)
          ? "seen"
          : gestures.unchecked.contains(gesture)
            ? "not checked: no gyro or magnetometer" : "NOT seen"
        if let width {
          let words = Wrap.cut(step.words, width: max(0, width - 2 - clock.count - outcome.count))
          text += "\r" + Wrap.cut("\(clock)\(words) \(outcome)", width: width - 1) + "\u{1B}[K\n"
        } else {
          text += "\(clock)\(outcome)\n"
        }
      }
      if now == .done { return text }
      if width == nil { text += now.words + "\n" }
    }
    if let width {
      let line = clock + (hint.map { "-> \($0)" } ?? now.words)
      text += "\r" + Wrap.cut(line, width: width - 1) + "\u{1B}[K"
    } else {
      text += clock + (hint ?? "...") + "\n"
    }
    return text
  }

  /// Leaves the terminal at the beginning of a line.
  package func finish() {
    if isDrawn { Terminal.write("\n") }
  }
}

/// The answers, beside what the board file says.
package struct MountReport {
  let board: Board
  let findings: [MountFinding]
  private let reference: Int?

  package init(board: Board, findings: [MountFinding], _ detective: MountDetector) {
    self.board = board
    self.findings = findings
    reference = detective.reference
  }

  /// Whether every chip's placement was found.
  package var isSure: Bool { !findings.isEmpty && findings.allSatisfy { $0.mount != nil } }

  /// Where a chip sits if the board file is right about the reference chip.
  private func ifReferenceIsRight(_ finding: MountFinding) -> Mount? {
    guard finding.mount == nil, let reference, finding.chip != reference else { return nil }
    return finding.mount(ifReferenceIs: board.sensors[reference].mount)
  }

  /// `30 to 1`, or a word for more than error bars are worth.
  private static func odds(_ margin: Double) -> String {
    margin > 6.9 ? "more than 1000 to 1" : "\(Int(exp(max(0, margin)))) to 1"
  }

  /// For people: at most 80 columns.
  package var text: String {
    var lines: [String] = []
    func say(_ text: String) { lines += Wrap.lines(text, indent: 4, width: 78) }
    for finding in findings {
      let sensor = board.sensors[finding.chip]
      lines.append("\(sensor.chip) at \(sensor.attachment)")
      if let mount = finding.mount {
        let sure = "sure by \(Self.odds(finding.margin))"
        say("mount: \(mount.line)")
        if mount == sensor.mount {
          say("as in the board file; \(sure)")
        } else {
          say("NOT as in the board file, which says \(sensor.mount.line); \(sure)")
        }
        if mount.isMirrored {
          say("a mirror image: no right-handed chip can sit so; is its driver's sign right?")
        }
        continue
      }
      say("not found: \(finding.refusal ?? "nothing came")")
      if let mount = finding.ifNotMirrored {
        say("if its axes are no mirror image: mount: \(mount.line)")
      } else if let reference, let mount = ifReferenceIsRight(finding) {
        let other = board.sensors[reference]
        say("if the \(other.chip) sits as the board file says, \(other.mount.line):")
        let mirror = finding.relative == nil ? " (or its mirror image)" : ""
        say(
          "mount: \(mount.line)\(mirror)" + (mount == sensor.mount ? ", as in the board file" : ""))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One JSON object a chip.
  package var lines: String {
    var text = ""
    for finding in findings {
      let sensor = board.sensors[finding.chip]
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "mount")
      line.set("chip", sensor.chip)
      line.set("position", sensor.attachment.description)
      line.set("sure", finding.mount != nil)
      line.set("mount", finding.mount?.line)
      line.set("boardFile", sensor.mount.line)
      if let mount = finding.mount {
        line.set("differs", mount != sensor.mount)
        line.set("isMirrored", mount.isMirrored)
      }
      line.set("best", finding.best?.line)
      if finding.best != nil { line.set("probability", finding.probability, digits: 6) }
      line.set("runnerUp", finding.runnerUp?.line)
      if finding.runnerUp != nil { line.set("margin", finding.margin, digits: 2) }
      line.set("ifNotMirrored", finding.ifNotMirrored?.line)
      line.set("ifReferenceIsRight", ifReferenceIsRight(finding)?.line)
      line.set("reason", finding.refusal)
      text += line.line + "\n"
    }
    return text
  }
}

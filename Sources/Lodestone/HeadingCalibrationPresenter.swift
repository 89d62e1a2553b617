// How a person is told that the compass wants calibration: a terminal, a closure, or not at all.

import Glibc
public import SensorTypes
import Synchronization

/// Shows the prompt that asks a person to calibrate the compass.
///
/// Set it as `LodestoneRuntime.shared.calibrationPresenter`. Its methods are called one after the other on a queue of
/// their own, so that they may take their time: `show` first, `update` as often as there is progress, `dismiss` last.
public protocol HeadingCalibrationPresenter: Sendable {
  /// Shows the prompt; it stays until `dismiss`.
  func show(_ prompt: CalibrationPrompt)

  /// Says how far the calibration has come.
  func update(_ progress: CalibrationProgress)

  /// Takes the prompt down.
  func dismiss(_ end: CalibrationPromptEnd)
}

extension HeadingCalibrationPresenter where Self == NoCalibrationPresenter {
  /// Shows nothing: what a process has unless it says otherwise.
  public static var none: NoCalibrationPresenter { NoCalibrationPresenter() }
}

extension HeadingCalibrationPresenter where Self == TerminalCalibrationPresenter {
  /// Prints a few plain lines to standard error that say what to do.
  public static var terminal: TerminalCalibrationPresenter { TerminalCalibrationPresenter() }
}

extension HeadingCalibrationPresenter where Self == ClosureCalibrationPresenter {
  /// Calls `body` with all that happens to the prompt: for a web page, a lamp or a buzzer.
  public static func closure(
    _ body: @escaping @Sendable (CalibrationPromptEvent) -> Void
  ) -> ClosureCalibrationPresenter {
    ClosureCalibrationPresenter(body)
  }
}

/// A presenter that shows nothing.
public struct NoCalibrationPresenter: HeadingCalibrationPresenter {
  /// Makes one.
  public init() {}

  /// Does nothing.
  public func show(_ prompt: CalibrationPrompt) {}

  /// Does nothing.
  public func update(_ progress: CalibrationProgress) {}

  /// Does nothing.
  public func dismiss(_ end: CalibrationPromptEnd) {}
}

/// A presenter that calls a closure.
public struct ClosureCalibrationPresenter: HeadingCalibrationPresenter {
  private let body: @Sendable (CalibrationPromptEvent) -> Void

  /// Makes one.
  public init(_ body: @escaping @Sendable (CalibrationPromptEvent) -> Void) { self.body = body }

  /// Calls the closure.
  public func show(_ prompt: CalibrationPrompt) { body(.show(prompt)) }

  /// Calls the closure.
  public func update(_ progress: CalibrationProgress) { body(.update(progress)) }

  /// Calls the closure.
  public func dismiss(_ end: CalibrationPromptEnd) { body(.dismiss(end)) }
}

/// What happens to the prompt.
public enum CalibrationPromptEvent: Sendable, Hashable {
  /// It is to be shown.
  case show(CalibrationPrompt)
  /// The calibration has come so far.
  case update(CalibrationProgress)
  /// It is to be taken down.
  case dismiss(CalibrationPromptEnd)
}

/// A presenter that prints plain lines of at most 80 columns, to standard error unless told otherwise.
///
/// No colours and no cursor movements: they read the same over SSH, on a serial console and in a log. Of the
/// progress a line is printed for every tenth of the directions and for every new advice.
public final class TerminalCalibrationPresenter: HeadingCalibrationPresenter {
  private struct State {
    var tenths = -1
    var advice: String?
  }

  private let state = Mutex(State())
  private let print: @Sendable (String) -> Void

  /// Makes one that writes to standard error.
  public convenience init() {
    self.init(print: { LineOutput.write($0, to: STDERR_FILENO) })
  }

  /// Makes one that hands each line, without its end, to a closure.
  public init(print: @escaping @Sendable (String) -> Void) { self.print = print }

  /// Prints why, and what to do.
  public func show(_ prompt: CalibrationPrompt) {
    state.withLock { $0 = State() }
    switch prompt.cause {
    case .uncalibrated:
      print("The compass is not calibrated: headings cannot be trusted yet.")
    case .fieldChanged(let measured, let expected):
      print("The magnetic field has changed: headings cannot be trusted.")
      print("  " + Self.words(measured, expected))
      print("  Take away magnets, tools and loudspeakers; what stays on the board is")
      print("  calibrated away.")
    }
    print("To calibrate, turn the board in slow figure eights, every side up once: it")
    print("learns while in use, unless its board file says backgroundCalibration: false.")
    print("Or end this program and run:  lodestone calibrate magnetometer")
  }

  /// Prints how far it has come, where that is news.
  public func update(_ progress: CalibrationProgress) {
    let isNews = state.withLock { state in
      let coverage = progress.coverage.flatMap { $0.isFinite ? min(max($0, 0), 1) : nil }
      let tenths = coverage.map { Int($0 * 10) } ?? state.tenths
      defer { (state.tenths, state.advice) = (tenths, progress.advice) }
      return tenths > state.tenths || progress.advice != state.advice
    }
    guard isNews else { return }
    var parts: [String] = []
    if let coverage = progress.coverage, coverage.isFinite {
      parts.append("\(Int((min(max(coverage, 0), 1) * 100).rounded())) % of the directions seen")
    }
    if let score = progress.score { parts.append("score \(score) of 100") }
    if let advice = progress.advice { parts.append(advice) }
    guard !parts.isEmpty else { return }
    print("  " + parts.joined(separator: ", "))
  }

  /// Prints how it ended.
  public func dismiss(_ end: CalibrationPromptEnd) {
    switch end {
    case .calibrated: print("The compass is calibrated.")
    case .dismissed, .unwanted, .boardChanged:
      print("No calibration of the compass is asked for now.")
    }
  }

  private static func words(_ measured: FieldShape, _ expected: FieldShape?) -> String {
    var words = "measured \(text(measured))"
    if let expected { words += ", expected \(text(expected))" }
    return words
  }

  private static func text(_ shape: FieldShape) -> String {
    var text = "\(whole(shape.strength)) uT"
    if let dip = shape.dip { text += " dipping \(whole(dip * 180 / .pi)) deg" }
    return text
  }

  /// A rounded number, bounded so that nothing a chip says can end the program.
  private static func whole(_ value: Double) -> String {
    value.isFinite ? String(Int(max(-1e6, min(1e6, value)).rounded())) : "?"
  }
}

// JSON lines in files, for weeks.

import Glibc
import StateStore
import Synchronization

/// Writes lines into a file, or into the files of a series. A file that is full, or that somebody has moved away, is followed by
/// a new one between two lines.
///
/// While the disk is full, lines are dropped and counted, and the file is tried every second. All calls come from one thread; a
/// `RotationRequest` can be made on any.
final class LineLog {
  /// How long a file goes on that could not be followed by another one, in seconds.
  private static let rotationPause = 60.0

  private var files: OutputFiles
  private var file: OutputFile
  private var output: RecordingOutput
  private var begun: ContinuousClock.Instant
  /// When a new file is tried next; `nil` if the last one could be begun.
  private var nextRotation: ContinuousClock.Instant?
  /// Bytes that were not written, of the outputs before this one.
  private var lostBefore = 0
  private let request: RotationRequest
  private let put: LinePut
  private let warn: (String) -> Void

  /// Writes the first bytes of a piece into a file, one at least. Returns how many.
  typealias LinePut = @Sendable (OutputFile, UnsafeRawBufferPointer) throws -> Int

  /// A request for another file that any thread can make.
  final class RotationRequest: Sendable {
    private let isMade = Atomic<Bool>(false)

    init() {}

    /// Asks for a new file before the next line.
    func make() { isMade.store(true, ordering: .releasing) }

    func take() -> Bool { isMade.exchange(false, ordering: .acquiringAndReleasing) }
  }

  /// Opens the first file.
  ///
  /// - Parameters:
  ///   - files: The files that it writes.
  ///   - request: Asks for a new file.
  ///   - warn: Receives messages.
  ///   - now: The time of the call.
  ///   - put: Writes into a file.
  init(
    _ files: OutputFiles, request: RotationRequest, at now: ContinuousClock.Instant = .now,
    put: @escaping LinePut = { try $0.writeSome($1) }, warn: @escaping (String) -> Void
  ) throws {
    self.files = files
    self.request = request
    self.put = put
    self.warn = warn
    begun = now
    file = try self.files.open()
    output = Self.output(into: file, put)
    self.files.lookAfter()
  }

  /// The number of bytes that were not written.
  var lost: Int { lostBefore + output.lost }

  /// Writes whole lines. Throws only where the reader of a pipe has gone away.
  func write(_ text: String, at now: ContinuousClock.Instant = .now) throws {
    rotateIfDue(at: now)
    guard !text.isEmpty else { return note(at: now) }
    let bytes = Array((file.isCutOff && file.written == 0 ? "\n" : "").utf8) + text.utf8
    try bytes.withUnsafeBytes { try output.write($0, at: now) }
    if output.isOver {
      // The file can be written again: a line feed went into it, and these lines can follow.
      note(at: now)
      lostBefore += output.lost - bytes.count
      output = Self.output(into: file, put)
      try bytes.withUnsafeBytes { try output.write($0, at: now) }
    }
    note(at: now)
  }

  /// Closes the file. Throws where it is not whole, or lines were lost.
  func finish() throws {
    defer { files.finish() }
    if let note = output.note(isLast: true) { warn(note) }
    do {
      try closeFile()
    } catch {
      throw CommandError("the log is not whole: \(error)", kind: .io)
    }
    guard lost == 0 else {
      throw CommandError(
        "the log is not whole: \(lost) bytes could not be written", kind: .io)
    }
  }

  private static func output(into file: OutputFile, _ put: @escaping LinePut) -> RecordingOutput {
    RecordingOutput(path: file.path, keepsTrying: true, what: "log") { try put(file, $0) }
  }

  /// Closes the file. One of a series that nothing was written into is removed again, when it is forgotten.
  private func closeFile() throws {
    if !files.isSeries || file.written > 0 { try file.finish() }
  }

  private func note(at now: ContinuousClock.Instant) {
    if let note = output.note(at: now) { warn(note) }
  }

  private func rotateIfDue(at now: ContinuousClock.Instant) {
    let isRequested = request.take()
    let isFull = files.isFull(bytes: file.written, seconds: (now - begun) / .seconds(1))
    guard isRequested || isFull && nextRotation.map({ now >= $0 }) ?? true else { return }
    do {
      if !files.isSeries, try !file.isToBeReopened() {
        return warn("\(file.path) has not been moved away: the log goes on in it")
      }
      let new = try files.open()
      if let note = output.note(isLast: true) { warn(note) }
      lostBefore += output.lost
      do { try closeFile() } catch { warn("\(error)") }
      (file, begun, nextRotation) = (new, now, nil)
      output = Self.output(into: file, put)
      files.lookAfter()
    } catch {
      warn("\(error): the log goes on in the file that it began in")
      nextRotation = now.advanced(by: .seconds(Self.rotationPause))
    }
  }
}

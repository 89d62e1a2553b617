// Observations in MCAP files, for weeks.

import Lodestone
import OutputProtocols
import SensorTypes
import StateStore

/// Writes observations into an MCAP file, or into the files of a series.
///
/// A file is whole at any moment: each chunk is written together with an end, which the next chunk overwrites. So it can be read when the
/// process was killed or the disk is full; only the open chunk is lost, some seconds, and the index. A chunk that the disk refuses is
/// taken out of the file and tried again every second. What comes meanwhile is dropped and counted.
///
/// All calls come from one thread; a `RotationRequest` can be made on any.
final class MCAPRecorder {
  /// The longest time that a chunk is open, in seconds.
  static let flushInterval = 5.0
  /// How long a file that could not be written is left alone, in seconds.
  private static let tryInterval = 1.0
  /// The time between two messages about the same trouble, in seconds.
  private static let noteInterval = 60.0
  /// How long a file goes on that could not be followed by another one, in seconds.
  private static let rotationPause = 60.0

  /// Writes the first bytes of a piece into a file, one at least. Returns how many.
  typealias PiecePut = @Sendable (OutputFile, UnsafeRawBufferPointer) throws -> Int

  private var files: OutputFiles
  private var file: OutputFile
  private var log: MCAPLog
  private let makeLog: () -> MCAPLog
  private let request: LineLog.RotationRequest
  private let keepsTrying: Bool
  private let put: PiecePut
  private let warn: (String) -> Void
  /// Whole chunks that are not in the file yet.
  private var pending: [UInt8] = []
  /// Bytes of whole chunks in the file.
  private var size = 0
  private var begun: ContinuousClock.Instant
  private var nextFlush: ContinuousClock.Instant
  private var nextRotation: ContinuousClock.Instant?
  /// Why the file cannot be written, and when it is tried next.
  private var refusal: (problem: FileProblem, nextTry: ContinuousClock.Instant)?
  private var nextNote: ContinuousClock.Instant?
  /// Observations that are in no file.
  private(set) var lost: UInt64 = 0
  /// Whether the end of a file could not be written.
  private var isIncomplete = false
  /// Whether a single file holds as many chunks as its index may have.
  private(set) var isOver = false

  /// Opens the first file.
  ///
  /// - Parameters:
  ///   - keepsTrying: Whether a write error is waited out; else the first one is thrown.
  ///   - makeLog: Begins the content of a file.
  ///   - put: Writes into a file.
  ///   - warn: Receives messages.
  init(
    _ files: OutputFiles, request: LineLog.RotationRequest, keepsTrying: Bool,
    at now: ContinuousClock.Instant = .now, put: @escaping PiecePut = { try $0.writeSome($1) },
    makeLog: @escaping () -> MCAPLog, warn: @escaping (String) -> Void
  ) throws {
    (self.files, self.request, self.keepsTrying) = (files, request, keepsTrying)
    (self.makeLog, self.put, self.warn) = (makeLog, put, warn)
    begun = now
    nextFlush = now.advanced(by: .seconds(Self.flushInterval))
    file = try self.files.open()
    log = makeLog()
    self.files.lookAfter()
  }

  var path: String { file.path }
  /// Bytes of the present file without its end.
  var written: Int { size }

  /// Writes observations. Throws where the file cannot be written and is not to be tried again.
  func take(
    _ observations: [Observation], clock: (Timestamp) -> ClockReading,
    at now: ContinuousClock.Instant = .now
  ) throws {
    try rotateIfDue(at: now)
    if let refusal, now >= refusal.nextTry { try write(at: now) }
    for observation in observations {
      guard refusal == nil, !isOver else {
        lost += 1
        continue
      }
      log.take(observation, clock: clock)
      if log.isFull { try fill(at: now) }
    }
    guard size > 0 || log.openBytes > 0 else { return note(at: now) }
    if refusal == nil, now >= nextFlush {
      log.flush()
      nextFlush = now.advanced(by: .seconds(Self.flushInterval))
    }
    if refusal == nil { try write(at: now) }
    note(at: now)
  }

  /// Ends the file with its index, and closes it. Throws where observations are missing.
  func finish() throws {
    defer { files.finish() }
    do {
      try closeFile()
    } catch {
      throw CommandError("the recording is not whole: \(error)", kind: .io)
    }
    guard !isIncomplete else {
      throw CommandError(
        "the recording is not whole: the end of a file could not be written", kind: .io)
    }
    guard lost == 0 else {
      throw CommandError(
        "the recording is not whole: \(lost) observations could not be written", kind: .io)
    }
  }

  // MARK: Pieces

  /// Writes what is pending, with an end behind it.
  private func write(at now: ContinuousClock.Instant) throws {
    pending += log.takeOutput()
    guard !pending.isEmpty else { return }
    do {
      try write(pending, end: MCAPWriter.plainEnd)
      size += pending.count
      pending = []
      refusal = nil
    } catch {
      guard let problem = error as? FileProblem, restore() else { throw error }
      guard keepsTrying else { throw problem }
      refusal = (problem, now.advanced(by: .seconds(Self.tryInterval)))
    }
  }

  /// Writes a piece behind what is whole, and an end behind it if the file can be rewound over that.
  private func write(_ piece: [UInt8], end: [UInt8]) throws {
    guard file.isRegular else { return try putAll(piece[...]) }
    let bytes = piece + end
    let oldEnd = size > 0 ? MCAPWriter.plainEnd.count : 0
    // First what needs room on the disk, then what takes the place of the old end: a full disk leaves the file as it was.
    if oldEnd > 0 { _ = file.seek(to: size + oldEnd) }
    try putAll(bytes.dropFirst(oldEnd))
    guard oldEnd > 0 else { return }
    _ = file.seek(to: size)
    try putAll(bytes.prefix(oldEnd))
  }

  /// Takes what was written of a piece out of the file again. Returns whether that was possible.
  private func restore() -> Bool {
    guard size > 0 else { return file.cut(to: 0) }
    guard file.cut(to: size + MCAPWriter.plainEnd.count), file.seek(to: size) else { return false }
    try? putAll(MCAPWriter.plainEnd[...])
    return true
  }

  private func putAll(_ bytes: ArraySlice<UInt8>) throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        rest = UnsafeRawBufferPointer(rebasing: rest[try put(file, rest)...])
      }
    }
  }

  /// Ends the present file with its index; if there is no room for that, with a plain end. One of a series that nothing was written
  /// into is removed when it is forgotten.
  private func closeFile() throws {
    guard !files.isSeries || size > 0 || !pending.isEmpty || log.openBytes > 0 else { return }
    log.finish()
    let rest = pending + log.takeOutput()
    (pending, refusal) = ([], nil)
    do {
      try write(rest, end: [])
    } catch {
      _ = restore()
      try? file.finish()
      throw error
    }
    try file.finish()
  }

  // MARK: Rotation

  private func fill(at now: ContinuousClock.Instant) throws {
    try write(at: now)
    guard refusal == nil else { return }
    if files.isSeries { return try rotate(at: now) }
    isOver = true
    warn("\(file.path) holds as much as one file may. --rotate begins another file.")
  }

  private func rotateIfDue(at now: ContinuousClock.Instant) throws {
    let isRequested = request.take()
    let isFull = files.isFull(
      bytes: size + log.openBytes, seconds: (now - begun) / .seconds(1))
    guard isRequested || isFull && nextRotation.map({ now >= $0 }) ?? true else { return }
    try rotate(at: now)
  }

  private func rotate(at now: ContinuousClock.Instant) throws {
    let new: OutputFile
    do {
      if !files.isSeries, try !file.isToBeReopened() {
        return warn("\(file.path) has not been moved away: the recording goes on in it")
      }
      new = try files.open()
    } catch {
      warn("\(error): the recording goes on in the file that it began in")
      nextRotation = now.advanced(by: .seconds(Self.rotationPause))
      return
    }
    do {
      let wasEmpty = size == 0 && log.openBytes == 0
      try closeFile()
      if !wasEmpty { warn("\(file.path) is complete: a new file begins") }
    } catch  where keepsTrying {
      warn("\(error)")
      isIncomplete = true
    }
    (file, begun, nextRotation, size) = (new, now, nil, 0)
    (log, isOver) = (makeLog(), false)
    nextFlush = now.advanced(by: .seconds(Self.flushInterval))
    files.lookAfter()
  }

  private func note(at now: ContinuousClock.Instant) {
    guard let refusal else {
      if nextNote != nil {
        warn("\(file.path) can be written again; \(lost) observations are lost so far")
      }
      nextNote = nil
      return
    }
    if let nextNote, now < nextNote { return }
    nextNote = now.advanced(by: .seconds(Self.noteInterval))
    warn(
      "\(refusal.problem): trying again every second; \(lost) observations are lost so far")
  }
}

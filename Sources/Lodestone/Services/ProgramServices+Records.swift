// The calibration records of the board, for a program of the machine's owner that calibrates it.

import BoardFile
import CalibrationCore
import FoundationEssentials
import LocationServices
package import Recording
package import SensorHub
import StateStore

extension ProgramServices {
  /// The records that are in use. Opens the board if necessary, which may take seconds.
  var records: RecordFiles {
    guard let source = openedSource, let board = source.board, let store = source.calibrations
    else {
      let reason = openingFailure ?? "this board stores no records"
      return RecordFiles(files: [:], folder: nil, problem: reason)
    }
    var (files, problem): ([String: String], String?) = ([:], nil)
    for sensor in board.sensors {
      for kind in CalibrationKind.allCases {
        let key = CalibrationKey(kind, sensor)
        // One that cannot be used here may be locked all the same.
        guard case .bytes(let text) = StateFile.read(store.file(key).path) else { continue }
        files[store.file(key).lastPathComponent] = String(decoding: text, as: UTF8.self)
      }
      do {
        if problem == nil { try store.rehearseSave(of: CalibrationKey(.magnetometer, sensor)) }
      } catch {
        problem = "no record could be stored: \(error)"
      }
    }
    let isKept = Session.keptState(of: board) != nil
    let isExact = authorization.isGranted && authorization.accuracy == .full
    let place = isExact ? source.lastPosition : nil
    return RecordFiles(
      files: files, folder: isKept ? store.folder.path : nil, problem: problem,
      place: place.map {
        RecordFiles.Place(
          latitude: $0.latitude, longitude: $0.longitude, altitude: $0.altitude, utc: $0.utc)
      })
  }

  /// Stores a record of a chip of this board.
  func save(_ save: RecordSave) -> RecordSave.Outcome {
    guard let source = openedSource, let board = source.board, let store = source.calibrations
    else { return .refused(openingFailure ?? "this board stores no records", isFile: false) }
    do {
      let record = try StoredRecord(json: Array(save.record.utf8))
      let samples = try save.samples.map { try CalibrationSamples(csv: Array($0.utf8)) }
      guard
        board.sensors.contains(where: { CalibrationKey(record.kind, $0) == CalibrationKey(record) })
      else {
        return .refused(
          "the record is of \(record.chip) at \(record.busPosition), which this board does not have",
          isFile: false)
      }
      try store.save(record, samples: samples, overridingLock: save.overridesLock)
      return .saved
    } catch let error as CalibrationStore.SamplesNotKept {
      return .withoutSamples(error.reason)
    } catch {
      return .refused("\(error)", isFile: error is FileProblem)
    }
  }
}

extension ProgramServices {
  /// Whether the program may know what a recording holds. Opens the board if necessary, which may take seconds.
  package var mayRecord: Bool {
    let (report, source) = (authorization, openedSource)
    if report.isGranted, report.accuracy == .full { return true }
    return source?.board?.hasReceiver == false && source?.lastPosition == nil
  }

  /// Whether the program may know what receivers send, which holds the exact position. Does not open the board.
  package var mayHearReceivers: Bool {
    let report = authorization
    return report.isGranted && report.accuracy == .full
  }

  /// What the receivers send, byte by byte; `nil` for a program that may not know it, and for a board without. Opens the board if
  /// necessary, which may take seconds.
  package var receiverTap: ReceiverTap? { mayHearReceivers ? openedSource?.receiverTap : nil }

  /// Begins a recording of the board. Opens the board if necessary, which may take seconds.
  ///
  /// - Throws: An error that describes itself in one line.
  package func beginRecording(_ sink: @escaping TraceSink) throws -> HubRecording {
    guard mayRecord else {
      throw PositionNotAuthorized(
        description: "a recording holds where the board is, which this program may not know")
    }
    guard let recording = try openedSource?.beginRecording(sink) else {
      throw RecordingImpossible(description: openingFailure ?? "this board cannot be recorded")
    }
    return recording
  }
}

/// The board cannot be recorded.
private struct RecordingImpossible: Error, CustomStringConvertible {
  let description: String
}

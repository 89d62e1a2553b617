// save-cut [--lie]: changes stored records in a process that loses its power at every system call in turn, and
// looks at what is there afterwards. Prints a line; exit code 1 where something was lost.
// save-cut --race: two processes save at once, a third one reads.
// `Tests/StateStoreTests/PowerCutTests.swift` runs it.

import CSaveCut
import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import StateStore

let key = CalibrationKey(.magnetometer, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c")

/// A record that can be told from others by its number.
func record(_ number: Int) -> StoredRecord {
  .magnetometer(
    CalibrationRecord(
      chip: key.chip, busPosition: key.position, board: "Bench", date: "2026-11-21T12:00:00Z",
      method: "sphere", samples: number, coverage: 0.9, residual: 0.4, field: 49,
      matrix: .identity, offset: Vector3(Double(number), 0, 0),
      offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01))))
}

/// The samples of that record.
func samples(_ number: Int) -> CalibrationSamples {
  CalibrationSamples(
    keeping: [
      CalibrationSample(time: Timestamp(seconds: 0), field: Vector3(Double(number), 2, 3))
    ],
    of: AppliedCalibration(
      matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0))
}

func number(_ record: StoredRecord?) -> Int? {
  if case .magnetometer(let record)? = record { record.samples } else { nil }
}

/// What is tried: what was there before, and what is done to it.
struct PowerCut {
  var name: String
  var prepare: (CalibrationStore) throws -> Void
  var act: (CalibrationStore) throws -> Void
  /// Numbers of the records of which one must be in use afterwards; `nil` for none at all.
  var inUse: Set<Int?>
  /// Numbers of the records that must be somewhere afterwards.
  var kept: Set<Int>
  /// A file that could not be used before, damaged or a newer version's: its bytes must be there afterwards, in its place
  /// or put aside.
  var unusable: Data?
}

let damaged = Data("{\"schema\":1,".utf8)

/// What a newer version has written.
let newer = Data(
  String(decoding: (try? record(7).encoded()) ?? [], as: UTF8.self)
    .replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7").utf8)

func damage(_ store: CalibrationStore) throws { try damaged.write(to: store.file(key)) }

let scenarios = [
  PowerCut(
    name: "the first record", prepare: { _ in }, act: { try $0.save(record(1)) },
    inUse: [nil, 1], kept: []),
  PowerCut(
    name: "another record", prepare: { try $0.save(record(1)) }, act: { try $0.save(record(2)) },
    inUse: [1, 2], kept: [1]),
  PowerCut(
    name: "one more than the history takes",
    prepare: { for number in 1...22 { try $0.save(record(number)) } },
    act: { try $0.save(record(23)) }, inUse: [22, 23], kept: Set(3...22)),
  PowerCut(
    name: "a way back", prepare: { for number in 1...3 { try $0.save(record(number)) } },
    act: { try $0.rollback(key) }, inUse: [3, 2], kept: [1, 2, 3]),
  PowerCut(
    name: "a second way back",
    prepare: {
      for number in 1...3 { try $0.save(record(number)) }
      try $0.rollback(key)
    },
    act: { try $0.rollback(key) }, inUse: [2, 1], kept: [1, 2, 3]),
  PowerCut(
    name: "a way forward again",
    prepare: {
      for number in 1...3 { try $0.save(record(number)) }
      for _ in 0..<2 { try $0.rollback(key) }
    },
    act: { try $0.rollForward(key) }, inUse: [1, 2], kept: [1, 2, 3]),
  PowerCut(
    name: "a lock", prepare: { for number in 1...2 { try $0.save(record(number)) } },
    act: { try $0.setLock(true, key) }, inUse: [2], kept: [1, 2]),
  PowerCut(
    name: "a damaged one put aside",
    prepare: {
      for number in 1...2 { try $0.save(record(number)) }
      try damage($0)
    },
    act: { try $0.setAside(key) }, inUse: [nil], kept: [1], unusable: damaged),
  PowerCut(
    name: "a record in a damaged one's place",
    prepare: {
      for number in 1...2 { try $0.save(record(number)) }
      try damage($0)
    },
    act: { try $0.save(record(3)) }, inUse: [nil, 3], kept: [1], unusable: damaged),
  PowerCut(
    name: "a way back from a damaged one",
    prepare: {
      for number in 1...2 { try $0.save(record(number)) }
      try damage($0)
    },
    act: { try $0.rollback(key) }, inUse: [nil, 1], kept: [1], unusable: damaged),
  // Never nothing: what a newer version can use stays in its place until the record is there.
  PowerCut(
    name: "a record in a newer version's place",
    prepare: {
      for number in 1...2 { try $0.save(record(number)) }
      try newer.write(to: $0.file(key))
    },
    act: { try $0.save(record(3)) }, inUse: [3], kept: [1], unusable: newer),
  PowerCut(
    name: "a way back from a newer version's",
    prepare: {
      for number in 1...2 { try $0.save(record(number)) }
      try newer.write(to: $0.file(key))
    },
    act: { try $0.rollback(key) }, inUse: [1], kept: [1], unusable: newer),
  PowerCut(
    name: "a record with its samples",
    prepare: { try $0.save(record(1), samples: samples(1)) },
    act: { try $0.save(record(2), samples: samples(2)) }, inUse: [1, 2], kept: [1]),
  PowerCut(
    name: "a record beside what an earlier cut has left",
    prepare: {
      try $0.save(record(1))
      // No process has this number: it is beyond what the kernel gives.
      try Data("{".utf8).write(to: URL(filePath: $0.file(key).path + ".new-4194399-1"))
    },
    act: { try $0.save(record(2)) }, inUse: [1, 2], kept: [1]),
]

let files = FileManager.default
// In memory where there is such a place: a disk is forced to write by every rename.
let memory = "/dev/shm"
let root = (files.isWritableFile(atPath: memory) ? URL(filePath: memory) : files.temporaryDirectory)
  .appending(
    path: "lodestone-cut-\(UUID().uuidString)")
var cuts = 0
var failures: [String] = []

/// What is wrong with what a cut has left; `nil` where nothing is.
func verdict(_ store: CalibrationStore, _ scenario: PowerCut) -> String? {
  var present: Int?
  var isAsBefore = false
  switch store.current(key) {
  case .record(let record): present = number(record)
  case .none: present = nil
  case .unusable(let why):
    // One that could not be used before may still be there, as it was.
    guard let before = scenario.unusable, files.contents(atPath: store.file(key).path) == before
    else { return "in use: \(why)" }
    isAsBefore = true
  }
  if let before = scenario.unusable {
    let places = [store.file(key)] + store.setAsideFiles
    guard places.contains(where: { files.contents(atPath: $0.path) == before }) else {
      return "the unusable file's bytes are gone"
    }
  }
  guard isAsBefore || scenario.inUse.contains(present) else {
    return "in use: \(String(describing: present))"
  }
  if case .samples(let found) = store.samples(chip: key.chip, position: key.position),
    present.map({ found != samples($0) }) ?? true
  {
    return "the samples are another record's"
  }
  let history = store.history(key)
  guard history.allSatisfy({ $0.record != nil }) else { return "a former record is damaged" }
  let there = Set(history.compactMap { number($0.record) } + [present].compactMap { $0 })
  guard scenario.kept.isSubset(of: there) else {
    return "lost: \(scenario.kept.subtracting(there).sorted())"
  }
  // And it goes on from there.
  do {
    try store.save(record(99), overridingLock: true)
  } catch {
    return "the next save: \(error)"
  }
  guard case .record(let next) = store.current(key), number(next) == 99 else {
    return "the next save is not there"
  }
  guard store.history(key).count <= CalibrationStore.historyLimit else {
    return "too much history"
  }
  let names = (try? files.contentsOfDirectory(atPath: store.folder.path)) ?? []
  guard !names.contains(where: { $0.contains(".new-") }) else { return "leftovers: \(names)" }
  return nil
}

@MainActor func cutEverywhere() throws {
  for scenario in scenarios {
    let template = root.appending(path: "template/state")
    try files.createDirectory(
      at: template.deletingLastPathComponent(), withIntermediateDirectories: true)
    try scenario.prepare(CalibrationStore(stateDirectory: template))
    for loss in [cut_process, cut_data, cut_data_and_names] {
      for call in 1...500 {
        let place = root.appending(path: "place")
        let (folder, scratch) = (place.appending(path: "state"), place.appending(path: "scratch"))
        try files.createDirectory(at: scratch, withIntermediateDirectories: true)
        if files.fileExists(atPath: template.path) {
          try files.copyItem(at: template, to: folder)
        }
        let store = CalibrationStore(stateDirectory: folder)
        let child = cut_fork()
        if child == 0 {
          cut_arm(call, loss, scratch.path)
          do { try scenario.act(store) } catch { cut_exit(2) }
          cut_exit(0)
        }
        let status = cut_wait(child)
        guard status == 0 || status == CUT_STATUS else {
          failures.append("\(scenario.name), call \(call): status \(status)")
          break
        }
        if status == CUT_STATUS { cuts += 1 }
        if let wrong = verdict(store, scenario) {
          failures.append("\(scenario.name), loss \(loss.rawValue), call \(call): \(wrong)")
        }
        try files.removeItem(at: place)
        if status == 0 { break }
      }
    }
    try files.removeItem(at: root.appending(path: "template"))
  }
}

/// The same for what a person says of the board's height: the one before or the new one, with the QNH beside it.
@MainActor func cutAltitude() throws {
  func elevation(_ metres: Double) throws -> KnownAltitude.Elevation {
    try KnownAltitude.Elevation(
      metres, accuracy: 2, now: ClockReading(seconds: 1_800_000_000 + metres, isSet: true))
  }
  func metres(_ folder: URL) -> (found: Double?, wrong: String?) {
    switch StateStore(folder: folder).knownAltitude.current {
    case .none: return (nil, nil)
    case .record(let known): return (known.elevation?.elevation, known.qnh == nil ? "no QNH" : nil)
    case .unusable(let why): return (nil, why)
    }
  }
  let acts: [(name: String, act: (KnownAltitudeStore) throws -> Void, after: Set<Double?>)] = [
    ("another elevation", { try $0.set(try elevation(2_000)) }, [1_000, 2_000]),
    ("no elevation any more", { try $0.clear() }, [1_000, nil]),
  ]
  for (name, act, after) in acts {
    for loss in [cut_process, cut_data, cut_data_and_names] {
      for call in 1...100 {
        let place = root.appending(path: "altitude")
        let (folder, scratch) = (place.appending(path: "state"), place.appending(path: "scratch"))
        try files.createDirectory(at: scratch, withIntermediateDirectories: true)
        let store = StateStore(folder: folder).knownAltitude
        try store.set(
          try KnownAltitude.QNH(1_013, now: ClockReading(seconds: 1_800_000_000, isSet: true)))
        try store.set(try elevation(1_000))
        let child = cut_fork()
        if child == 0 {
          cut_arm(call, loss, scratch.path)
          do { try act(store) } catch { cut_exit(2) }
          cut_exit(0)
        }
        let status = cut_wait(child)
        if status == CUT_STATUS { cuts += 1 }
        let (found, wrong) = metres(folder)
        if let wrong { failures.append("\(name), loss \(loss.rawValue), call \(call): \(wrong)") }
        if !after.contains(found) || (status == 0 && found == 1_000) {
          failures.append("\(name), call \(call): \(String(describing: found))")
        }
        if status != 0 && status != CUT_STATUS {
          failures.append("\(name), call \(call): status \(status)")
        }
        // And it goes on from there.
        try store.set(try elevation(3_000))
        if metres(folder).found != 3_000 { failures.append("\(name): the next is not there") }
        try files.removeItem(at: place)
        if status != CUT_STATUS { break }
      }
    }
  }
}

@MainActor func race() throws {
  let store = CalibrationStore(stateDirectory: root)
  try store.save(record(1))
  let children = [1_000, 2_000].map { first in
    let child = cut_fork()
    if child == 0 {
      do {
        for number in 0..<100 { try store.save(record(first + number)) }
      } catch {
        cut_exit(2)
      }
      cut_exit(0)
    }
    return child
  }
  let reader = cut_fork()
  if reader == 0 {
    for _ in 0..<20_000 {
      guard case .record = store.current(key) else { cut_exit(3) }
    }
    cut_exit(0)
  }
  for child in children + [reader] where cut_wait(child) != 0 {
    failures.append("a process of the race met something else than a whole record")
  }
  guard case .record(let last) = store.current(key), [1_099, 2_099].contains(number(last)) else {
    failures.append("the last record is not the last one's")
    return
  }
  let history = store.history(key)
  let numbers = history.compactMap { number($0.record) }
  if numbers.count != CalibrationStore.historyLimit { failures.append("history: \(numbers)") }
  if Set(numbers).count != numbers.count { failures.append("kept twice: \(numbers)") }
}

do {
  defer { try? files.removeItem(at: root) }
  if CommandLine.arguments.contains("--lie") { cut_lie() }
  if CommandLine.arguments.contains("--race") {
    try race()
  } else {
    try cutEverywhere()
    try cutAltitude()
  }
} catch {
  failures.append("\(error)")
}
print("cuts \(cuts) failures \(failures.count)")
for failure in failures.prefix(20) { print(failure) }
exit(failures.isEmpty ? 0 : 1)

// The samples that background calibration keeps: the newest few of each direction, however long the board runs.

import LinearAlgebra
import SensorTypes

/// A bounded collection, thinned by where samples lie in the *raw* field: that needs no idea of the iron, which is
/// what is sought. A cell is a ball about the newest sample of it.
///
/// It allocates once, when it is made.
struct BackgroundCollection: Sendable, Hashable {
  /// Radius of a cell, microtesla: 7 degrees of a field of 50.
  static let reach = 6.0
  /// Samples of a cell; a newer one takes the place of its oldest.
  static let mostOfCell = 3
  /// But not before the newest of a full cell is so old, seconds: what is kept shall not all be of one moment, and one
  /// place.
  static let refresh = 60.0
  /// Samples in all; a newer one takes the place of the oldest.
  static let capacity = 900

  private(set) var samples: [CalibrationSample] = []

  init() { samples.reserveCapacity(Self.capacity) }

  /// Takes a sample in, for the oldest of its cell where that is full. Returns whether it was kept.
  mutating func take(_ sample: CalibrationSample) -> Bool {
    var (near, place) = (0, 0)
    var oldest = Timestamp.distantFuture
    var newest = Timestamp(nanoseconds: .min)
    for index in samples.indices
    where (samples[index].field - sample.field).lengthSquared < Self.reach * Self.reach {
      near += 1
      if samples[index].time < oldest { (oldest, place) = (samples[index].time, index) }
      newest = max(newest, samples[index].time)
    }
    if near >= Self.mostOfCell {
      // A clock that runs backwards is a fault of the source; it must not hold a cell for good.
      let age = sample.time.seconds(since: newest)
      guard age >= Self.refresh || age < 0 else { return false }
      samples[place] = sample
    } else if samples.count < Self.capacity {
      samples.append(sample)
    } else {
      for index in samples.indices where samples[index].time < oldest {
        (oldest, place) = (samples[index].time, index)
      }
      samples[place] = sample
    }
    return true
  }

  mutating func removeAll() { samples.removeAll(keepingCapacity: true) }

  /// Forgets what came before a moment.
  mutating func remove(before time: Timestamp) { samples.removeAll { $0.time < time } }

  /// Forgets what came at a moment and later.
  mutating func remove(since time: Timestamp) { samples.removeAll { $0.time >= time } }

  func count(since time: Timestamp) -> Int {
    samples.reduce(0) { $0 + ($1.time >= time ? 1 : 0) }
  }

  /// What came since a moment, in order of time.
  func since(_ time: Timestamp) -> [CalibrationSample] {
    samples.filter { $0.time >= time }.sorted { $0.time < $1.time }
  }
}

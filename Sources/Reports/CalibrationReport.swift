// What a report is made of. Values only: who reads files fills them in.

import CalibrationCore
import LinearAlgebra
import SensorTypes

/// All that a page shows of a board's calibrations.
package struct CalibrationReport: Sendable {
  /// What there is for a chip.
  enum Present: Sendable, Equatable {
    case none
    case record(CalibrationRecord)
    /// One that is not applied, and why.
    case unusable(String)
  }

  /// What is kept of the samples of the record in use.
  enum Samples: Sendable, Equatable {
    case none
    case kept(CalibrationSamples)
    /// A file that cannot be used, and why.
    case unusable(String)
  }

  /// One magnetometer.
  ///
  /// The store keeps a record that a person has gone back to among the former ones as well: `former` here is
  /// without it.
  struct Magnetometer: Sendable, Equatable {
    var chip: String
    var position: String
    var mount = Mount.aligned
    /// How the board sits in its carrier; `nil` where no level record is applied.
    var level: Quaternion?
    var present = Present.none
    var samples = Samples.none
    var former: [ReportedFormerRecord] = []
    /// The field's dip where the board is, by the magnetic model, degrees; `nil` where that is not known.
    var modelDip: Double?

    /// From the chip's frame to the body's.
    var toBody: Matrix3 { level.map { $0.matrix * mount.matrix } ?? mount.matrix }

    /// The record that the one in use took the place of.
    var before: CalibrationRecord? {
      former.lazy.filter { !$0.isUndone }.compactMap(\.record).first
    }
  }

  /// A record of something else: its heading, and what it says.
  struct Other: Sendable, Equatable {
    struct Fact: Sendable, Equatable {
      var name: String
      var value: String
    }
    var title: String
    var facts: [Fact]
    /// What is wrong with it; `nil` for one that is applied.
    var problem: String?
  }

  var board: String
  /// When the page was made, ISO 8601 UTC.
  var date: String
  var program: String
  var magnetometers: [Magnetometer]
  /// Level and gyros, where there are records.
  var others: [Other] = []
}

/// A former record of a chip.
struct ReportedFormerRecord: Sendable, Equatable {
  /// `nil` for one that cannot be read.
  var record: CalibrationRecord?
  /// Whether a person has gone back from it.
  var isUndone: Bool
}

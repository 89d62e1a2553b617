// Rows and estimates for other programs. Makes text and bytes; writes nothing itself.

package import Foundation
internal import LinearAlgebra
internal import SensorTypes

/// What `broad` hands on.
package enum Export {
  /// Little-endian `Float64`, 20 a row: seconds, gyro x y z, accelerometer x y z, magnetometer x y z
  /// (all as fed; NaN where the sensor is left out), truth w x y z, 1 where the row counts, estimate
  /// w x y z, half-width of heading in radians (NaN: none). `Benchmarks/peers/peers.py` reads it.
  package static func binary(_ rows: [Row], _ estimates: [Estimate]) -> Data {
    let none = Vector3(repeating: .nan)
    let nowhere = Quaternion(w: .nan, vector: none)
    var data = Data(capacity: rows.count * 160)
    for (row, estimate) in zip(rows, estimates) {
      func put(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { data.append(contentsOf: $0) }
      }
      func put(_ v: Vector3) {
        put(v.x)
        put(v.y)
        put(v.z)
      }
      func put(_ q: Quaternion) {
        put(q.w)
        put(q.vector)
      }
      put(row.time.seconds)
      put(row.rate ?? none)
      put(row.force)
      put(row.field ?? none)
      put(row.truth ?? nowhere)
      put(row.counts ? 1.0 : 0.0)
      put(estimate.attitude ?? nowhere)
      put(estimate.headingBound ?? .nan)
    }
    return data
  }

  /// The first line of the CSV.
  package static let header =
    "trial,seconds,w,x,y,z,width,counts,heading,inclination,total\n"

  /// A line a row: the truth's time, the estimate, half-width in degrees, 1 where the row counts, errors
  /// in degrees. What is not known is empty.
  package static func csv(_ name: String, _ rows: [Row], _ estimates: [Estimate]) -> String {
    var text = ""
    func cell(_ value: Double?) { text += value.map { ",\($0)" } ?? "," }
    for (row, estimate) in zip(rows, estimates) {
      text += name
      cell(row.truthTime.seconds)
      let attitude = estimate.attitude
      cell(attitude?.w)
      cell(attitude?.vector.x)
      cell(attitude?.vector.y)
      cell(attitude?.vector.z)
      cell(estimate.headingBound.map { $0 * 180 / .pi })
      text += row.counts ? ",1" : ",0"
      var error: AttitudeError?
      if let attitude, let truth = row.truth {
        error = AttitudeError(estimate: attitude, truth: truth)
      }
      cell(error?.heading)
      cell(error?.inclination)
      cell(error?.total)
      text += "\n"
    }
    return text
  }
}

// A fit as JSON.

package import CalibrationCore
package import LinearAlgebra
import TerminalUI
package import TextForms

package enum FitText {
  /// What a fit found, for every command that makes one.
  package static func fill(_ line: inout JSONLine, _ fit: CalibrationFit, hasForce: Bool) {
    let quality = fit.quality
    let digits = Self.digits(fit.fieldStrength)
    line.set("residualPercent", quality.residualPercent, digits: 3)
    line.set("headingError", quality.headingError, digits: 3)
    line.set("method", fit.method.rawValue)
    line.set("hardIron", list(fit.hardIron), digits: digits)
    line.set("softIron", rows: rows(fit.softIron), digits: Self.digits(of: fit.softIron))
    if hasForce { line.set("alignment", rows: rows(fit.alignment), digits: 6) }
    line.set("fieldStrength", fit.fieldStrength, digits: digits)
    line.set("residual", quality.residual, digits: digits)
    line.set("condition", quality.condition, digits: 2)
    line.set("inliers", fit.inliers)
  }

  /// Six figures of the field, whatever its unit.
  package static func digits(_ strength: Double) -> Int {
    min(15, max(0, 6 - Int(log10(max(strength.magnitude, 1e-12)).rounded(.up))))
  }

  /// The same of a matrix: 1 where the field keeps its strength, and as small as a count where it is brought to one.
  package static func digits(of softIron: Matrix3) -> Int { max(6, digits(softIron.trace / 3)) }

  package static func list(_ v: Vector3) -> [Double] { [v.x, v.y, v.z] }

  static func rows(_ m: Matrix3) -> [[Double]] {
    let t = m.transposed.columns
    return [list(t.x), list(t.y), list(t.z)]
  }
}

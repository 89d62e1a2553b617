// A field that a magnet turns, told from a board that turns.

import LinearAlgebra
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite struct FieldStepTests {
  /// Returns the numbers of the samples with which a step is told, and the angles in degrees.
  private func steps(_ headings: [Double], every dt: Double) -> [Int: Double] {
    var step = FieldStep()
    var steps: [Int: Double] = [:]
    for (index, heading) in headings.enumerated() {
      let turn = Quaternion(rotationVector: Vector3(0, 0, heading * degree))
      let field = turn.rotate(Vector3(20, 0, -40))
      guard
        let angle = step.update(level: field, index == 0 ? 0 : dt, FieldTestParameters())
      else { continue }
      steps[index] = angle / degree
    }
    return steps
  }

  @Test("a step is told with the sample after it, with its angle", arguments: [60.0, -60, 170])
  func told(angle: Double) throws {
    let steps = steps([170, 170, 170, 170 + angle, 170 + angle, 170 + angle], every: 0.05)
    #expect(Array(steps.keys) == [4])
    #expect(abs(try #require(steps[4]) - abs(angle)) < 1e-9)
  }

  @Test("a magnet that comes within 0.3 s is told by what it turns the field")
  func smooth() {
    let headings = (0..<20).map { index -> Double in
      let u = max(0, min(1, (Double(index) - 4) / 6))
      return 140 * u * u * (3 - 2 * u)
    }
    let steps = steps(headings, every: 0.05)
    #expect(steps.count == 1)
    #expect(steps.allSatisfy { 100...140 ~= $0.value })
  }

  @Test("one sample that is wrong is no step, at any place but the first")
  func glitch() {
    for place in 1..<6 {
      var headings = Array(repeating: 0.0, count: 7)
      headings[place] = 100
      #expect(steps(headings, every: 0.05).isEmpty, "\(place)")
    }
  }

  @Test("a board that turns by 340 degrees a second does not step", arguments: [0.04, 0.05, 0.2])
  func turns(dt: Double) {
    #expect(steps((0..<200).map { Double($0) * 340 * dt }, every: dt).isEmpty)
  }

  @Test("a step by less than 45 degrees is none")
  func small() { #expect(steps([0, 0, 45, 45, 45], every: 0.05).isEmpty) }

  @Test("nothing is compared across samples without an attitude")
  func unknown() {
    var step = FieldStep()
    let parameters = FieldTestParameters()
    #expect(step.update(level: Vector3(20, 0, 0), 0, parameters) == nil)
    #expect(step.update(level: nil, 0.05, parameters) == nil)
    #expect(step.update(level: Vector3(-20, 1, 0), 0.05, parameters) == nil)
    #expect(step.update(level: Vector3(-20, 1, 0), 0.05, parameters) == nil)
    #expect(step.update(level: .zero, 0.05, parameters) == nil)
  }
}

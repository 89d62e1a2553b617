import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

struct DeviationCardTests {
  // Handbook of Magnetic Compass Adjustment (NGA 2004, formerly Pub. 226), section 501: a ship's deviations
  // on eight compass headings, and the coefficients that the handbook takes from them by simple means:
  // A 1.0, B 12.0, C 8.0, D 5.0, E 1.5. Its B and C use two headings each, ours all eight: a tenth apart.
  @Test func theHandbooksShip() throws {
    let deviations = [10.5, 20.0, 11.5, -1.2, -5.5, -8.0, -12.5, -6.8]
    let card = DeviationCard(
      points: deviations.enumerated().map { k, deviation in
        DeviationPoint(magnetic: 45 * Double(k) + deviation, compass: 45 * Double(k))
      })
    let found = try #require(card.coefficients)
    #expect(abs(found.a - 1.0) < 0.001)
    #expect(abs(found.b - 12.0) < 0.1)
    #expect(abs(found.c - 8.0) < 0.1)
    #expect(abs(found.d - 5.0) < 0.001)
    #expect(abs(found.e - 1.5) < 0.001)
  }

  // Archibald Smith's exact coefficients from Poisson's equations X' = X + aX + bY + cZ + P (forward),
  // Y' = Y + dX + eY + fZ + Q (to starboard), Z down (Admiralty Manual for the Deviations of the Compass):
  // sin dev = A cos dev + B sin c + C cos c + D sin(2c + dev) + E cos(2c + dev), c the compass heading.
  @Test("a raw field shows the deviation that Smith's exact formula gives", arguments: 1...20)
  func smith(seed: Int) throws {
    var dice = Dice(seed)
    let (h, z) = (20.0, 44.0)
    func part() -> Double { dice.flat(-0.08...0.08) }
    let (a, b, c, d, e, f) = (part(), part(), part(), part(), part(), part())
    let (p, q) = (dice.flat(-8...8), dice.flat(-8...8))
    let lambda = 1 + (a + e) / 2
    let exact = [
      (d - b) / (2 * lambda), (c * z / h + p / h) / lambda, (f * z / h + q / h) / lambda,
      (a - e) / (2 * lambda), (d + b) / (2 * lambda),
    ]
    let fitter = ReferencedFitter(mount: .aligned, earth: nil)
    for k in 0..<8 {
      let magnetic = Double(k) * 45 * degree
      // Forward, starboard, down.
      let (x, y) = (h * cos(magnetic), -h * sin(magnetic))
      let forward = x + a * x + b * y + c * z + p
      let starboard = y + d * x + e * y + f * z + q
      // Our body: right, forward, up.
      let sample = CalibrationSample(
        time: Timestamp(seconds: 1), field: Vector3(starboard, forward, -z),
        force: Vector3(0, 0, 9.81))
      let card = fitter.card(
        [.init(samples: [sample], heading: magnetic, deviation: 0.01)], by: nil)
      let point = try #require(card.points.first)
      let (compass, deviation) = (point.compass * degree, point.deviation * degree)
      let formula =
        exact[0] * cos(deviation) + exact[1] * sin(compass) + exact[2] * cos(compass)
        + exact[3] * sin(2 * compass + deviation) + exact[4] * cos(2 * compass + deviation)
      #expect(abs(sin(deviation) - formula) < 1e-12)
    }
  }

  @Test func aCardThatSaysTooLittleHasNoCoefficients() {
    #expect(DeviationCard(points: []).coefficients == nil)
    #expect(DeviationCard(points: []).error == 0)
    let oneSide = DeviationCard(points: (0..<8).map { .init(magnetic: Double($0), compass: 3) })
    #expect(oneSide.coefficients == nil)
    let wild = DeviationCard(points: (0..<8).map { .init(magnetic: 45 * Double($0), compass: 90) })
    #expect(wild.coefficients == nil)
    #expect(abs(DeviationPoint(magnetic: 1, compass: 359).deviation - 2) < 1e-12)
  }
}

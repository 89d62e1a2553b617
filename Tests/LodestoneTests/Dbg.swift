import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing
@testable import Lodestone
struct Dbg {
  @Test func walks() throws {
    for seed in 1...60 {
      var random = SeededGenerator(seed: UInt64(seed), stream: 9)
      func r(_ a: Double, _ b: Double) -> Double { (Double.random(in: a...b, using: &random) * 10).rounded() / 10 }
      var legs = ""
      var total = 0.0
      while total < 60 {
        let s = r(2, 8); total += s
        var leg = "seconds: \(s)"
        if r(0, 1) < 0.6 { leg += ", turn: \(r(-40, 40) * s)" }
        if r(0, 1) < 0.4 { leg += ", pitch: \(r(-45, 45))" }
        if r(0, 1) < 0.4 { leg += ", roll: \(r(-45, 45))" }
        if r(0, 1) < 0.4 { leg += ", climb: \(r(-5, 5))" }
        if r(0, 1) < 0.4 { leg += ", speed: \(r(0, 3))" }
        if r(0, 1) < 0.3 { leg += ", fix: \(r(0, 1) < 0.7)" }
        legs += "    - {\(leg)}\n"
      }
      let board = try VirtualBoard(edit: { text in
        let head = text.components(separatedBy: "  legs:\n")[0]
        return head.replacingOccurrences(of: "seed: 1 ", with: "seed: \(seed) ").replacingOccurrences(of: "heading: 40", with: "heading: \((seed * 67) % 360)") + "  legs:\n" + legs
      })
      let obs = board.run(60)
      var he: [Double] = [], al: [Double] = [], inside = 0, worstAt = 0.0, worst = 0.0, start3 = 0.0
      for o in obs {
        switch o {
        case .heading(let h):
          let t = h.time.seconds(since: board.start)
          guard t > 2 else { continue }
          let e = (h.magneticHeading * 180 / .pi - board.simulation.truth(at: h.time).magneticHeading).remainder(dividingBy: 360)
          let tr = board.simulation.truth(at: h.time)
          if he.count % 160 == 0 {
            let upE = h.attitude.conjugate.rotate(Vector3(0,0,1)), upT = tr.attitude.conjugate.rotate(Vector3(0,0,1))
            // tilt error in earth frame (est): rotation that maps
            let d = h.attitude.rotate(upE.cross(upT))
            print("T", seed, String(format: "%.1f e %.2f bar %.2f tiltE %.2f tiltN %.2f speed %.1f acc %.2f pitch %.0f roll %.0f rate %.1f", t, e, (h.accuracy ?? -1) * 57.3, d.x*57.3, d.y*57.3, tr.speed, (tr.acceleration.x*tr.acceleration.x+tr.acceleration.y*tr.acceleration.y).squareRoot(), tr.pitch, tr.roll, tr.angularRate.length*57.3))
          }
          he.append(e); if abs(e) > abs(worst) { worst = e; worstAt = t }
          if t < 8 { start3 = max(start3, abs(e)) }
          inside += abs(e) <= (h.accuracy ?? 0) * 180 / .pi ? 1 : 0
        case .altitude(let a): al.append(a.relativeAltitude - (board.simulation.truth(at: a.time).altitude - 36))
        default: break
        }
      }
      func rms(_ v: [Double]) -> Double { (v.reduce(0) { $0 + $1*$1 } / Double(max(1, v.count))).squareRoot() }
      print("DBG", seed, String(format: "rms %.2f worst %.2f at %.1f inside %.3f alt rms %.3f worst %.3f n %d", rms(he), worst, worstAt, Double(inside)/Double(max(1,he.count)), rms(al), al.map(abs).max() ?? 99, he.count), rms(he) > 1 || abs(worst) > 3 ? "BAD" : "")
      if rms(he) > 1 || abs(worst) > 3 { print("LEGS", seed, legs) }
    }
  }
}

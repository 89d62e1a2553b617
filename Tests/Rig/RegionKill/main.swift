// region-kill FOLDER FIRST REGIONS METRES: moves a board along a meridian and prints what a delegate is told of its
// regions, until it is through or is killed. `Tests/CoreLocationTests/KillTests.swift` runs it.
//
// FOLDER keeps the regions; REGIONS are NAME:METRES:RADIUS, separated by commas; METRES are the board's places, ten
// seconds apart, of which it begins with number FIRST. Each line waits for one on the standard input.

import CoreLocation
import FacadeTestSupport
import Foundation
import Lodestone

/// A line that somebody has heard before anything else happens: an answer is waited for, or the end.
func say(_ line: String) {
  print(line)
  fflush(nil)
  if readLine() == nil { exit(2) }
}

/// Degrees of latitude from metres of the meridian, near enough at the equator (a degree is 110,574 m there).
func latitude(_ metres: Double) -> Double { metres / 110_574 }

final class RegionDelegate: NSObject, CLLocationManagerDelegate {
  var marks = 0

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    say("entered \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    say("left \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    if region.identifier == "mark" { marks += 1 }
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { say("failed \(error)") }
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let first = Int(arguments[2]) else { exit(64) }
let places = arguments[4].split(separator: ",").compactMap { Double($0) }
let source = ScriptedSource()
let manager = CLLocationManager(
  port: LodestoneRuntime(source: source, regionsIn: URL(filePath: arguments[1])))
let listener = RegionDelegate()
manager.delegate = listener
let known = Set(manager.monitoredRegions.map(\.identifier))
for text in arguments[3].split(separator: ",") {
  let parts = text.split(separator: ":")
  guard parts.count == 3, let metres = Double(parts[1]), let radius = Double(parts[2]) else {
    exit(64)
  }
  guard !known.contains(String(parts[0])) else { continue }
  manager.startMonitoring(
    for: CLCircularRegion(
      center: CLLocationCoordinate2DMake(latitude(metres), 13), radius: radius,
      identifier: String(parts[0])))
}
for (index, metres) in places.enumerated().dropFirst(first) {
  say("at \(index)")
  source.publish(.location(latitude(metres), 13, at: 10 * Double(index)))
  // A question is answered after all that came before it.
  manager.requestState(for: CLBeaconRegion(uuid: UUID(), identifier: "mark"))
  guard turn(until: { listener.marks > index - first }) else { exit(1) }
}

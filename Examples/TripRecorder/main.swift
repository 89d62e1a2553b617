// What stands in the place of a phone's screen. Without hardware:
// LODESTONE_BOARD=simulated swift run -c release trip-recorder

import CoreLocation
import Lodestone

// Who is asked, where somebody is to be: whoever sits at the terminal.
if CommandLine.arguments.contains("--ask") {
  LodestoneRuntime.shared.authorizationAgent = .terminal
}
// Who shows that the compass wants to be turned about.
LodestoneRuntime.shared.calibrationPresenter = .terminal

let recorder = TripRecorder()
// A view is drawn when something has changed; a terminal gets a line.
let screen = recorder.objectWillChange.receive(on: RunLoop.main).sink {
  let speed = recorder.speed.map { String(format: "%.1f m/s", $0) } ?? "no speed"
  let heading = recorder.heading.map { "heading \(Int($0))" } ?? "no heading"
  print(Int(recorder.distance), "m ", speed, "", heading, recorder.problem ?? "")
}
recorder.start()
RunLoop.main.run()

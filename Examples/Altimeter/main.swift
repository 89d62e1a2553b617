// How far up from where it was switched on. Without hardware:
// LODESTONE_BOARD=simulated swift run -c release altimeter

import CoreMotion

guard CMAltimeter.isRelativeAltitudeAvailable() else {
  print("no barometer answers on this board")
  exit(1)
}
let altimeter = CMAltimeter()
altimeter.startRelativeAltitudeUpdates(to: .main) { data, error in
  if let error { print(error.localizedDescription) }
  guard let data else { return }
  // Kilopascals, as in the SDK; a hectopascal is what forecasts say.
  print(
    String(
      format: "%+.1f m  %.1f hPa", data.relativeAltitude.doubleValue,
      data.pressure.doubleValue * 10))
}
RunLoop.main.run()

// A compass. Without hardware: LODESTONE_BOARD=simulated swift run -c release compass
import CoreLocation

final class Compass: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()

  func start() {
    manager.delegate = self
    manager.startUpdatingHeading()
    manager.startUpdatingLocation()  // true north needs a place
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    guard newHeading.headingAccuracy >= 0 else { return print("not calibrated, or iron is near") }
    let isTrue = newHeading.trueHeading >= 0
    let degrees = isTrue ? newHeading.trueHeading : newHeading.magneticHeading
    let point = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"][Int((degrees + 22.5) / 45) % 8]
    print(point, Int(degrees), "+-", Int(newHeading.headingAccuracy), isTrue ? "" : "(magnetic)")
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print(error.localizedDescription)  // no board, a loose wire, no fix: said in words
  }
}

let compass = Compass()
compass.start()
RunLoop.main.run()

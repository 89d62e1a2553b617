// The way so far, as a picture that is drawn anew as the board moves.
// Without hardware: LODESTONE_BOARD=Examples/walk.yaml swift run -c release route-map way.svg
import MapKit

final class RouteMap: NSObject, CLLocationManagerDelegate, MKMapViewDelegate {
  private let manager = CLLocationManager()
  private let map = MKMapView(frame: CGRect(x: 0, y: 0, width: 800, height: 600))
  private let file: URL
  private var way: [CLLocationCoordinate2D] = []
  private var route: MKPolyline?

  init(file: URL) {
    self.file = file
    super.init()
    map.delegate = self
    // Following brings the board into the middle, and keeps the scale: that of 250 m above the equator.
    map.camera = MKMapCamera(
      lookingAtCenter: CLLocationCoordinate2D(latitude: 0, longitude: 0), fromDistance: 250,
      pitch: 0, heading: 0)
    map.setUserTrackingMode(.followWithHeading, animated: true)
    manager.delegate = self
    manager.distanceFilter = 2
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    way += locations.map(\.coordinate)
    let longer = MKPolyline(coordinates: way, count: way.count)
    map.addOverlay(longer)
    if let route { map.removeOverlay(route) }
    route = longer
    do {
      try map.image().svgData()?.write(to: file, options: .atomic)
      let up = Int(map.camera.heading)
      print("\(way.count) places, \(up) degrees are up, in \(file.lastPathComponent)")
    } catch {
      print(error)
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print(error.localizedDescription)
  }

  func mapView(_ mapView: MKMapView, rendererFor overlay: any MKOverlay) -> MKOverlayRenderer {
    let renderer = MKPolylineRenderer(overlay: overlay)
    renderer.strokeColor = .systemBlue
    renderer.lineWidth = 3
    return renderer
  }
}

let map = RouteMap(file: URL(filePath: CommandLine.arguments.dropFirst().first ?? "way.svg"))
RunLoop.main.run()

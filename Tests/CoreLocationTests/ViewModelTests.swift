import Combine
import CoreLocation
import FacadeTestSupport
import Lodestone
import SensorTypes
import Testing

/// A view model as tutorials have it.
private final class CompassViewModel: NSObject, ObservableObject, CLLocationManagerDelegate {
  @Published private(set) var degrees = 0.0
  @Published var isRunning = false
  let authorizations = PassthroughSubject<CLAuthorizationStatus, Never>()
  private let manager: CLLocationManager
  private var subscriptions = Set<AnyCancellable>()

  init(manager: CLLocationManager) {
    self.manager = manager
    super.init()
    manager.delegate = self
    $isRunning.removeDuplicates().dropFirst().sink { [weak self] in
      if $0 { self?.manager.startUpdatingHeading() } else { self?.manager.stopUpdatingHeading() }
    }
    .store(in: &subscriptions)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    degrees = newHeading.magneticHeading
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    authorizations.send(manager.authorizationStatus)
  }
}

struct ViewModelTests {
  @Test("D7 D16: an observable object publishes what its manager tells, before and as it changes")
  func viewModel() async {
    let result = await onThread {
      let source = ScriptedSource()
      let model = CompassViewModel(
        manager: CLLocationManager(port: LodestoneRuntime(source: source)))
      var (changes, values, statuses) = (0, [String](), [CLAuthorizationStatus]())
      let subscriptions = [
        model.objectWillChange.sink { _ in changes += 1 },
        model.$degrees.map { "\(Int($0.rounded()))" }.sink { values.append($0) },
        model.authorizations.sink { statuses.append($0) },
      ]
      turn { !statuses.isEmpty }
      model.isRunning = true
      source.publish(.heading(degrees: 90))
      turn { values.count == 2 }
      model.isRunning = false
      source.publish(.heading(degrees: 180))
      _ = RunLoop.current.run(mode: .default, before: Date())
      return withExtendedLifetime(subscriptions) {
        (changes, values, statuses, source.demands.map(\.heading))
      }
    }
    #expect(result.0 == 3)
    #expect(result.1 == ["0", "90"])
    #expect(result.2 == [.authorizedAlways])
    #expect(result.3 == [false, true, false])
  }
}

import CoreLocation
import Synchronization
import Testing

// The inventory of Core Location, addresses: what is answered without a network.

private protocol OldGeocoder {
  func geocodeAddressDictionary(
    _ addressDictionary: [AnyHashable: Any],
    completionHandler: @escaping CLGeocodeCompletionHandler)
}
extension CLGeocoder: OldGeocoder {}
private protocol OldPlacemark {
  var addressDictionary: [AnyHashable: Any]? { get }
}
extension CLPlacemark: OldPlacemark {}

/// A place that a program makes up.
private final class Shop: CLPlacemark, @unchecked Sendable {
  override var name: String? { "Baker" }
  override var thoroughfare: String? { "Mill Lane" }
  override var subThoroughfare: String? { "7" }
  override var postalCode: String? { "PL1" }
}

struct InventoryGeocodingTests {
  // One after the other on the main queue.
  @MainActor
  @Test("inventory: every request for an address, or of one, fails as without a network")
  func requests() async {
    let geocoder = CLGeocoder()
    let place = CLLocation(latitude: 1, longitude: 2)
    let region = CLCircularRegion(center: place.coordinate, radius: 3, identifier: "r")
    let requests: [(@escaping CLGeocodeCompletionHandler) -> Void] = [
      { geocoder.reverseGeocodeLocation(place, completionHandler: $0) },
      { geocoder.reverseGeocodeLocation(place, preferredLocale: nil, completionHandler: $0) },
      { geocoder.geocodeAddressString("Berlin", completionHandler: $0) },
      { geocoder.geocodeAddressString("Berlin", in: region, completionHandler: $0) },
      {
        geocoder.geocodeAddressString(
          "Berlin", in: region, preferredLocale: nil, completionHandler: $0)
      },
      {
        geocoder.geocodeAddressString(
          "Berlin", inRegionCenteredAt: place.coordinate, inRegionRadius: 3, preferredLocale: nil,
          completionHandler: $0)
      },
      { (geocoder as any OldGeocoder).geocodeAddressDictionary([:], completionHandler: $0) },
    ]
    for request in requests {
      let code = await withCheckedContinuation { (done: CheckedContinuation<Int?, Never>) in
        request { places, error in
          done.resume(returning: places == nil ? (error as? CLError)?.errorCode : nil)
        }
        #expect(geocoder.isGeocoding)
      }
      #expect(code == CLError.Code.network.rawValue && !geocoder.isGeocoding)
    }
    let cancelled = await withCheckedContinuation { (done: CheckedContinuation<Int?, Never>) in
      let request = requests[0]
      request { _, error in done.resume(returning: (error as? CLError)?.errorCode) }
      geocoder.cancelGeocode()
    }
    #expect(cancelled == CLError.Code.geocodeCanceled.rawValue)
  }

  @Test("inventory: asked by async code they throw the same")
  func asyncRequests() async {
    let geocoder = CLGeocoder()
    do {
      _ = try await geocoder.reverseGeocodeLocation(CLLocation(latitude: 1, longitude: 2))
      Issue.record("a place has an address")
    } catch CLError.network {} catch { Issue.record(error) }
    do {
      _ = try await geocoder.geocodeAddressString("Berlin", in: nil, preferredLocale: nil)
      Issue.record("an address has a place")
    } catch CLError.network {} catch { Issue.record(error) }
  }

  @Test("inventory: a place by name")
  func placemark() {
    let names: [KeyPath<CLPlacemark, String?>] = [
      \.name, \.thoroughfare, \.subThoroughfare, \.locality, \.subLocality, \.administrativeArea,
      \.subAdministrativeArea, \.postalCode, \.isoCountryCode, \.country, \.inlandWater, \.ocean,
    ]
    let empty = CLPlacemark()
    #expect(names.allSatisfy { empty[keyPath: $0] == nil })
    #expect(CLPlacemark(placemark: empty).location == nil && empty.areasOfInterest == nil)
    #expect((empty as any OldPlacemark).addressDictionary == nil)
    let address = (Shop() as any OldPlacemark).addressDictionary as? [String: String]
    #expect(
      address == [
        "Name": "Baker", "Thoroughfare": "Mill Lane", "SubThoroughfare": "7",
        "Street": "7 Mill Lane", "ZIP": "PL1",
      ])
  }
}

import MapKit
import Testing

/// The errors of maps.
@Suite struct MapErrorTests {
  @Test("codes have the SDK's numbers, under both names")
  func codes() {
    let codes: [MKError.Code] = [
      .unknown, .serverFailure, .loadingThrottled, .placemarkNotFound, .directionsNotFound,
      .decodingFailed,
    ]
    #expect(codes.map(\.rawValue) == [1, 2, 3, 4, 5, 6] && MKError.Code(rawValue: 7) == nil)
    let names: [MKError.Code] = [
      MKError.unknown, MKError.serverFailure, MKError.loadingThrottled, MKError.placemarkNotFound,
      MKError.directionsNotFound, MKError.decodingFailed,
    ]
    #expect(names == codes)
  }

  @Test("an error is caught by its code, as itself and as an NSError")
  func caught() {
    func code(_ error: any Error) -> String {
      do { throw error } catch MKError.loadingThrottled { return "throttled" } catch MKError.unknown
      { return "unknown" } catch { return "another" }
    }
    #expect(code(MKError(.loadingThrottled)) == "throttled" && code(MKError(.unknown)) == "unknown")
    #expect(code(NSError(domain: MKErrorDomain, code: 3)) == "throttled")
    #expect(code(NSError(domain: "another", code: 3)) == "another")
    #expect(code(CLError(.denied)) == "another")
  }

  @Test("an error says what it was made with")
  func information() {
    let error = MKError(.serverFailure, userInfo: [NSLocalizedDescriptionKey: "closed", "at": 5])
    #expect(error.code == .serverFailure && error.errorCode == 2)
    #expect(MKError.errorDomain == MKErrorDomain && (error as NSError).domain == "MKErrorDomain")
    #expect(error.localizedDescription == "closed" && error.userInfo["at"] as? Int == 5)
    #expect(error.errorUserInfo.count == 2)
    #expect(MKError(.unknown).localizedDescription == "unknown")
    #expect(MKError(.unknown).errorUserInfo[NSLocalizedDescriptionKey] as? String == "unknown")
  }
}

import SensorBus
import Testing

struct TransferRetriesTests {
  private func error(_ reason: BusError.Reason, _ errno: Int32) -> BusError {
    BusError(reason, bus: "/dev/i2c-1", address: 0x1C, errno: errno)
  }

  /// Makes a transfer whose first attempts fail; gives the attempts it took and how it ended.
  private func transfer(
    _ errors: [BusError], _ retries: TransferRetries
  ) -> (attempts: Int, failure: BusError?) {
    var attempts = 0
    do {
      try retries.run { () throws(BusError) in
        attempts += 1
        if attempts <= errors.count { throw errors[attempts - 1] }
      }
      return (attempts, nil)
    } catch {
      return (attempts, error)
    }
  }

  @Test("what is disturbed is repeated twice at most, and each repetition counts")
  func repeated() {
    let (lost, noise) = (error(.arbitrationLost, 11), error(.system, 5))
    let retries = TransferRetries()
    #expect(transfer([], retries) == (1, nil))
    #expect(retries.count == 0)
    #expect(transfer([lost], retries) == (2, nil))
    #expect(retries.count == 1)
    #expect(transfer([noise, lost], retries) == (3, nil))
    #expect(retries.count == 3)
    #expect(transfer([lost, lost, noise, lost], retries) == (3, noise))
    #expect(retries.count == 5)
    #expect(transfer([lost], TransferRetries(attempts: 1)) == (1, lost))
  }

  @Test(
    "what does not pass within microseconds is not repeated",
    arguments: [
      (BusError.Reason.noAnswer, Int32(121)), (.timedOut, 110), (.disconnected, 19),
      (.ownedByKernel(driver: nil), 16), (.system, 22), (.shortTransfer(expected: 6, actual: 2), 0),
    ])
  func final(reason: BusError.Reason, errno: Int32) {
    let retries = TransferRetries()
    let failure = error(reason, errno)
    #expect(transfer([failure], retries) == (1, failure))
    #expect(retries.count == 0)
    // After a disturbance it ends the attempts too.
    #expect(transfer([error(.arbitrationLost, 11), failure], retries) == (2, failure))
  }
}

import SensorTypes
import Testing

@testable import GNSSProtocol

/// Casters that repeat the password which they were sent.
struct CasterSecrecyTests {
  private static let login = "me:Hush-Hush-7"
  /// Python's base64.b64encode of the login.
  private static let encoded = "bWU6SHVzaC1IdXNoLTc="
  private static let words = "the caster sends words that hold the password"
  private static let echoes = [
    "Hush-Hush-7", "HUSH-HUSH-7", "hush-hush-7", "hUSH-hUSH", "xxHush-Hush-7xx", "ush-Hush-7",
    encoded, encoded.lowercased(), String(encoded.dropFirst(6)),
    // What the message has no room for may have been the rest.
    String(repeating: "x", count: 50) + " Hush-Hush-7",
    // These characters are left out of messages.
    "Hush-\u{1}Hush\u{7F}-7", "Hush-\tHush-7",
  ]

  /// What is said after an answer, which comes to each of the two requests.
  private func status(after answer: String) -> CorrectionStatus {
    var client = CorrectionClient(
      CorrectionSource(
        host: "caster.example", mountpoint: "ROOF", credentials: "/etc/caster",
        sendsPosition: false),
      program: "Lodestone/1")
    client.setWanted(true)
    var now = Timestamp(seconds: 1_000)
    for _ in 0..<2 {
      for _ in 0..<30 {
        if client.step(at: now) == .connect { break }
        now = now.advanced(bySeconds: 1)
      }
      client.connected(credentials: Self.login, at: now)
      client.received(Array(answer.utf8), at: now) { _ in }
      if client.status(at: now).failure != nil { break }
    }
    return client.status(at: now)
  }

  @Test(
    "no message holds the password or the login's base64, in whatever letters, cut or not",
    arguments: echoes)
  func echo(text: String) {
    for answer in [
      "HTTP/1.1 500 \(text)\r\n\r\n", "\(text)\r\n", "ERROR - \(text)\r\n",
      "SOURCETABLE 200 OK\r\n\r\nSTR;\(text);x\r\nENDSOURCETABLE\r\n",
      "SOURCETABLE 200 OK\r\n\r\nSTR;A;x\r\nSTR;\(text);x\r\nSTR;B;x\r\nENDSOURCETABLE\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nSTR;\(text);x\r\nENDSOURCETABLE\r\n",
    ] {
      let status = status(after: answer)
      #expect(status.failure != nil)
      let said = status.description.lowercased()
      #expect(
        !said.contains("hush-h") && !said.contains("ush-7") && !said.contains("bwu6shv")
          && !said.contains("ixnoltc"), "\(answer): \(said)")
    }
  }

  @Test("the reason says so, and words that hold nothing of it are shown")
  func reasons() {
    #expect(status(after: "HTTP/1.1 500 Hush-Hush-7\r\n\r\n").failure == Self.words)
    #expect(
      status(after: "SOURCETABLE 200 OK\r\n\r\nSTR;HUSH-HUSH;x\r\nENDSOURCETABLE\r\n").failure
        == Self.words)
    #expect(
      status(after: "HTTP/1.1 500 Hush!\r\n\r\n").failure == "the caster answers 500 'Hush!'")
  }
}

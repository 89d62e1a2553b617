import CoreLocation
import Testing

// What FoundationCombine puts together from OpenCombine's operators, held against what Combine's documentation says of it.

private struct Loss: Error, Equatable {
  var number: Int
}

/// Notes values, in words, and how it ended.
private final class Notes {
  var values: [String] = []
  var end: String?
  private var held: [AnyCancellable] = []

  func listen<P: Publisher>(_ publisher: P, _ words: @escaping (P.Output) -> String) {
    publisher.sink { [weak self] in
      if case .failure(let error) = $0 { self?.end = "\(error)" } else { self?.end = "finished" }
    } receiveValue: { [weak self] in
      self?.values.append(words($0))
    }.store(in: &held)
  }

  func stop() { held = [] }
}

private final class Model: ObservableObject {
  @Published var course = 0
  @Published var speed = 0.5
}

struct CombiningTests {
  private let a = PassthroughSubject<Int, Loss>()
  private let b = PassthroughSubject<String, Loss>()
  private let c = PassthroughSubject<Int, Loss>()

  @Test("combineLatest waits for a value of each, then tells the latest at each")
  func latest() {
    let notes = Notes()
    notes.listen(a.combineLatest(b)) { "\($0)\($1)" }
    a.send(1)
    a.send(2)
    #expect(notes.values.isEmpty)
    b.send("x")
    b.send("y")
    a.send(3)
    #expect(notes.values == ["2x", "2y", "3y"])
    a.send(completion: .finished)
    b.send("z")
    #expect(notes.values.last == "3z" && notes.end == nil)
    b.send(completion: .finished)
    #expect(notes.end == "finished")
  }

  @Test(
    "combineLatest fails with the first that fails, and ends with one that has never told anything")
  func ends() {
    let failed = Notes()
    failed.listen(a.combineLatest(b)) { "\($0)\($1)" }
    let barren = Notes()
    barren.listen(c.combineLatest(b)) { "\($0)\($1)" }
    b.send("x")
    c.send(completion: .finished)
    #expect(barren.end == "finished" && barren.values.isEmpty && failed.end == nil)
    a.send(completion: .failure(Loss(number: 4)))
    #expect(failed.end == "Loss(number: 4)")
  }

  @Test("combineLatest of three and four, and with what is made of them")
  func more() {
    let notes = Notes()
    notes.listen(a.combineLatest(b, c)) { "\($0)\($1)\($2)" }
    notes.listen(a.combineLatest(b, c, a)) { "\($0)\($1)\($2)\($3)" }
    notes.listen(a.combineLatest(b) { "\($0)+\($1)" }) { $0 }
    notes.listen(a.combineLatest(b, c) { "\($0)+\($1)+\($2)" }) { $0 }
    notes.listen(a.combineLatest(b, c, c) { "\($0)+\($1)+\($2)+\($3)" }) { $0 }
    a.send(1)
    b.send("x")
    c.send(7)
    #expect(Set(notes.values) == ["1x7", "1x71", "1+x", "1+x+7", "1+x+7+7"])
    notes.stop()
    a.send(2)
    #expect(!notes.values.contains { $0.hasPrefix("2") })
  }

  @Test("combineLatest of a class's published values begins with what they are")
  func published() {
    let model = Model()
    let notes = Notes()
    notes.listen(model.$course.combineLatest(model.$speed)) { "\($0) \($1)" }
    model.course = 90
    model.speed = 2
    #expect(notes.values == ["0 0.5", "90 0.5", "90 2.0"])
  }

  @Test("a value that is optional is a value")
  func optionals() {
    let (first, second) = (
      CurrentValueSubject<Int?, Never>(nil), CurrentValueSubject<Int?, Never>(nil)
    )
    let notes = Notes()
    notes.listen(first.combineLatest(second)) { "\($0 ?? -1) \($1 ?? -1)" }
    first.send(3)
    #expect(notes.values == ["-1 -1", "3 -1"])
  }

  @Test("a listener that changes a value while it is told one hears of that too, and each once")
  func reentrance() {
    let (first, second) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(0))
    var told: [[Int]] = []
    let sink = first.combineLatest(second).sink {
      told.append([$0, $1])
      if $0 == 2, $1 == 0 { second.send(5) }
    }
    first.send(2)
    sink.cancel()
    #expect(told == [[1, 0], [2, 0], [2, 5]])
  }

  @Test("merge tells what each tells, as it comes; it ends when all have, and fails when one does")
  func merging() {
    let notes = Notes()
    notes.listen(a.merge(with: c)) { "\($0)" }
    notes.listen(a.merge(with: c.map { $0 + 100 }, a.map { -$0 })) { "\($0)" }
    notes.listen(Publishers.MergeMany([a, c])) { "m\($0)" }
    notes.listen(a.map { $0 * 10 }.merge(with: c)) { "x\($0)" }
    a.send(1)
    #expect(notes.values.sorted() == ["-1", "1", "1", "m1", "x10"])
    c.send(2)
    #expect(notes.values.suffix(4).sorted() == ["102", "2", "m2", "x2"])
    a.send(completion: .finished)
    #expect(notes.end == nil)
    c.send(completion: .finished)
    #expect(notes.end == "finished")
    let failed = Notes()
    let d = PassthroughSubject<Int, Loss>()
    failed.listen(d.merge(with: PassthroughSubject<Int, Loss>())) { "\($0)" }
    d.send(completion: .failure(Loss(number: 1)))
    #expect(failed.end == "Loss(number: 1)")
  }

  @Test("nothing is told beyond what was asked for")
  func demand() {
    var told: [Int] = []
    var subscription: (any Subscription)?
    let subject = PassthroughSubject<Int, Never>()
    subject.merge(with: PassthroughSubject<Int, Never>()).subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: {
          told.append($0)
          return .none
        }))
    for value in 1...3 { subject.send(value) }
    #expect(told == [1])
    subscription?.cancel()
    subject.send(4)
    #expect(told == [1])
  }

  @Test("JSON and property lists are decoded and encoded on the way")
  func codes() throws {
    struct Place: Codable, Equatable { var latitude: Double }
    let notes = Notes()
    let place = Just(Place(latitude: 50))
    notes.listen(
      place.encode(encoder: JSONEncoder()).decode(type: Place.self, decoder: JSONDecoder())
    ) { "\($0.latitude)" }
    notes.listen(
      place.encode(encoder: PropertyListEncoder())
        .decode(type: Place.self, decoder: PropertyListDecoder())
    ) { "\($0.latitude)" }
    #expect(notes.values == ["50.0", "50.0"])
    let broken = Notes()
    broken.listen(Just(Data("{".utf8)).decode(type: Place.self, decoder: JSONDecoder())) {
      "\($0)"
    }
    #expect(broken.values.isEmpty && broken.end?.contains("dataCorrupted") == true)
  }
}

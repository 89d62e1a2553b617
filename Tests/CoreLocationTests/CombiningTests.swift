import CoreLocation
import Testing

// What FoundationCombine adds to OpenCombine, held against what Combine's documentation says of it.

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

/// Notes values, and asks for as many as it is told to.
private final class Asker<Input, Failure: Error>: Subscriber {
  var values: [Input] = []
  var isFinished = false
  var subscription: (any Subscription)?
  /// What is asked for in return for a value.
  var more: (Input) -> Subscribers.Demand = { _ in .none }

  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    return more(input)
  }
  func receive(completion: Subscribers.Completion<Failure>) { isFinished = true }
  func ask(_ demand: Subscribers.Demand) { subscription?.request(demand) }
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

  @Test("combineLatest fails with the first that fails, and ends when all have, told or not")
  func ends() {
    let failed = Notes()
    failed.listen(a.combineLatest(b)) { "\($0)\($1)" }
    let barren = Notes()
    barren.listen(c.combineLatest(b)) { "\($0)\($1)" }
    b.send("x")
    c.send(completion: .finished)
    #expect(barren.end == nil && failed.end == nil)
    a.send(completion: .failure(Loss(number: 4)))
    #expect(failed.end == "Loss(number: 4)" && failed.values.isEmpty)
    b.send(completion: .finished)
    #expect(barren.end == "finished" && barren.values.isEmpty)
  }

  @Test("combineLatest tells as much as is asked for: what is latest when it is")
  func latestOnDemand() {
    let (first, second) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(0))
    let asker = Asker<[Int], Never>()
    first.combineLatest(second) { [$0, $1] }.subscribe(asker)
    #expect(asker.values.isEmpty)
    asker.ask(.max(1))
    #expect(asker.values == [[1, 0]])
    for value in 2...4 { first.send(value) }
    second.send(5)
    #expect(asker.values == [[1, 0]])
    asker.ask(.max(1))
    #expect(asker.values.last == [4, 0])
    asker.ask(.max(1))
    #expect(asker.values.last == [4, 5])
    // More is asked for within: all that comes from then on.
    asker.more = { _ in .unlimited }
    asker.ask(.max(1))
    for value in 6...8 { first.send(value) }
    #expect(asker.values.suffix(3) == [[6, 5], [7, 5], [8, 5]])
    first.send(completion: .finished)
    second.send(completion: .finished)
    #expect(asker.isFinished)
  }

  @Test("combineLatest of two that are at their end is told in full, at whatever pace")
  func coldOnDemand() {
    let asker = Asker<[Int], Never>()
    [1, 2, 3].publisher.combineLatest([10, 20].publisher) { [$0, $1] }.subscribe(asker)
    for _ in 0..<8 where !asker.isFinished { asker.ask(.max(1)) }
    #expect(asker.values.first == [1, 10] && asker.values.last == [3, 20])
    #expect(asker.isFinished)
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
    // The last one hears of the seven twice.
    #expect(notes.values.sorted() == ["1+x", "1+x+7", "1+x+7+7", "1x7", "1x71"])
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

  @Test("merge of four and more, and of none")
  func manyMerged() {
    let notes = Notes()
    notes.listen(a.merge(with: c, Just(5).setFailureType(to: Loss.self), a.map { -$0 })) { "\($0)" }
    a.send(1)
    c.send(2)
    #expect(notes.values.first == "5" && notes.values.sorted() == ["-1", "1", "2", "5"])
    let six = Notes()
    let numbers = (1...6).map(Just.init)
    six.listen(
      numbers[0].merge(with: numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    ) { "\($0)" }
    #expect(six.values == ["1", "2", "3", "4", "5", "6"] && six.end == "finished")
    let none = Notes()
    none.listen(Publishers.MergeMany([PassthroughSubject<Int, Never>]())) { "\($0)" }
    #expect(none.end == "finished")
  }

  @Test("merge tells what was asked for, keeps one of each, and loses none of those that wait")
  func mergeOnDemand() {
    let asker = Asker<Int, Never>()
    [1, 2, 3].publisher.merge(with: [10, 20].publisher).subscribe(asker)
    #expect(asker.values.isEmpty)
    asker.ask(.max(2))
    #expect(asker.values == [1, 2])
    for _ in 0..<3 { asker.ask(.max(1)) }
    #expect(asker.values.sorted() == [1, 2, 3, 10, 20])
    #expect(asker.isFinished)
  }

  @Test("merge whose listener asks for more while it is told something is told all from then on")
  func mergeOnGrowingDemand() {
    let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    let asker = Asker<Int, Never>()
    asker.more = { _ in .unlimited }
    first.merge(with: second).subscribe(asker)
    asker.ask(.max(1))
    for value in 1...3 {
      first.send(value)
      second.send(-value)
    }
    #expect(asker.values == [1, -1, 2, -2, 3, -3])
    asker.subscription?.cancel()
    first.send(4)
    #expect(asker.values.count == 6 && !asker.isFinished)
  }

  @Test("two threads publish at once: each value is told once, one at a time")
  func threads() async {
    final class Pair: @unchecked Sendable {
      // Subjects may be used from any thread.
      let (a, b) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    }
    let pair = Pair()
    var (merged, latest) = ([Int](), [[Int]]())
    let sinks = [
      pair.a.merge(with: pair.b).sink { merged.append($0) },
      pair.a.combineLatest(pair.b).sink { latest.append([$0, $1]) },
    ]
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for value in 1...2_000 { pair.a.send(value) } }
      group.addTask { for value in 1...2_000 { pair.b.send(-value) } }
    }
    withExtendedLifetime(sinks) {}
    #expect(merged.filter { $0 > 0 } == Array(1...2_000))
    #expect(merged.filter { $0 < 0 } == (1...2_000).map { -$0 })
    #expect(latest.last == [2_000, -2_000])
    // Each step is one publisher's; those before the other's first value are not told.
    for (before, after) in zip(latest, latest.dropFirst()) {
      #expect(after[0] - before[0] + before[1] - after[1] == 1)
    }
  }

  @Test("what is joined lets go of everything, at its end and when it is cancelled")
  func letsGo() {
    weak var asker: Asker<Int, Never>?
    weak var latest: Asker<[Int], Never>?
    let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    do {
      let (one, two) = (Asker<Int, Never>(), Asker<[Int], Never>())
      (asker, latest) = (one, two)
      first.merge(with: second).subscribe(one)
      first.combineLatest(second) { [$0, $1] }.subscribe(two)
      one.ask(.unlimited)
      two.ask(.unlimited)
      first.send(1)
      one.subscription?.cancel()
      one.subscription = nil
      two.subscription = nil
      first.send(completion: .finished)
      second.send(completion: .finished)
      #expect(two.isFinished)
    }
    #expect(asker == nil && latest == nil)
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

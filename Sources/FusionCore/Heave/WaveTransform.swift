// A discrete Fourier transform of 512 complex values, in place.

import LinearAlgebra

/// The radix-2 transform of Cooley and Tukey (1965) and its window of Hann.
struct WaveTransform: Sendable {
  static let length = 512

  /// sin^2, the window of Hann.
  let window: [Double]
  /// The sum of the window, and of its squares.
  let sum: Double
  let squares: Double
  private let cosines: [Double]
  private let sines: [Double]
  private(set) var re: [Double]
  private(set) var im: [Double]

  init() {
    let n = Self.length
    window = (0..<n).map {
      let s = sin(Double.pi * (Double($0) + 0.5) / Double(n))
      return s * s
    }
    sum = window.reduce(0, +)
    squares = window.reduce(0) { $0 + $1 * $1 }
    cosines = (0..<n / 2).map { cos(2 * .pi * Double($0) / Double(n)) }
    sines = (0..<n / 2).map { -sin(2 * .pi * Double($0) / Double(n)) }
    re = [Double](repeating: 0, count: n)
    im = [Double](repeating: 0, count: n)
  }

  /// Puts in the windowed values of two rings less their windowed means, from the oldest on.
  /// - Parameter oldest: The place of the oldest value in the rings.
  /// - Returns: The two means.
  mutating func load(_ a: [Double], _ b: [Double], oldest: Int) -> (Double, Double) {
    let n = Self.length
    var (meanA, meanB) = (0.0, 0.0)
    for i in 0..<n {
      let place = (oldest + i) & (n - 1)
      meanA += window[i] * a[place]
      meanB += window[i] * b[place]
    }
    meanA /= sum
    meanB /= sum
    for i in 0..<n {
      let place = (oldest + i) & (n - 1)
      re[i] = window[i] * (a[place] - meanA)
      im[i] = window[i] * (b[place] - meanB)
    }
    return (meanA, meanB)
  }

  /// Transforms what was put in.
  mutating func run() {
    let n = Self.length
    var j = 0
    for i in 1..<n {
      var bit = n >> 1
      while j & bit != 0 {
        j ^= bit
        bit >>= 1
      }
      j ^= bit
      if i < j {
        re.swapAt(i, j)
        im.swapAt(i, j)
      }
    }
    var size = 2
    while size <= n {
      let half = size / 2
      let stride = n / size
      var start = 0
      while start < n {
        for k in 0..<half {
          let (c, s) = (cosines[k * stride], sines[k * stride])
          let (low, high) = (start + k, start + k + half)
          let x = re[high] * c - im[high] * s
          let y = re[high] * s + im[high] * c
          re[high] = re[low] - x
          im[high] = im[low] - y
          re[low] += x
          im[low] += y
        }
        start += size
      }
      size *= 2
    }
  }

  /// The squared magnitudes at a frequency of the two real series that were put in.
  func powers(_ bin: Int) -> (Double, Double) {
    let other = Self.length - bin
    let (ar, ai) = (re[bin] + re[other], im[bin] - im[other])
    let (br, bi) = (im[bin] + im[other], re[other] - re[bin])
    return (0.25 * (ar * ar + ai * ai), 0.25 * (br * br + bi * bi))
  }
}

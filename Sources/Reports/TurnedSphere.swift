// The sphere to turn by hand: an extra for browsers that run scripts; the page says all without it.

import CalibrationCore
import LinearAlgebra
import TerminalUI
import TextForms

/// One drawing of raw and corrected samples that can be turned.
struct TurnedSphere: Sendable {
  let set: SampleSet
  let record: CalibrationRecord
  let id: String

  func figure() -> Markup {
    """
    <figure class="turn" hidden><figcaption><h4>Both together, to be turned</h4>\
    <p>Drag the drawing, or move the sliders. <span class="raw-word">Raw</span> and \
    <span class="corrected-word">corrected</span> samples at one scale; the cross is zero \
    field.</p></figcaption>\
    <svg viewBox="-125 -125 250 250" role="img" aria-labelledby="\(id)-turn-t">\
    <title id="\(id)-turn-t">Raw and corrected samples, seen from a direction of your choice</title>\
    <path class="dots raw far"/><path class="dots far"/><circle class="outline" r="0"/>\
    <path class="cross"/>\
    <path class="dots raw near"/><path class="dots near"/></svg>\
    <div class="sliders"><label>Turn <input type="range" min="-180" max="180" value="30"></label>\
    <label>Tilt <input type="range" min="-90" max="90" value="25"></label></div>\
    <script type="application/json">\(data)</script></figure>
    """
  }

  /// Whole tenths of a microtesla: three numbers a sample. Numbers alone, so that nothing can end the script.
  private var data: Markup {
    func list(_ place: KeyPath<ReportPoint, Vector3>) -> Markup {
      var text: Markup = ""
      for point in set.points where point.isInlier {
        let v = point[keyPath: place]
        let separator: Markup = text.text.isEmpty ? "" : ","
        text += "\(separator)\(tenths(v.x)),\(tenths(v.y)),\(tenths(v.z))"
      }
      return text
    }
    let offset = record.offset
    return """
      {"radius":\(tenths(record.field)),\
      "offset":[\(tenths(offset.x)),\(tenths(offset.y)),\(tenths(offset.z))],\
      "raw":[\(list(\.raw))],"corrected":[\(list(\.corrected))]}
      """
  }

  private func tenths(_ value: Double) -> Int { Int(max(-1e6, min(1e6, 10 * value)).rounded()) }

  /// Turns every such drawing on the page.
  static let script: Markup = """
    document.querySelectorAll("figure.turn").forEach(function (figure) {
      var data = JSON.parse(figure.querySelector("script").textContent);
      var svg = figure.querySelector("svg");
      var paths = svg.querySelectorAll("path.dots");
      var sliders = figure.querySelectorAll("input");
      var length = Math.hypot.apply(null, data.offset);
      var scale = 122 / (1.2 * data.radius + length / 2);
      var circle = svg.querySelector("circle"), cross = svg.querySelector(".cross");
      circle.setAttribute("r", data.radius * scale);
      function draw() {
        var turn = sliders[0].value * Math.PI / 180, tilt = sliders[1].value * Math.PI / 180;
        var c = Math.cos(turn), s = Math.sin(turn), ct = Math.cos(tilt), st = Math.sin(tilt);
        function place(x, y, z) {
          var across = c * x - s * y, away = s * x + c * y;
          return [across * scale, (-ct * z - st * away) * scale, st * z - ct * away];
        }
        // Halfway between the two middles stays where it is.
        var offset = place.apply(null, data.offset);
        var left = offset[0] / 2, up = offset[1] / 2;
        [data.raw, data.corrected].forEach(function (list, which) {
          var near = "", far = "", middle = which ? 0 : offset[2];
          for (var i = 0; i < list.length; i += 3) {
            var p = place(list[i], list[i + 1], list[i + 2]);
            var dot = "M" + (p[0] - left).toFixed(1) + " " + (p[1] - up).toFixed(1) + "h0";
            if (p[2] >= middle) near += dot; else far += dot;
          }
          paths[which].setAttribute("d", far);
          paths[which + 2].setAttribute("d", near);
        });
        circle.setAttribute("cx", -left);
        circle.setAttribute("cy", -up);
        cross.setAttribute("d", "M" + (-left - 5) + " " + -up + "h10M" + -left + " " + (-up - 5) + "v10");
      }
      var last = null;
      svg.addEventListener("pointerdown", function (e) {
        last = [e.clientX, e.clientY];
        svg.setPointerCapture(e.pointerId);
      });
      svg.addEventListener("pointermove", function (e) {
        if (!last) return;
        var turn = +sliders[0].value + (e.clientX - last[0]) / 2;
        sliders[0].value = ((turn + 540) % 360) - 180;
        sliders[1].value = +sliders[1].value + (e.clientY - last[1]) / 2;
        last = [e.clientX, e.clientY];
        draw();
      });
      ["pointerup", "pointercancel"].forEach(function (name) {
        svg.addEventListener(name, function () { last = null; });
      });
      sliders.forEach(function (slider) { slider.addEventListener("input", draw); });
      figure.hidden = false;
      draw();
    });
    """
}

// How the page looks: light and dark, phone and desk, and on paper.

import TerminalUI
import TextForms

/// The page's style sheet. Blue and orange are told apart by everyone, and what they mark differs in shape
/// as well.
enum ReportStyle {
  static let css: Markup = """
    :root { --page: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #dfe3e8; --data: #0b63a5;
      --off: #b8430a; --band: #bcd8ee; --few: #a9cbe6; --note: #fff4e5; --note-line: #b8430a; }
    @media (prefers-color-scheme: dark) {
      :root { --page: #15181c; --ink: #e4e7eb; --soft: #a3acb6; --line: #343b44; --data: #6cb4f0;
        --off: #f2a05a; --band: #24506f; --few: #2f5f86; --note: #2b2218; --note-line: #f2a05a; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
      -webkit-text-size-adjust: 100%; }
    main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
    h1, h2, h3, h4, p, dl, figure, ul { margin: 0; }
    h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 650; overflow-wrap: anywhere; }
    header p { color: var(--soft); margin-top: .25rem; }
    section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
    h2 { font-size: 1.375rem; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
    h3 { font-size: 1.125rem; font-weight: 650; margin: 2.5rem 0 .5rem; }
    h4 { font-size: 1rem; font-weight: 600; }
    p { max-width: 44rem; }
    code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9em; }
    figure { margin-bottom: 1.75rem; }
    .soft { color: var(--soft); font-size: .9375rem; margin-bottom: .5rem; }
    figcaption { margin-top: .5rem; }
    figcaption p { color: var(--soft); font-size: .9375rem; margin-bottom: .5rem; }
    .notice { background: var(--note); border-left: 3px solid var(--note-line); padding: .6rem .9rem;
      margin: 1rem 0; }
    .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
      gap: 1rem 1.5rem; margin: 1.25rem 0 0; }
    dt { color: var(--soft); font-size: .875rem; }
    dd { margin: 0; font-variant-numeric: tabular-nums; }
    .figures b { display: block; font-size: 1.5rem; line-height: 1.25; font-weight: 650; }
    .figures span { color: var(--soft); font-size: .875rem; }
    .numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
      gap: .75rem 1.5rem; }
    .formula { color: var(--soft); font-size: .9375rem; margin-top: .75rem; }
    .three { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1rem; }
    .two { display: grid; grid-template-columns: repeat(2, 1fr); gap: 1rem 2rem; }
    .compasses { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1rem 1.5rem;
      margin-bottom: .75rem; }
    .maps { max-width: 40rem; }
    .key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .125rem 1.25rem;
      font-size: .9375rem; margin-bottom: .75rem; }
    .swatch { display: inline-block; width: 1rem; height: .75rem; vertical-align: -.05em; }
    svg { display: block; width: 100%; height: auto; overflow: visible; }
    svg text { font-family: inherit; font-size: 11px; fill: var(--soft);
      font-variant-numeric: tabular-nums; }
    .three svg text { font-size: 9.5px; }
    .compasses svg text { font-size: 12px; }
    svg .axis { fill: var(--ink); }
    .grid { stroke: var(--line); stroke-width: 1; fill: none; }
    .zero { stroke: var(--soft); stroke-width: 1; fill: none; }
    .dots { stroke: var(--data); stroke-width: 2.6; stroke-linecap: round; fill: none; }
    .dots.raw { stroke: var(--off); }
    .far { opacity: .4; }
    .off { stroke: var(--off); stroke-width: 1.4; stroke-linecap: round; fill: none; }
    .outline { stroke: var(--ink); stroke-width: 1; fill: none; opacity: .65; }
    .cross { stroke: var(--ink); stroke-width: 1.8; fill: none; }
    .offset { stroke: var(--ink); stroke-width: 1.6; fill: var(--ink); }
    .bars { fill: var(--data); }
    .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
    .bare { stroke: var(--off); }
    .former { stroke: var(--data); }
    .band { fill: var(--band); stroke: var(--data); stroke-width: 1; }
    .cell { stroke: var(--page); stroke-width: 1.2; }
    .cell.seen { fill: var(--data); }
    .cell.few { fill: var(--few); stroke: var(--data); stroke-width: .8; }
    .cell.gap { fill: none; stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 2; }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    .history { width: 100%; font-size: .9375rem; }
    th, td { text-align: left; padding: .4rem 1.25rem .4rem 0; vertical-align: baseline; }
    .history th { color: var(--soft); font-weight: 600; font-size: .875rem; }
    .history tr { border-bottom: 1px solid var(--line); }
    .n { text-align: right; }
    .nowrap { white-space: nowrap; }
    .score { display: inline-flex; align-items: center; gap: .5rem; }
    .score svg { width: 4rem; height: .5rem; }
    .track { fill: var(--line); }
    .fill { fill: var(--data); }
    .matrix td { padding: 0 .9rem 0 0; text-align: right; }
    .turn { display: grid; grid-template-columns: 1fr 24rem; gap: 1rem 2rem;
      grid-template-rows: auto 1fr; align-items: start; }
    .turn[hidden] { display: none; }
    .turn > svg { grid-column: 2; grid-row: 1 / 3; touch-action: none; cursor: grab; }
    .raw-word { color: var(--off); font-weight: 600; }
    .corrected-word { color: var(--data); font-weight: 600; }
    .sliders { display: flex; flex-direction: column; gap: .75rem; }
    .sliders label { display: flex; align-items: center; gap: .5rem; font-size: .9375rem; }
    input { accent-color: var(--data); }
    @media (max-width: 44rem) {
      main { padding: 1.25rem 1rem 3rem; }
      .turn { display: block; }
      .turn > svg { max-width: 24rem; margin: 0 auto; }
      .two, .compasses { grid-template-columns: 1fr; }
      .two.maps, .three { grid-template-columns: repeat(2, 1fr); gap: .75rem; }
      .three svg text, .maps svg text { font-size: 15px; }
      .two:not(.maps) svg text { font-size: 14px; }
      .history, .history tbody { display: block; }
      .history thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
        clip-path: inset(50%); }
      .history tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .5rem 0; }
      .history td { padding: .1rem 0; text-align: left; }
      .history td:first-child { grid-column: 1 / 3; font-weight: 600; }
      .history td[data-name]::before { content: attr(data-name) " "; color: var(--soft); display: block;
        font-size: .8125rem; } }
    @media print {
      :root { --page: #ffffff; --ink: #000000; --soft: #444444; --line: #cccccc; --data: #0b63a5;
        --off: #b8430a; --band: #bcd8ee; --few: #a9cbe6; --note: #ffffff; --note-line: #b8430a; }
      main { max-width: none; padding: 0; }
      body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      figure, .figures, tr { break-inside: avoid; }
      h2, h3, h4 { break-after: avoid; }
      section + section { break-before: page; }
      .turn { display: none; } }
    """
}

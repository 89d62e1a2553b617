"""The list of planted faults: what a line of it says, how it is put behind a switch, and how new lines are found."""

import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "Tests" / "mutants.tsv"
# Sources that are data, and programs that tests run as processes of another build.
EXCLUDED_TARGETS = {"CLinuxIO", "CMapDrawing", "CThreads", "FoundationCombine", "LodestoneProgram", "ImportNames"}


class Mutant:
    """A line of the list: number, file, the line as it is, the line as it is planted, why no test can tell."""

    def __init__(self, number, path, line, fault, reason=""):
        self.number, self.path, self.line, self.fault, self.reason = int(number), path, line, fault, reason

    @property
    def target(self):
        return self.folder.name

    @property
    def folder(self):
        """Where the sources of its target are."""
        return Path(*Path(self.path).parts[: 3 if self.path.startswith("Tests/Rig/") else 2])

    def planted(self, line):
        """The line with both behind the switch; `None` where its form is not known."""
        indent = line[: len(line) - len(line.lstrip())]
        switch = f"isMutant({self.number})"
        if not self.fault:
            return f"{indent}if !{switch} {{ {self.line} }}"
        for form in FORMS:
            was, now = form.fullmatch(self.line), form.fullmatch(self.fault)
            if was and now and was["head"] == now["head"] and was["tail"] == now["tail"]:
                return f"{indent}{was['head']}({switch} ? ({now['value']}) : ({was['value']})){was['tail']}"
        if not CONTROL.match(self.line) and ASSIGNMENT.match(self.line) and ASSIGNMENT.match(self.fault):
            return f"{indent}if {switch} {{ {self.fault} }} else {{ {self.line} }}"
        return None


VALUE = r"(?P<value>[^{}]+)"
FORMS = [
    re.compile(r"(?P<head>return )" + VALUE + r"(?P<tail>)"),
    re.compile(r"(?P<head>(?:(?:package|public|private|static) )*(?:let|var) \w+(?:: [\w<>.\[\]? ]+)? = )" + VALUE
               + r"(?P<tail>)"),
    re.compile(r"(?P<head>(?:if|while|\} else if) (?!let |var |case |#))(?P<value>[^{},]+)(?P<tail> \{.*)"),
    re.compile(r"(?P<head>(?:package |public |private )?(?:static )?(?:var|func) [^{}]*\{ )(?P<value>[^{};]+)(?P<tail> \})"),
    re.compile(r"(?P<head>guard (?!let |var |case ))(?P<value>[^{},]+)(?P<tail> else \{.*)"),
]
CONTROL = re.compile(r"(?:\} )?(?:guard|if|else|while|for|switch|case|return)\b")
ASSIGNMENT = re.compile(r"[\w.\[\]() +*-]+ [-+*/&|]?= [^{}]+|[\w.]+\(.*\)|[\w.]+ \+= .*")


def balanced(text):
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0


NUMBER = r"(?<![\w.$])(\d[\d_]*(?:\.\d+)?(?:e-?\d+)?)(?![\w.])"


def changed_number(match, generator):
    text = match.group(1).replace("_", "")
    if "." in text or "e" in text:
        return repr(float(text) * generator.choice([0.5, 2.0, 3.0])) if float(text) else "1.0"
    return str(int(text) + generator.choice([1, -1]) if int(text) else 1)


def swap(old, new):
    return (re.compile(re.escape(old)), lambda match, generator: new)


OPERATORS = [
    swap(" + ", " - "), swap(" - ", " + "), swap(" * ", " / "), swap(" / ", " * "), swap(" < ", " >= "), swap(" > ", " <= "),
    swap(" <= ", " < "), swap(" >= ", " > "), swap(" < ", " <= "), swap(" > ", " >= "), swap(" == ", " != "),
    swap(" != ", " == "), swap(" && ", " || "), swap(" || ", " && "), swap("min(", "max("), swap("max(", "min("),
    swap("sin(", "cos("), swap("cos(", "sin("), swap(" << ", " >> "), swap(" >> ", " << "), swap(" & ", " | "), swap(" | ", " & "),
    swap("true", "false"), swap("false", "true"), swap(".first", ".last"), swap(".last", ".first"),
    swap("..<", "..."), swap(" += ", " -= "), swap(" -= ", " += "), swap(".up", ".down"), swap(".down", ".up"),
    (re.compile(r"(?<![\w)])!(?=[\w(])"), lambda match, generator: ""),
    (re.compile(r"(?<![\w) ])-(?=[\w(])"), lambda match, generator: ""),
    (re.compile(NUMBER), changed_number), (re.compile(NUMBER), changed_number),
]


def mutations(line, generator):
    """What a line could say instead, one fault each."""
    found = []
    for pattern, replace in OPERATORS:
        for match in pattern.finditer(line):
            fault = line[: match.start()] + replace(match, generator) + line[match.end():]
            if fault != line:
                found.append(fault)
    if re.fullmatch(r"\w+(?:\.\w+)*(?:\.\w+\(.*\)| = [\w.]+| [-+]= .+)", line) and balanced(line) \
            and not re.match(r"(self|super|return|case|throw|break|continue|default)\b", line) and not line.endswith(","):
        found.append("")
    return found


def propose(arguments):
    generator = random.Random(arguments.seed)
    sources = {}
    twins = (ROOT / "Tests/Rig/TwinServing").rglob("*.swift")
    for path in sorted((ROOT / "Sources").glob("*/**/*.swift")) + sorted(twins):
        target = Mutant(0, str(path.relative_to(ROOT)), "", "").target
        if target in EXCLUDED_TARGETS or arguments.target not in (None, target):
            continue
        text = path.read_text()
        # What other modules compile cannot ask for a switch.
        if "@inlinable" in text:
            continue
        lines = text.split("\n")
        if sum(bool(re.match(r"\s*(0x|[-\d\"])", line)) for line in lines) > len(lines) / 4:
            continue
        sources.setdefault(target, []).append((path, lines))
    targets = sorted(sources)
    # Large targets get more, small ones are not forgotten.
    weights = [sum(len(lines) for _, lines in sources[target]) ** 0.5 for target in targets]
    proposed, seen, tries = [], set(), 0
    while len(proposed) < arguments.number and tries < 1000 * arguments.number:
        tries += 1
        target = generator.choices(targets, weights)[0]
        path, lines = generator.choices(sources[target], [len(lines) for _, lines in sources[target]])[0]
        index = generator.randrange(len(lines))
        line = lines[index].strip()
        comment = line.startswith("//") or "//" in line or '"' in line or not line or not balanced(line)
        if comment or (path, index) in seen or [other.strip() for other in lines].count(line) > 1:
            continue
        if index and re.search(r"(&&|\|\||[-+*/=?:,(\[])$", lines[index - 1].rstrip()):
            continue
        if index + 1 < len(lines) and re.match(r"\s*(&&|\|\||[-+*/?:.] ?|\.)", lines[index + 1]):
            continue
        number = len(proposed) + arguments.first
        choices = [Mutant(number, str(path.relative_to(ROOT)), line, fault) for fault in mutations(line, generator)]
        choices = [choice for choice in choices if choice.planted(lines[index])]
        if choices:
            seen.add((path, index))
            proposed.append(generator.choice(choices))
    for mutant in proposed:
        print(mutant.number, mutant.path, mutant.line, mutant.fault, sep="\t")


def read_list(path=LIST):
    """The planted faults of a list. Ends the program where a row is none, or has the number of another one."""
    mutants, numbers = [], set()
    try:
        rows = Path(path).read_text().splitlines()
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    for place, text in enumerate(rows, 1):
        if not text or text.startswith("#"):
            continue
        cells = text.split("\t")
        if len(cells) not in (4, 5) or not cells[0].isdigit() or not 0 < int(cells[0]) < 4096:
            sys.exit(f"{path}:{place}: not NUMBER, PATH, LINE, FAULT and a reason if there is one, with tabs between")
        if int(cells[0]) in numbers:
            sys.exit(f"{path}:{place}: number {cells[0]} stands there twice")
        if not (ROOT / cells[1]).is_file():
            sys.exit(f"{path}:{place}: no such file: {cells[1]}")
        numbers.add(int(cells[0]))
        mutants.append(Mutant(*(cells + [""])[:5]))
    return mutants

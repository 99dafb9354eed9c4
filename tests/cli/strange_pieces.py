"""python3 strange_pieces.py TEXTS JSON CSV PAGE: whether the pieces of strange_pieces.sh came out as
themselves, read by readers that are not ours. TEXTS as that script wrote them; JSON and CSV of
`gpnscope default` with all pieces; PAGE a report's folder. Says what is wrong, exit 1."""

import csv
import glob
import html.parser
import io
import json
import re
import sys
import xml.etree.ElementTree

texts, json_path, csv_path, page = sys.argv[1:]
with open(texts, "rb") as file:
    pieces = file.read().split(b"\0")[:-1]


def in_json(piece):
    """Bytes that are no UTF-8, which JSON cannot hold, as <0xF0>."""
    text = piece.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda byte: "<0x%02X>" % (ord(byte[0]) - 0xDC00), text)


HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def in_page(piece):
    """And what cannot be shown, byte by byte."""
    return HIDDEN.sub(lambda c: "".join("<0x%02X>" % byte for byte in c[0].encode()), in_json(piece))


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


def look_at_json():
    with open(json_path, encoding="utf-8") as file:
        table = json.load(file)["tables"]["default_tokens"]
    rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
    for row in rows:
        same("JSON", row["piece"], in_json(pieces[row["id"]]))
    same("ids in JSON", {row["id"] for row in rows}, set(range(len(pieces))))
    return [row["id"] for row in rows if row["decoding"] == "mean_state"]


def look_at_csv():
    with open(csv_path, "rb") as file:
        text = file.read().decode("latin-1")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    head = rows.pop(0)
    for row in rows:
        same("fields of a CSV row", len(row), len(head))
        same("CSV", row[head.index("piece")], pieces[int(row[head.index("id")])].decode("latin-1"))
    same("ids in CSV", {int(row[head.index("id")]) for row in rows}, set(range(len(pieces))))


class Page(html.parser.HTMLParser):
    """Every cell of a table, and nothing alive: one script, which is data, no handlers."""

    VOID = {"meta", "img", "source", "br", "link", "hr", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.data = [], [], ""

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on") or (value or "").startswith("javascript:"):
                sys.exit(f"page: {tag} has {name}={value!r}")
        if tag == "script":
            same("script", dict(attributes).get("type"), "application/json")
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        same("end of an element", tag, self.open.pop() if self.open else None)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data += data
        elif self.open and self.open[-1] in ("b", "i"):
            sys.exit(f"page: {data!r} is bold")
        elif "td" in self.open:
            self.cells[-1] += data


def look_at_page(top):
    with open(page + "/index.html", encoding="utf-8") as file:
        read = Page()
        read.feed(file.read())
        read.close()
    same("elements that are left open", read.open, [])
    json.loads(read.data)
    for piece in top:
        if in_page(piece) not in read.cells:
            sys.exit(f"page: {in_page(piece)!r} is in no cell")


def look_at_figures(top):
    for path in glob.glob(page + "/figures/*.svg"):
        root = xml.etree.ElementTree.parse(path).getroot()
        if any(element.tag.endswith("}script") for element in root.iter()):
            sys.exit(f"{path} holds a script")
    root = xml.etree.ElementTree.parse(page + "/figures/default-tokens.svg").getroot()
    labels = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]
    for piece in top:
        start = in_page(piece[:10])
        if not any(label.startswith(start) for label in labels):
            sys.exit(f"figure: {start!r} is no label of {labels}")


ids = look_at_json()
look_at_csv()
first = [pieces[token] for token in ids[:10]]
look_at_page(first)
look_at_figures(first)

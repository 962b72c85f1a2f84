# SPDX-License-Identifier: GPL-2.0
"""A chart of how fast DAFS is relative to others, as SVG, without a library."""

BAR = 7
GAP = 6
LEFT = 190
WIDTH = 480
COLOURS = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b",
           "#7f7f7f"]


def text(x, y, words, anchor="start"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" '
            f'font-family="sans-serif" font-size="11">{words}</text>')


def bar(x, y, width, colour):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" '
            f'height="{BAR - 1}" fill="{colour}"/>')


def row_of_bars(top, row, cells, colours):
    """One group: each bar is relative to the fastest of the row."""
    best = max(cells.values())
    parts = [text(LEFT - 8, top + BAR * len(cells) / 2 + 4, row, "end")]
    for place, (peer, rate) in enumerate(cells.items()):
        y = top + place * BAR
        parts.append(bar(LEFT, y, WIDTH * rate / best, colours[peer]))
    parts.append(text(LEFT + WIDTH + 6, top + BAR * len(cells) / 2 + 4,
                      f"{best:.0f}"))
    return parts


def write(path, table):
    """table is {row: {peer: rate}}."""
    peers = list(dict.fromkeys(p for cells in table.values() for p in cells))
    colours = dict(zip(peers, COLOURS))
    parts = []
    for place, peer in enumerate(peers):
        parts.append(bar(LEFT + 90 * place, 12, 12, colours[peer]))
        parts.append(text(LEFT + 90 * place + 18, 19, peer))
    top = 34
    for row, cells in table.items():
        parts += row_of_bars(top, row, cells, colours)
        top += BAR * len(cells) + GAP
    with open(path, "w", encoding="ascii") as svg:
        svg.write(f'<svg xmlns="http://www.w3.org/2000/svg" '
                  f'width="{LEFT + WIDTH + 70}" height="{top + 10}">\n'
                  '<rect width="100%" height="100%" fill="white"/>\n' +
                  "\n".join(parts) + "\n</svg>\n")

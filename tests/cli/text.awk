# Prints `documents` documents of plain sentences, parted by blank lines: the same bytes everywhere,
# little enough to commit as a rule instead of a file, and with structure that a tiny model learns.
BEGIN {
    split("the a one every that", article, " ")
    split("old small bright quiet wooden red", adjective, " ")
    split("boat river house lamp door garden bird stone", noun, " ")
    split("sees finds keeps loses follows opens", verb, " ")
    seed += 1
    for (d = 1; d <= documents; d++) {
        for (s = 1; s <= 6; s++)
            print phrase() " " verb[pick(6)] " " phrase() (pick(3) == 1 ? " near " phrase() : "") "."
        print ""
    }
}
function phrase() { return article[pick(5)] " " (pick(2) == 1 ? adjective[pick(6)] " " : "") noun[pick(8)] }
# Park and Miller's generator in exact double arithmetic
function pick(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) + 1 }

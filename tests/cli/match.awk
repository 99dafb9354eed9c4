# Holds the lines of the second file against the patterns of the first (README.md).
BEGIN { wants = gots = 0 }
FILENAME == ARGV[1] { want[++wants] = $0; next }
{ got[++gots] = $0 }

# One line against one pattern: "re " and an extended regular expression, else a shell-like
# pattern in which * stands for any text and ? for one character; a backslash takes that away.
function fits(line, pattern,    expression, i, c) {
    if (pattern in made) return line ~ made[pattern]
    if (substr(pattern, 1, 3) == "re ") expression = "^(" substr(pattern, 4) ")$"
    else {
        expression = "^"
        for (i = 1; i <= length(pattern); i++) {
            c = substr(pattern, i, 1)
            if (c == "\\" && i < length(pattern)) c = "\\" substr(pattern, ++i, 1)
            if (c == "*") expression = expression ".*"
            else if (c == "?") expression = expression "."
            else expression = expression literal(length(c) == 2 ? substr(c, 2) : c)
        }
        expression = expression "$"
    }
    made[pattern] = expression
    return line ~ expression
}
function literal(c) {
    if (c == "\\" || c == "^") return "\\" c
    if (index(".[]$()*+?{}|/", c)) return "[" c "]"
    return c
}
END {
    # reach[j]: the first j lines can be explained by the patterns so far
    for (j = 0; j <= gots; j++) reach[j] = (j == 0)
    furthest = 0
    for (i = 1; i <= wants; i++) {
        any = 0
        for (j = 0; j <= gots; j++) {
            if (want[i] == "...") any = here[j] = (any || reach[j])
            else here[j] = (j > 0 && reach[j - 1] && fits(got[j], want[i]))
        }
        alive = 0
        for (j = 0; j <= gots; j++) { reach[j] = here[j]; if (here[j]) { alive = 1; at = j } }
        if (!alive) {
            print "  " stream ": no line for this pattern: " want[i]
            if (want[i - 1] != "..." && at < gots) print "  " stream ": found instead:           " got[at + 1]
            exit 1
        }
    }
    if (!reach[gots]) {
        print "  " stream ": a line too many: " got[at + 1]
        exit 1
    }
}

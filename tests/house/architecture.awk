# The rules of the house, held against the C and C++ files named as arguments (paths from the root).
# Prints one line a violation; exit 1 when there is one. architecture.sh calls it.
#
# Comments and the insides of strings are taken away first, so that a word in a sentence is not a
# call; the names in #include lines are kept.

BEGIN {
    split("core probes analyses reports", layer_names, " ")
    for (i in layer_names) level[layer_names[i]] = i + 0

    # a library is met in one file only
    only["cblas.h"] = "core/kernels/blas.c"
    only["lapacke.h"] = "analyses/linalg/lapack.c"
    only["hdf5.h"] = "probes/trace/hdf5_file.c"
    only["jansson.h"] = "core/base/json.c"
    only["zip.h"] = "core/base/zip_archive.c"
    only["popt.h"] = "core/programs/command.c"
    only["sentencepiece_processor.h"] = "core/text/tokenizer.cc"
    only["sentencepiece_trainer.h"] = "core/text/tokenizer.cc"

    # children are started by these alone: the dispatcher, and the one file that starts gnuplot
    starts["core/programs/gpnscope.c"] = 1
    starts["reports/figures/child.c"] = 1

    printing = "printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort"
    starting = "popen|system|fork|vfork|posix_spawnp?|exec[lv]p?e?|execvpe|fexecve"
    violations = 0
}

FNR == 1 { in_comment = 0; continued = 0 }
{
    line = bare($0)
    if (line ~ /^[ \t]*#[ \t]*include/) { include($0, FILENAME, FNR); next }
    look_for_calls(line, FILENAME, FNR)
}

# The line without comments and with empty strings.
function bare(text,    out, c, two) {
    out = ""
    while (text != "") {
        if (in_comment) {
            c = index(text, "*/")
            if (!c) return out
            text = substr(text, c + 2)
            in_comment = 0
            out = out " "
            continue
        }
        if (!match(text, /["'\/]/)) return out text
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART)
        two = substr(text, 1, 2)
        c = substr(text, 1, 1)
        if (two == "//") return out
        if (two == "/*") { in_comment = 1; text = substr(text, 3); continue }
        if (c == "/") { out = out "/"; text = substr(text, 2); continue }
        if (c == "\"") match(text, /^"([^"\\]|\\.)*"/)
        else match(text, /^'([^'\\]|\\.)*'/)
        if (RLENGTH > 0) {
            out = out c c
            text = substr(text, RLENGTH + 1)
        } else {
            out = out c
            text = substr(text, 2)
        }
    }
    return out
}

function layer_of(path) { return substr(path, 1, index(path, "/") - 1) }
function base_of(path) { sub(/.*\//, "", path); return path }
function say(file, row, what) { print file ":" row ": " what; violations++ }

function include(text, file, row,    name, quoted, own, other) {
    if (!match(text, /["<][^">]+[">]/)) return
    name = substr(text, RSTART + 1, RLENGTH - 2)
    quoted = substr(text, RSTART, 1) == "\""
    own = layer_of(file)

    for (other in only)
        if (base_of(name) == other && file != only[other])
            say(file, row, "includes " other "; only " only[other] " may, use what it offers")
    if (!quoted) return

    other = layer_of(name)
    if (!(other in level) && other != "tests") {
        say(file, row, "includes \"" name "\"; write the path from the root, such as \"core/base/status.h\"")
        return
    }
    if (own in level && other == "tests")
        say(file, row, "a layer includes a test's file, " name)
    else if (own in level && level[other] > level[own])
        say(file, row, "upward include: " own " may not include " name " (core <- probes <- analyses <- reports)")
    if (name ~ /\.(c|cc|cpp)$/) say(file, row, "includes the source file " name)
    edges[file] = edges[file] "\n" name
    files[file] = 1
}

function calls(text, names) { return match(text, "(^|[^A-Za-z0-9_.>])(" names ")[ \t]*\\(") }

function look_for_calls(text, file, row,    word) {
    if (!(layer_of(file) in level)) return
    if (calls(text, starting) && !(file in starts)) {
        word = substr(text, RSTART, RLENGTH)
        gsub(/[^A-Za-z_]/, "", word)
        say(file, row, word "() starts a program; only the dispatcher and reports/figures/child.c may")
    }
    if (file ~ /\/(programs|cmake)\//) return # neither is part of a library
    if (calls(text, printing)) {
        word = substr(text, RSTART, RLENGTH)
        gsub(/[^A-Za-z_]/, "", word)
        # a child that could not become the other program must leave by _exit
        if (!(word == "_exit" && file in starts))
            say(file, row, word "() in a library; return a status, print in a program")
    }
    if (text ~ /(^|[^A-Za-z0-9_])stderr([^A-Za-z0-9_]|$)/)
        say(file, row, "a library writes to stderr; return a status, print in a program")
}

# What is left when files that include nothing (left) are taken away again and again stands in, or
# in front of, a circle; those in front are taken away the same way from the other side.
function circles(    changed, file, parts, n, i, busy, used, text) {
    do {
        changed = 0
        for (file in files) {
            n = split(edges[file], parts, "\n")
            busy = 0
            for (i = 1; i <= n; i++) if (parts[i] in files) busy = 1
            if (!busy) { delete files[file]; changed = 1 }
        }
        split("", used)
        for (file in files) {
            n = split(edges[file], parts, "\n")
            for (i = 1; i <= n; i++) used[parts[i]] = 1
        }
        for (file in files) if (!(file in used)) { delete files[file]; changed = 1 }
    } while (changed)
    text = ""
    for (file in files) text = text " " file
    if (text != "") { print "circular include among:" text; violations++ }
}

END {
    circles()
    exit violations > 0
}

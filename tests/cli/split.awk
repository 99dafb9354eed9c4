# Cuts a case into the files script, exit, stdout and stderr of the folder `parts`.
BEGIN {
    section = ""
    n = split("script stdout stderr", names, " ")
    for (i = 1; i <= n; i++) printf "" > (parts "/" names[i])
}
/^--- / {
    section = $2
    if (section == "exit" && NF == 3 && $3 ~ /^[0-9]+$/) { print $3 > (parts "/exit"); exits++; section = "none"; next }
    if (NF != 2 || section !~ /^(script|stdout|stderr)$/) fail("unknown section: " $0)
    if (seen[section]++) fail("section " section " stands there twice")
    next
}
section == "" { if ($0 !~ /^#/ && $0 != "") fail("before the first section only comments: " $0); next }
section == "none" { if ($0 != "") fail("text behind --- exit: " $0); next }
{ print > (parts "/" section) }
function fail(what) { print "  " FILENAME ":" FNR ": " what; bad = 1; exit 1 }
END {
    if (!bad && exits != 1) { print "  " FILENAME ": needs one line --- exit N"; exit 1 }
    if (!bad && !seen["script"]) { print "  " FILENAME ": needs a section --- script"; exit 1 }
}

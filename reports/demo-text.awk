# One chapter a line from diatheke's internal text: headings, tags and verse numbers removed. Every
# tenth chapter goes to the file `held_out`, the others to `train`.
function put() {
    if (text != "") print text > (++chapters % 10 == 0 ? held_out : train)
    text = ""
}
/^\([A-Za-z0-9]*\)$/ { next } # the module's name, at the end
{
    gsub(/<title[^>]*>[^<]*<\/title>/, " ")
    gsub(/<\/w><w/, "</w> <w")
    gsub(/<\/?w[^>]*>/, "")
    gsub(/<[^>]*>/, " ")
    if (match($0, /^ *[A-Z][A-Za-z ]* [0-9]+:[0-9]+:/)) {
        name = substr($0, RSTART, RLENGTH)
        sub(/^ */, "", name)
        sub(/:[0-9]+:$/, "", name)
        $0 = substr($0, RSTART + RLENGTH)
        if (name != chapter) {
            put()
            chapter = name
        }
    }
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
    sub(/ $/, "")
    if ($0 != "") text = text (text == "" ? "" : " ") $0
}
END { put() }

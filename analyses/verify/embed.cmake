# cmake -DFROM=file.json -DTO=file.c -P embed.cmake: the bytes of a file as C.
file(READ "${FROM}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" lines "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${lines}")
file(WRITE "${TO}" "#include \"analyses/verify/default_claims.h\"\n
const char gs_default_claims[] = {\n${bytes}0};
const size_t gs_default_claims_size = ${size};\n")

/* Archives made byte by byte here: what is right is unpacked, every wrong byte is an error. */
#include "core/base/zip_archive.h"

#include "core/base/memory.h"
#include "tests/support/support.h"

#include <string.h>

static struct gs_error error;

/* Two files made by Python's zipfile: "a.txt" stored ("hello zip"), "b/c.bin" deflated (4096
 * zeros): z = zipfile.ZipFile(f, 'w'); i = zipfile.ZipInfo('a.txt'); z.writestr(i, 'hello zip') i =
 * zipfile.ZipInfo('b/c.bin'); i.compress_type = 8; z.writestr(i, bytes(4096)) */
static const unsigned char archive[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x8b, 0x73,
    0x95, 0xac, 0x09, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x61, 0x2e,
    0x74, 0x78, 0x74, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x7a, 0x69, 0x70, 0x50, 0x4b, 0x03, 0x04,
    0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x11, 0x00, 0x1c, 0xc7, 0x14, 0x00,
    0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x62, 0x2f, 0x63, 0x2e, 0x62, 0x69,
    0x6e, 0xed, 0xc1, 0x01, 0x0d, 0x00, 0x00, 0x00, 0xc2, 0xa0, 0xf7, 0x4f, 0x6d, 0x0f, 0x07, 0x14,
    0x00, 0x00, 0x00, 0xf0, 0x6e, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x21, 0x00, 0x8b, 0x73, 0x95, 0xac, 0x09, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00,
    0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x61, 0x2e, 0x74, 0x78, 0x74, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00,
    0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x11, 0x00, 0x1c, 0xc7, 0x14, 0x00, 0x00, 0x00,
    0x00, 0x10, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x80, 0x01, 0x2c, 0x00, 0x00, 0x00, 0x62, 0x2f, 0x63, 0x2e, 0x62, 0x69, 0x6e, 0x50, 0x4b, 0x05,
    0x06, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x68, 0x00, 0x00, 0x00, 0x65, 0x00, 0x00,
    0x00, 0x00, 0x00,
};

enum { SIZE = sizeof archive };

static void reads_what_zipfile_wrote(void **state) {
    (void)state;
    struct gs_zip *zip;
    unsigned char *bytes;
    assert_true(gs_zip_recognise(archive, SIZE));
    assert_false(gs_zip_recognise(archive, 21));
    gs_assert_ok(gs_zip_open(archive, SIZE, "two.zip", &zip, &error), &error);
    assert_int_equal(gs_zip_count(zip), 2);
    assert_string_equal(gs_zip_name(zip, 0), "a.txt");
    assert_int_equal(gs_zip_size(zip, 0), 9);
    assert_int_equal(gs_zip_find(zip, "b/c.bin"), 1);
    assert_true(gs_zip_find(zip, "c.bin") == SIZE_MAX);
    gs_assert_ok(gs_zip_load(zip, 0, &bytes, &error), &error);
    assert_memory_equal(bytes, "hello zip", 9);
    gs_free(bytes);
    gs_assert_ok(gs_zip_load(zip, 1, &bytes, &error), &error);
    assert_int_equal(gs_zip_size(zip, 1), 4096);
    for (size_t i = 0; i < 4096; i++) assert_int_equal(bytes[i], 0);
    gs_free(bytes);
    char head[16];
    size_t got;
    gs_assert_ok(gs_zip_peek(zip, 0, head, 5, &got, &error), &error);
    assert_int_equal(got, 5);
    assert_memory_equal(head, "hello", 5);
    gs_assert_ok(gs_zip_peek(zip, 0, head, sizeof head, &got, &error), &error);
    assert_int_equal(got, 9);
    gs_zip_close(zip);
}

/* z.writestr(zipfile.ZipInfo('d'), b'PK\x05\x06' + b'\xff' * 18), by Python's zipfile */
static void data_like_an_end_record(void **state) {
    static const unsigned char stored[] = {
        0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00,
        0xae, 0xa8, 0x05, 0x8d, 0x16, 0x00, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00, 0x01, 0x00,
        0x00, 0x00, 0x64, 0x50, 0x4b, 0x05, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x50, 0x4b, 0x01,
        0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0xae,
        0xa8, 0x05, 0x8d, 0x16, 0x00, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00,
        0x00, 0x64, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00,
        0x2f, 0x00, 0x00, 0x00, 0x35, 0x00, 0x00, 0x00, 0x00, 0x00,
    };
    struct gs_zip *zip;
    unsigned char *bytes;
    (void)state;
    gs_assert_ok(gs_zip_open(stored, sizeof stored, "d.zip", &zip, &error), &error);
    assert_int_equal(gs_zip_size(zip, 0), 22);
    gs_assert_ok(gs_zip_load(zip, 0, &bytes, &error), &error);
    assert_memory_equal(bytes, stored + 31, 22);
    gs_free(bytes);
    gs_zip_close(zip);
}

/* Opens and reads everything; nothing may go wrong but by a status. */
static enum gs_status read_all(const unsigned char *bytes, size_t size) {
    struct gs_zip *zip;
    enum gs_status status = gs_zip_open(bytes, size, "damaged.zip", &zip, &error);
    for (size_t i = 0; status == GS_OK && i < gs_zip_count(zip); i++) {
        unsigned char *entry;
        status = gs_zip_load(zip, i, &entry, &error);
        if (status == GS_OK) gs_free(entry);
    }
    gs_zip_close(zip);
    return status;
}

static void cut_anywhere(void **state) {
    (void)state;
    for (size_t size = 0; size < SIZE; size++) {
        unsigned char *cut = gs_calloc(size, 1);
        memcpy(cut, archive, size);
        gs_assert_error(read_all(cut, size), GS_FORMAT, &error, "damaged.zip");
        gs_free(cut);
    }
}

static void any_byte_wrong(void **state) {
    (void)state;
    unsigned char wrong[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(wrong, archive, SIZE);
            wrong[i] ^= (unsigned char)(1u << bit);
            read_all(wrong, SIZE);
        }
}

/* A field of the directory's entry for b/c.bin, and, where it is there, too, of its own header. */
static void set(unsigned char *bytes, size_t central, size_t local, uint32_t value, size_t width) {
    const size_t places[2] = {152 + central, 44 + local};
    for (size_t place = 0; place < 2; place++)
        for (size_t i = 0; i < width; i++)
            bytes[places[place] + i] = (unsigned char)(value >> 8 * i);
}

static void what_is_refused(void **state) {
    (void)state;
    unsigned char wrong[SIZE];
    memcpy(wrong, archive, SIZE); /* a bomb's size */
    set(wrong, 24, 22, 0x7fffffff, 4);
    gs_assert_error(read_all(wrong, SIZE), GS_FORMAT, &error, "b/c.bin", "cannot unpack",
                    "at most");
    memcpy(wrong, archive, SIZE); /* more than it unpacks to, but possible */
    set(wrong, 24, 22, 4097, 4);
    gs_assert_error(read_all(wrong, SIZE), GS_FORMAT, &error, "b/c.bin", "cannot be unpacked");
    memcpy(wrong, archive, SIZE); /* less */
    set(wrong, 24, 22, 4095, 4);
    gs_assert_error(read_all(wrong, SIZE), GS_FORMAT, &error, "b/c.bin", "cannot be unpacked");
    memcpy(wrong, archive, SIZE); /* another checksum */
    set(wrong, 16, 14, 1234, 4);
    gs_assert_error(read_all(wrong, SIZE), GS_FORMAT, &error, "b/c.bin", "CRC");
    memcpy(wrong, archive, SIZE);
    set(wrong, 10, 8, 12, 2);
    gs_assert_error(read_all(wrong, SIZE), GS_UNSUPPORTED, &error, "b/c.bin", "method 12");
    memcpy(wrong, archive, SIZE);
    set(wrong, 8, 6, 1, 2);
    gs_assert_error(read_all(wrong, SIZE), GS_UNSUPPORTED, &error, "b/c.bin", "encrypted");
    memcpy(wrong, archive, SIZE); /* shares the bytes of others */
    set(wrong, 20, 18, SIZE, 4);
    gs_assert_error(read_all(wrong, SIZE), GS_FORMAT, &error, "b/c.bin", "share bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_zipfile_wrote),
        cmocka_unit_test(data_like_an_end_record),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

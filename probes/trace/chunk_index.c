#include "probes/trace/chunk_index.h"

#include "core/base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_RANK = 8,
    MOST_BLOCKS = 1024, /* continuations of an object header */
    HEADER_HEAD = 16,   /* bytes before the first message */
    MESSAGE_HEAD = 8,
    NODE_HEAD = 24,
    LAYOUT = 0x08,
    CONTINUATION = 0x10,
    CHUNKED = 2
};

static uint64_t little_endian(const unsigned char *bytes, size_t count) {
    uint64_t number = 0;
    for (size_t i = count; i > 0; i--) number = number << 8 | bytes[i - 1];
    return number;
}

static bool read_at(const struct gs_chunk_question *q, uint64_t address, void *to, size_t count) {
    unsigned char *bytes = to;
    if (address > q->end || count > q->end - address) return false;
    while (count > 0) {
        ssize_t done = pread(q->file, bytes, count, (off_t)(q->base + address));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes += done;
        address += (uint64_t)done;
        count -= (size_t)done;
    }
    return true;
}

/* ---- the object header: where the index is ---- */

struct block {
    uint64_t address, size;
};

/* The B-tree's address from a layout message of chunks; false when it is anything else. */
static bool read_layout(const struct gs_chunk_question *q, uint64_t address, size_t size,
                        uint64_t *tree) {
    unsigned char bytes[3 + 8 + 4 * (MOST_RANK + 1)];
    size_t need = 3 + 8 + 4 * (q->rank + 1);
    if (size < need || !read_at(q, address, bytes, need)) return false;
    if (bytes[0] != 3 || bytes[1] != CHUNKED || bytes[2] != q->rank + 1) return false;
    for (size_t axis = 0; axis < q->rank; axis++)
        if (little_endian(bytes + 11 + 4 * axis, 4) != q->chunk[axis]) return false;
    *tree = little_endian(bytes + 3, 8);
    return little_endian(bytes + 11 + 4 * q->rank, 4) == q->element;
}

/* Goes through a block's messages; a continuation is put behind the known blocks. */
static bool search_block(const struct gs_chunk_question *q, struct block block,
                         struct block *blocks, size_t *count, uint64_t *tree) {
    for (uint64_t at = 0; block.size - at >= MESSAGE_HEAD && at < block.size;) {
        unsigned char head[MESSAGE_HEAD], where[16];
        if (!read_at(q, block.address + at, head, sizeof head)) return false;
        uint64_t type = little_endian(head, 2), size = little_endian(head + 2, 2);
        at += MESSAGE_HEAD;
        if (size > block.size - at) return false;
        if (type == LAYOUT) return read_layout(q, block.address + at, (size_t)size, tree);
        if (type == CONTINUATION && *count < MOST_BLOCKS) {
            if (size < 16 || !read_at(q, block.address + at, where, sizeof where)) return false;
            blocks[(*count)++] =
                (struct block){little_endian(where, 8), little_endian(where + 8, 8)};
        }
        at += size;
    }
    return false;
}

static bool find_tree(const struct gs_chunk_question *q, uint64_t *tree) {
    unsigned char head[HEADER_HEAD];
    if (!read_at(q, q->header, head, sizeof head) || head[0] != 1) return false;
    struct block *blocks = gs_calloc(MOST_BLOCKS, sizeof *blocks);
    if (!blocks) return false;
    size_t count = 1;
    bool found = false;
    *tree = UINT64_MAX;
    blocks[0] = (struct block){q->header + HEADER_HEAD, little_endian(head + 8, 4)};
    for (size_t i = 0; !found && i < count; i++) {
        if (blocks[i].address > q->end || blocks[i].size > q->end - blocks[i].address) break;
        found = search_block(q, blocks[i], blocks, &count, tree);
    }
    gs_free(blocks);
    return found;
}

/* ---- the B-tree ---- */

struct walk {
    const struct gs_chunk_question *q;
    struct gs_chunk_index *index;
    size_t grid[MOST_RANK]; /* chunks along each axis */
    uint64_t chunk_bytes;
    size_t key_bytes, node_bytes;
    uint64_t nodes_left;      /* more nodes than fit in the file are a circle */
    uint64_t last[MOST_RANK]; /* offset of the chunk before */
    bool any;
};

/* -1, 0, 1 as offset a stands before, at or behind b. */
static int compare_offsets(const uint64_t *a, const uint64_t *b, size_t rank) {
    for (size_t axis = 0; axis < rank; axis++)
        if (a[axis] != b[axis]) return a[axis] < b[axis] ? -1 : 1;
    return 0;
}

/* One chunk: on the grid, behind the one before, of the right size. What lies beyond the file's end
 * was never stored. */
static bool note_chunk(struct walk *walk, const unsigned char *key, uint64_t address) {
    const struct gs_chunk_question *q = walk->q;
    uint64_t offset[MOST_RANK], size = little_endian(key, 4);
    size_t place = 0;
    bool inside = true;
    for (size_t axis = 0; axis < q->rank; axis++) {
        offset[axis] = little_endian(key + 8 + 8 * axis, 8);
        if (offset[axis] % q->chunk[axis] != 0) return false;
        uint64_t cell = offset[axis] / q->chunk[axis];
        if (cell >= walk->grid[axis])
            inside = false;
        else
            place = place * walk->grid[axis] + (size_t)cell;
    }
    if (little_endian(key + 8 + 8 * q->rank, 8) != 0 || size == 0) return false;
    if (!q->filtered && size != walk->chunk_bytes) return false;
    if (walk->any && compare_offsets(walk->last, offset, q->rank) >= 0) return false;
    memcpy(walk->last, offset, sizeof offset);
    walk->any = true;
    if (!inside || address > q->end || size > q->end - address) return true;
    walk->index->stored++;
    if (walk->index->address) walk->index->address[place] = address;
    return true;
}

/* A node of `level`, or of any level when that is negative, and all below it. */
static bool walk_node(struct walk *walk, uint64_t address, int level) {
    const struct gs_chunk_question *q = walk->q;
    if (walk->nodes_left == 0) return false;
    walk->nodes_left--;
    unsigned char *node = gs_calloc(walk->node_bytes, 1);
    bool good = node && read_at(q, address, node, walk->node_bytes) &&
                memcmp(node, "TREE\1", 5) == 0 && (level < 0 || node[5] == level);
    size_t entries = good ? (size_t)little_endian(node + 6, 2) : 0;
    if (entries > 2 * q->half_node) good = false;
    for (size_t i = 0; good && i < entries; i++) {
        const unsigned char *key = node + NODE_HEAD + i * (walk->key_bytes + 8);
        uint64_t child = little_endian(key + walk->key_bytes, 8);
        good = node[5] == 0 ? note_chunk(walk, key, child) : walk_node(walk, child, node[5] - 1);
    }
    gs_free(node);
    return good;
}

/* Sizes and counts; false when they do not fit. */
static bool prepare(struct walk *walk) {
    const struct gs_chunk_question *q = walk->q;
    struct gs_chunk_index *index = walk->index;
    size_t bytes = q->element, expected = 1;
    for (size_t axis = 0; axis < q->rank; axis++) {
        size_t length = q->dims[axis], chunk = (size_t)q->chunk[axis];
        walk->grid[axis] = length / chunk + (length % chunk != 0);
        if (!gs_multiply(bytes, chunk, &bytes)) return false;
        if (!gs_multiply(expected, walk->grid[axis], &expected)) return false;
    }
    walk->chunk_bytes = bytes;
    walk->key_bytes = 8 + 8 * (q->rank + 1);
    walk->node_bytes = NODE_HEAD + (2 * q->half_node + 1) * walk->key_bytes + 2 * q->half_node * 8;
    walk->nodes_left = q->end / walk->node_bytes + 1;
    index->expected = expected;
    if (expected > q->end / walk->key_bytes) return true; /* the index alone would not fit */
    index->address = gs_calloc(expected, sizeof *index->address);
    return index->address != NULL;
}

enum gs_chunk_answer gs_chunk_index_read(const struct gs_chunk_question *question,
                                         struct gs_chunk_index *index) {
    struct walk walk = {.q = question, .index = index};
    uint64_t tree;
    *index = (struct gs_chunk_index){0};
    if (question->rank == 0 || question->rank > MOST_RANK || question->half_node == 0 ||
        !find_tree(question, &tree) || !prepare(&walk))
        return GS_CHUNKS_STRANGE;
    /* an undefined address: nothing was stored */
    if (tree == UINT64_MAX || walk_node(&walk, tree, -1)) return GS_CHUNKS_FOUND;
    gs_free(index->address);
    *index = (struct gs_chunk_index){0};
    return GS_CHUNKS_DAMAGED;
}

/* The only file that knows SentencePiece. No exception and no message of its leaves here: every
 * face function runs its work inside guarded(), and the library's log is turned off. */
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

extern "C" {
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/text/piece_model.h"
#include "core/text/tokenizer.h"
#include "core/text/tokenizer_parts.h"
}

struct gs_tokenizer {
    sentencepiece::SentencePieceProcessor processor;
    std::string path;
    gs_piece_model model;
    bool splittable = false;
    char sha256[GS_SHA256_TEXT] = "";
};

namespace {

constexpr const char *no_log = "3"; /* SentencePiece's minloglevel: neither news nor warnings */
constexpr std::string_view space = "\xE2\x96\x81"; /* U+2581, a space inside a piece */

/* Run `work`, and turn whatever it throws into an error. */
template <typename Work>
gs_status guarded(const char *doing, const char *path, gs_error *error, Work work) noexcept {
    gs_status status;
    try {
        return work();
    } catch (const std::bad_alloc &) {
        status = gs_fail(error, GS_NO_MEMORY, "not enough memory while %s", doing);
    } catch (const std::exception &thrown) {
        status =
            gs_fail(error, GS_FORMAT, "SentencePiece failed while %s: %s", doing, thrown.what());
    } catch (...) {
        status = gs_fail(error, GS_FORMAT, "SentencePiece failed while %s", doing);
    }
    gs_error_where(error, "%s", path);
    return status;
}

gs_status refuse_model(const char *path, const char *reason, gs_error *error) {
    gs_fail(error, GS_FORMAT, "SentencePiece does not accept the model");
    gs_error_found(error, "%s", reason);
    gs_error_where(error, "%s", path);
    return GS_FORMAT;
}

/* A piece with U+2581 behind another character could span the place where codec.c cuts. */
bool spans_words(const std::string &piece) {
    for (size_t at = piece.find(space, 1); at != std::string::npos; at = piece.find(space, at + 1))
        if (at < space.size() || piece.compare(at - space.size(), space.size(), space) != 0)
            return true;
    return false;
}

/* See codec.c for why these conditions are the right ones. */
bool may_split(const gs_tokenizer &tokenizer) {
    const gs_piece_model &model = tokenizer.model;
    const auto &processor = tokenizer.processor;
    if (!model.bpe || model.whitespace_suffix || model.charsmap || !model.add_dummy_prefix ||
        model.remove_extra_whitespaces || !model.escape_whitespaces)
        return false;
    if (processor.IsUnknown(processor.PieceToId(std::string(space)))) return false;
    for (int id = 0; id < processor.GetPieceSize(); id++)
        if (!processor.IsControl(id) && spans_words(processor.IdToPiece(id))) return false;
    return true;
}

gs_status load(const char *path, gs_tokenizer &tokenizer, gs_error *error) {
    gs_mapped_file file;
    gs_status status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    std::unique_ptr<gs_mapped_file, void (*)(gs_mapped_file *)> guard(&file, gs_file_unmap);
    status = gs_piece_model_read(file.bytes, file.size, path, &tokenizer.model, error);
    if (status != GS_OK) return status;
    const auto answer = tokenizer.processor.LoadFromSerializedProto(
        std::string_view(reinterpret_cast<const char *>(file.bytes), file.size));
    if (!answer.ok()) return refuse_model(path, answer.message(), error);
    if (static_cast<size_t>(tokenizer.processor.GetPieceSize()) != tokenizer.model.pieces)
        return refuse_model(path, "pieces that are counted in two ways", error);
    tokenizer.path = path;
    tokenizer.splittable = may_split(tokenizer);
    return gs_sha256_path(path, tokenizer.sha256, error);
}

} // namespace

gs_status gs_tokenizer_load(const char *path, gs_tokenizer **tokenizer, gs_error *error) {
    *tokenizer = nullptr;
    return guarded("loading a tokenizer", path, error, [&] {
        auto made = std::make_unique<gs_tokenizer>();
        gs_status status = load(path, *made, error);
        if (status == GS_OK) *tokenizer = made.release();
        return status;
    });
}

void gs_tokenizer_destroy(gs_tokenizer *tokenizer) {
    delete tokenizer;
}

size_t gs_tokenizer_size(const gs_tokenizer *tokenizer) {
    return tokenizer->model.pieces;
}

int64_t gs_tokenizer_eos(const gs_tokenizer *tokenizer) {
    return tokenizer->processor.eos_id();
}

int64_t gs_tokenizer_bos(const gs_tokenizer *tokenizer) {
    return tokenizer->processor.bos_id();
}

const char *gs_tokenizer_sha256(const gs_tokenizer *tokenizer) {
    return tokenizer->sha256;
}

const char *gs_tokenizer_piece(const gs_tokenizer *tokenizer, uint32_t id) {
    if (id >= tokenizer->model.pieces) return nullptr;
    return tokenizer->processor.IdToPiece(static_cast<int>(id)).c_str();
}

gs_piece_kind gs_tokenizer_piece_kind(const gs_tokenizer *tokenizer, uint32_t id) {
    const int piece = static_cast<int>(id);
    if (tokenizer->processor.IsByte(piece)) return GS_PIECE_BYTE;
    if (tokenizer->processor.IsControl(piece)) return GS_PIECE_CONTROL;
    if (tokenizer->processor.IsUnknown(piece)) return GS_PIECE_UNKNOWN;
    return GS_PIECE_TEXT;
}

bool gs_tokenizer_dummy_prefix(const gs_tokenizer *tokenizer) {
    return tokenizer->model.add_dummy_prefix;
}

bool gs_tokenizer_splittable(const gs_tokenizer *tokenizer) {
    return tokenizer->splittable;
}

gs_status gs_tokenizer_encode_part(const gs_tokenizer *tokenizer, const char *bytes, size_t size,
                                   uint32_t **ids, size_t *count, gs_error *error) {
    *ids = nullptr;
    *count = 0;
    return guarded("encoding text", tokenizer->path.c_str(), error, [&]() -> gs_status {
        /* SentencePiece counts places in a text with int. */
        if (size > INT_MAX / 4) {
            gs_fail(error, GS_UNSUPPORTED, "a document is too long for this tokenizer");
            gs_error_expected(error, "at most %d bytes in one document", INT_MAX / 4);
            gs_error_found(error, "%zu bytes", size);
            gs_error_next(error, "cut the text into documents: --docs blank or --docs lines");
            return GS_UNSUPPORTED;
        }
        std::vector<int> found;
        const auto answer = tokenizer->processor.Encode(std::string_view(bytes, size), &found);
        if (!answer.ok()) return refuse_model(tokenizer->path.c_str(), answer.message(), error);
        auto *out = static_cast<uint32_t *>(gs_calloc(found.size(), sizeof(uint32_t)));
        if (!out) return gs_fail_memory(error, found.size() * sizeof(uint32_t), "token ids");
        for (size_t i = 0; i < found.size(); i++) out[i] = static_cast<uint32_t>(found[i]);
        *ids = out;
        *count = found.size();
        return GS_OK;
    });
}

namespace {

/* The training text as SentencePiece asks for it. */
class Sentences : public sentencepiece::SentenceIterator {
  public:
    explicit Sentences(gs_sentences *source) : source_(source) { Next(); }
    bool done() const override { return !found_; }
    const std::string &value() const override { return value_; }
    void Next() override {
        const char *bytes = nullptr;
        size_t size = 0;
        outcome = gs_sentences_next(source_, &bytes, &size, &found_, &error);
        if (outcome != GS_OK) found_ = false;
        if (!found_) return;
        value_.assign(bytes, size);
        count++;
    }
    sentencepiece::util::Status status() const override {
        if (outcome == GS_OK) return {};
        return {sentencepiece::util::StatusCode::kAborted, error.what};
    }
    gs_status outcome = GS_OK;
    gs_error error = {};
    size_t count = 0;

  private:
    gs_sentences *source_;
    std::string value_;
    bool found_ = false;
};

/* The settings of LLaMA's tokenizer, with nothing left to chance. */
std::unordered_map<std::string, std::string> training_settings(size_t pieces) {
    return {{"model_type", "bpe"},
            {"vocab_size", std::to_string(pieces)},
            {"character_coverage", "0.99995"},
            {"byte_fallback", "true"},
            {"split_digits", "true"},
            {"allow_whitespace_only_pieces", "true"},
            {"normalization_rule_name", "identity"},
            {"add_dummy_prefix", "true"},
            {"remove_extra_whitespaces", "false"},
            {"unk_id", "0"},
            {"bos_id", "1"},
            {"eos_id", "2"},
            {"pad_id", "-1"},
            {"max_sentence_length", std::to_string(static_cast<int>(GS_SENTENCE_BYTES))},
            {"input_sentence_size", "0"},
            {"shuffle_input_sentence", "false"},
            {"num_threads", "1"},
            /* Fewer pieces than asked for are found here, where both numbers are known. */
            {"hard_vocab_limit", "false"},
            {"minloglevel", no_log}};
}

gs_status refuse_training(const char *path, const char *reason, size_t pieces, gs_error *error) {
    /* "Vocabulary size is smaller than required_chars. 200 vs 299. …" */
    const char *numbers = std::strstr(reason, "required_chars. ");
    size_t asked = 0, needed = 0;
    gs_status status;
    if (numbers && std::sscanf(numbers, "required_chars. %zu vs %zu", &asked, &needed) == 2) {
        status = gs_fail(error, GS_RANGE, "too few pieces for the characters of the text");
        gs_error_expected(error,
                          "at least %zu pieces: 256 bytes, 3 control pieces and the text's "
                          "characters",
                          needed);
        gs_error_found(error, "%zu", pieces);
        gs_error_next(error, "ask for at least %zu pieces, better for some thousands", needed);
    } else {
        status = gs_fail(error, GS_FORMAT, "SentencePiece could not train a tokenizer");
        gs_error_found(error, "%s", reason);
    }
    gs_error_where(error, "%s", path);
    return status;
}

/* Pieces of the model that training gave; hard_vocab_limit off lets it give fewer. */
gs_status check_size(const std::string &model, const char *text, size_t pieces, gs_error *error) {
    gs_piece_model seen;
    gs_status status = gs_piece_model_read(reinterpret_cast<const unsigned char *>(model.data()),
                                           model.size(), "the trained tokenizer", &seen, error);
    if (status != GS_OK || seen.pieces == pieces) return status;
    gs_fail(error, GS_RANGE, "the text is too small for so many pieces");
    gs_error_expected(error, "text from which %zu pieces can be made", pieces);
    gs_error_found(error, "text that gives %zu", seen.pieces);
    gs_error_where(error, "%s", text);
    gs_error_next(error, "give more text, or ask for at most %zu pieces", seen.pieces);
    return GS_RANGE;
}

gs_status train(gs_sentences *source, const char *text, size_t pieces, const char *path,
                gs_error *error) {
    Sentences sentences(source);
    if (sentences.outcome == GS_OK && sentences.count == 0) {
        gs_fail(error, GS_RANGE, "there is no text to train a tokenizer on");
        gs_error_expected(error, "at least one line that is not empty");
        gs_error_where(error, "%s", text);
        return GS_RANGE;
    }
    std::string model;
    const auto answer =
        sentencepiece::SentencePieceTrainer::Train(training_settings(pieces), &sentences, &model);
    if (sentences.outcome != GS_OK) {
        if (error) *error = sentences.error;
        return sentences.outcome;
    }
    if (!answer.ok()) return refuse_training(text, answer.message(), pieces, error);
    gs_status status = check_size(model, text, pieces, error);
    if (status != GS_OK) return status;
    return gs_file_write(path, false, model.data(), model.size(), error);
}

} // namespace

gs_status gs_tokenizer_train(const char *const *text_paths, size_t path_count, size_t pieces,
                             const char *path, const gs_progress *progress, gs_error *error) {
    const char *text = path_count ? text_paths[0] : "(no file)";
    if (pieces < GS_TOKENIZER_MIN_PIECES || pieces > GS_TOKENIZER_MAX_PIECES) {
        gs_fail(error, GS_RANGE, "a tokenizer cannot have so many pieces");
        gs_error_expected(error, "%d to %d", GS_TOKENIZER_MIN_PIECES, GS_TOKENIZER_MAX_PIECES);
        gs_error_found(error, "%zu", pieces);
        return GS_RANGE;
    }
    return guarded("training a tokenizer", text, error, [&] {
        gs_sentences *source = nullptr;
        gs_status status = gs_sentences_open(text_paths, path_count, progress, &source, error);
        std::unique_ptr<gs_sentences, void (*)(gs_sentences *)> guard(source, gs_sentences_close);
        return status == GS_OK ? train(source, text, pieces, path, error) : status;
    });
}

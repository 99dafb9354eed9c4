# The headers that other projects may include. What is not named here may change without notice.
# tests/install compiles each alone against what was installed, so the list is closed.
set(gs_public_headers
  core/base/environment.h core/base/file.h core/base/hash.h core/base/json.h core/base/memory.h
  core/base/names.h core/base/numbers.h core/base/progress.h core/base/random.h core/base/status.h
  core/base/utf8.h
  core/checkpoint/checkpoint.h core/checkpoint/pickle.h core/checkpoint/safetensors.h
  core/checkpoint/stored_tensor.h core/checkpoint/tensor_file.h core/checkpoint/tensor_tree.h
  core/checkpoint/torch_file.h core/checkpoint/training_state.h
  core/evaluation/comparison.h core/evaluation/lambada.h core/evaluation/lambada_examples.h
  core/evaluation/limits.h core/evaluation/loss.h core/evaluation/text_rates.h
  core/models/model.h core/models/parameters.h core/models/tap.h
  core/programs/command.h
  core/results/replicates.h core/results/results.h core/results/side_by_side.h
  core/text/documents.h core/text/shards.h core/text/token_text.h core/text/tokenizer.h
  core/text/tokens.h core/text/windows.h
  core/training/adamw.h core/training/adopt.h core/training/config.h core/training/loop.h
  core/training/schedule.h
  probes/arrays/array_file.h probes/arrays/from_trace.h probes/arrays/npy.h probes/arrays/to_trace.h
  probes/inspect/check.h probes/inspect/compare.h probes/inspect/describe.h probes/inspect/file_kind.h
  probes/trace/copy.h probes/trace/narrow.h probes/trace/reader.h probes/trace/recorder.h probes/trace/recording.h
  probes/trace/writer.h
  analyses/default_token/decoder.h analyses/default_token/default_token.h
  analyses/geometry/geometry.h analyses/geometry/measures.h analyses/horizon/horizon.h
  analyses/linalg/lapack.h analyses/loss/loss_by_position.h analyses/retention/retention.h
  analyses/split/dip.h analyses/split/heads.h analyses/split/null.h analyses/split/sample.h
  analyses/split/shapes.h analyses/split/split.h analyses/split/valley.h
  analyses/stats/binomial_interval.h analyses/stats/bootstrap.h analyses/stats/correlation.h analyses/stats/crossing.h
  analyses/stats/each.h analyses/stats/effective.h
  analyses/stats/lags.h analyses/stats/moments.h analyses/stats/rank_correlation.h
  analyses/stats/rows.h analyses/stats/running.h analyses/stats/spectrum.h
  analyses/stats/untrained.h
  analyses/verify/claims.h analyses/verify/measured.h analyses/verify/runs.h
  analyses/verify/similarity.h analyses/verify/unigram.h analyses/verify/verdict.h
  analyses/verify/verify.h
  reports/figures/figure.h reports/figures/plot.h reports/figures/text.h reports/page/measure.h
  reports/page/merge.h reports/page/report.h)

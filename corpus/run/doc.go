// Package run puts the corpus, or cases of others, to a guard and scores
// the answers as corpus/INTERPRETING.md says: rates for each dialect and class,
// never one number. It judges nothing itself.
//
// [Run] asks a [Guard]: [Builtin] is the product's own, [Exec] is a program that
// speaks ktx-guard/1, which corpus/GUARD.md describes. [Scores] counts, [WriteFile]
// and [ReadFile] keep a run, [Compare] compares two.
//
// A guard that crashes, is late or answers nonsense has given a result. Only a
// guard that cannot be started ends a run.
package run

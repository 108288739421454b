// Package run puts the cases of the corpus, or other cases, to a guard. It
// scores the answers as corpus/INTERPRETING.md says: as rates for each dialect
// and class, never as one number.
//
//	guard, err := run.NewBuiltin(version, dialects.All())
//	results, err := run.Run(ctx, guard, corpus.Cases(), nil)
//	scores := run.Scores(results)
//
// A [Guard] answers the cases. [Builtin] is the guard of ktx. [Exec] is a
// program that speaks ktx-guard/1, which corpus/GUARD.md describes. [WriteFile]
// and [ReadFile] store a run, and [Compare] compares two.
//
// A guard that crashes, is late or sends an invalid reply has given a result.
// The run ends only if a guard cannot be started. The package never judges a
// statement itself.
package run

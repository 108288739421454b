// Package skills keeps the catalogue of a project's skills: folders with a SKILL.md that
// tell an agent how to do a task, in the format of https://agentskills.io/specification.
//
// A [Catalog] reads the folders. The files are the truth: every call sees them as they
// are. A [Store] adds what is not in the files: uses and ratings, which a [State] keeps,
// and vectors, which an [Embedder] makes. Without both it still works.
//
// Only published skills are visible. A draft, and a skill that breaks a rule, are in no
// list, count or error; [Catalog.Check] alone tells of them, to the people who write them.
//
// The package executes nothing that a skill brings, unpacks nothing, and never follows a
// link out of the folder of a skill.
package skills

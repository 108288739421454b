// Package skills has the commands ktx skills: what the tools for agents show, for people
// at a terminal, and what only the people who write skills need.
package skills

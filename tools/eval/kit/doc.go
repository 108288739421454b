// Package kit measures how well the research tools of ktx find things. It asks the ktx
// program itself: it makes projects in a temporary folder, scans databases with
// ktx scan, starts ktx mcp stdio on the projects and calls the tools.
//
// It measures five things:
//
//   - search: the tables and columns that discover_data finds for the questions of
//     Spider and BIRD, and whether entity_details knows each table that it names;
//   - repetition: whether equal calls to two servers have equal answers;
//   - values: the columns that dictionary_search finds, in generated databases;
//   - pages: the pages that wiki_search finds, on the pages of package wikitest;
//   - relationships: what ktx scan finds in generated databases, and in those of
//     Spider, after their declared foreign keys were taken away.
//
// Spider and BIRD are not part of this repository, so the first measurement and parts
// of the last one need a folder with them.
package kit

// Package wiki is the store of a project's wiki pages: what people and agents
// wrote down about the data.
//
//	store := wiki.New(root, wiki.Options{User: "local", Analyzer: analyzer, Now: time.Now})
//	found, err := store.Search("how do we count refunds", 10)
//	page, err := store.Read("refunds")
//
// A page is a Markdown file with an optional head of YAML, in wiki/global or in
// wiki/user/<user>. A page of the user hides the global page with the same key
// when it is read. A search returns both.
//
// Every call compares the files with what the store has read, so that a page is
// found right after it was written, by whomever. Pages are untrusted input: they
// have limits on size and number, and the store reaches them through [os.Root].
// The store serves the text of a page as its author wrote it. It never changes a
// page on its own, and it knows nothing of connections or of what they deny.
package wiki

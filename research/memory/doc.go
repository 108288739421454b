// Package memory turns texts that agents and people hand in into wiki pages.
//
//	store := memory.New(root, memory.Options{Wiki: pages, Now: time.Now, Random: rand.Text})
//	id, err := store.Ingest(ctx, memory.Request{Content: text, ConnectionID: "warehouse"})
//	run, err := store.Run(id)
//
// What becomes of a text is decided by fixed rules: equal texts get equal results,
// whoever hands them in. A text becomes a page named after its title. A text whose
// page exists is added to it as a dated section, and a text that the page has
// already changes nothing. No page is ever overwritten.
//
// A text that looks like a credential is refused. Every page that came from here
// says so in its head, because its text is later shown to other agents: it is data,
// not instructions.
//
// Each call is a run, which is written to .ktx/memory before the first page is. When
// the process is killed, the run is later reported as failed, never as done. Calls of
// several processes take turns by a lock on a file.
package memory

// Package pages shows what a project's server knows: pages for people, and the same
// as JSON for programs that speak no MCP.
//
//	p := pages.New(pages.Config{Index: x, …})
//	server, err := httpapi.New(httpapi.Config{Routes: p.Routes(), LoginPage: p.Login, …})
//
// The checks of httpapi come first: host, origin, token or login, and the rights that a
// route names. A principal without the right audit sees its own events: every handler
// gets its filter from [Pages.filter], which sets the principal.
//
// Pages are made on the server. Package markup escapes every value in them. They can be
// read without JavaScript. They load nothing from elsewhere, and their content
// security policy allows no code in the page itself.
//
// The package never judges a statement and never opens a database.
package pages

// Package semantic has the commands about the semantic layer: ktx sl.
package semantic

package pages

import "time"

// SetClock sets what tells the pages the time.
func (p *Pages) SetClock(now func() time.Time) { p.now = now }

// Reviewing takes the one place of those who judge many statements again. It returns what
// gives it back.
func (p *Pages) Reviewing() (leave func()) {
	p.reviewing <- struct{}{}
	return func() { <-p.reviewing }
}

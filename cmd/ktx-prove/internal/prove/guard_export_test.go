package prove

// OwnExchanges counts the exchanges in which a text was run, of those with these
// texts.
func OwnExchanges(sql string, sent [][]string) (own int, whole bool) {
	var all []exchange
	for _, texts := range sent {
		all = append(all, exchange{texts: texts, executed: true, done: true})
	}
	list, whole := ownExchanges(sql, all)
	return len(list), whole
}

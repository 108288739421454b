package prove

// OwnExchanges returns how many of the exchanges ran the text sql, and whether
// one of them had it unchanged. sent has the statements of each exchange.
func OwnExchanges(sql string, sent [][]string) (own int, whole bool) {
	var all []exchange
	for _, texts := range sent {
		all = append(all, exchange{texts: texts, executed: true, done: true})
	}
	list, whole := ownExchanges(sql, all)
	return len(list), whole
}

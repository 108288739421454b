package tdsserver

import "slices"

// iif reads the arguments of IIF after the parenthesis: condition, value,
// value).
func (p *parser) iif() (expr, error) {
	c, err := p.condition()
	if err != nil {
		return expr{}, err
	}
	var values [2]expr
	for i := range values {
		if err := p.want(","); err != nil {
			return expr{}, err
		}
		if values[i], err = p.expression(); err != nil {
			return expr{}, err
		}
	}
	if err := p.want(")"); err != nil {
		return expr{}, err
	}
	return choose([]cond{c}, values[:1], &values[1])
}

// caseOf reads what follows CASE: conditions, or values to compare an
// expression with.
func (p *parser) caseOf() (expr, error) {
	var conds []cond
	var values []expr
	var subject, otherwise *expr
	if !p.is("WHEN") {
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		subject = &x
	}
	for p.take("WHEN") {
		c, err := p.when(subject)
		if err != nil {
			return expr{}, err
		}
		if err := p.want("THEN"); err != nil {
			return expr{}, err
		}
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		conds, values = append(conds, c), append(values, x)
	}
	if len(conds) == 0 {
		return expr{}, p.syntax()
	}
	if p.take("ELSE") {
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		otherwise = &x
	}
	if err := p.want("END"); err != nil {
		return expr{}, err
	}
	return choose(conds, values, otherwise)
}

func (p *parser) when(subject *expr) (cond, error) {
	if subject == nil {
		return p.condition()
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	return compare("=", *subject, x)
}

func choose(conds []cond, values []expr, otherwise *expr) (expr, error) {
	all := slices.Clone(values)
	if otherwise != nil {
		all = append(all, *otherwise)
	}
	t := all[0].t.nullable()
	for _, x := range all[1:] {
		var err error
		if t, err = join(t, x.t.nullable()); err != nil {
			return expr{}, err
		}
	}
	for i, x := range all {
		var err error
		if all[i], err = convert(x, t, false); err != nil {
			return expr{}, err
		}
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		for i, c := range conds {
			v, err := c(e)
			if err != nil {
				return nil, err
			}
			if v == truthYes {
				return all[i].eval(e)
			}
		}
		if otherwise != nil {
			return all[len(all)-1].eval(e)
		}
		return nil, nil
	}}, nil
}

// join returns the type that can hold the values of both types.
func join(a, b Type) (Type, error) {
	switch {
	case a == b:
		return a, nil
	case a.class() == b.class() && a.class() == classInteger:
		if a.width() >= b.width() {
			return a, nil
		}
		return b, nil
	case a.id == b.id && (a.class() == classVarChar || a.class() == classNVarChar || a.class() == classBinary):
		a.size = max(a.size, b.size)
		return a, nil
	case a.class() == classVarChar && b.class() == classNVarChar:
		return b, nil
	case a.class() == classNVarChar && b.class() == classVarChar:
		return a, nil
	default:
		return Type{}, unknown("values of "+a.String()+" and "+b.String()+" in one column", 0)
	}
}

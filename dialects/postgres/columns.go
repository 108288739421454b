package postgres

import (
	"slices"
	"strconv"
	"strings"
)

// outputNames returns the names that the server gives the columns of a result
// (manual, 7.3.2), or nil when a star hides them.
func (w *walker) outputNames(n *selectStmt) []string {
	for n.Op != setopNone && n.Larg != nil {
		n = n.Larg
	}
	if len(n.ValuesLists) > 0 {
		row := n.ValuesLists[0].GetList().GetItems()
		names := make([]string, len(row))
		for i := range row {
			names[i] = "column" + strconv.Itoa(i+1)
		}
		return names
	}
	names := make([]string, 0, len(n.TargetList))
	for _, t := range n.TargetList {
		target := t.GetResTarget()
		if target == nil {
			return nil
		}
		name := target.Name
		if name == "" {
			var star bool
			if name, _, star = w.figure(target.Val); star {
				return nil
			}
			if name == "" {
				name = "?column?"
			}
		}
		names = append(names, name)
	}
	return names
}

// The strength of a name that the server chooses.
const (
	nameNone = iota
	nameWeak // the name of a type: the expression inside may have a stronger one
	nameGood
)

// figure returns the name that the server chooses for an expression, and whether the
// expression is a star.
func (w *walker) figure(n *node) (name string, strength int, star bool) {
	if c := n.GetColumnRef(); c != nil {
		return lastString(c.Fields)
	}
	if i := n.GetAIndirection(); i != nil {
		for _, s := range slices.Backward(i.Indirection) {
			switch {
			case s.GetString_() != nil:
				return s.GetString_().Sval, nameGood, false
			case s.GetAStar() != nil:
				return "", nameNone, true
			}
		}
		return w.figure(i.Arg)
	}
	if f := n.GetFuncCall(); f != nil {
		return lastString(f.Funcname)
	}
	if e := n.GetAExpr(); e != nil {
		if e.Kind == exprNullif {
			return "nullif", nameGood, false
		}
		return "", nameNone, false
	}
	if cast := n.GetTypeCast(); cast != nil {
		if name, strength, _ := w.figure(cast.Arg); strength == nameGood {
			return name, strength, false
		}
		if name, _, _ := lastString(cast.TypeName.GetNames()); name != "" {
			return name, nameWeak, false
		}
		return "", nameNone, false
	}
	if c := n.GetCollateClause(); c != nil {
		return w.figure(c.Arg)
	}
	if s := n.GetSubLink(); s != nil {
		return w.figureSubLink(s)
	}
	if c := n.GetCaseExpr(); c != nil {
		if name, strength, _ := w.figure(c.Defresult); strength == nameGood {
			return name, strength, false
		}
		return "case", nameWeak, false
	}
	return w.figureKeyword(n)
}

func (w *walker) figureSubLink(s *subLink) (name string, strength int, star bool) {
	if s.SubLinkType == sublinkExists {
		return "exists", nameGood, false
	}
	if s.SubLinkType == sublinkArray {
		return "array", nameGood, false
	}
	inner := s.Subselect.GetSelectStmt()
	for inner != nil && inner.Op != setopNone && inner.Larg != nil {
		inner = inner.Larg
	}
	if s.SubLinkType != sublinkExpr || inner == nil || len(inner.TargetList) == 0 {
		return "", nameNone, false
	}
	target := inner.TargetList[0].GetResTarget()
	if target.GetName() != "" {
		return target.GetName(), nameGood, false
	}
	name, strength, star = w.figure(target.GetVal())
	if star {
		return "", nameNone, false // a single column; its name is in the table's definition
	}
	return name, strength, false
}

// figureKeyword names the expressions that have a keyword of their own.
func (w *walker) figureKeyword(n *node) (name string, strength int, star bool) {
	switch {
	case n.GetGroupingFunc() != nil:
		return "grouping", nameGood, false
	case n.GetMergeSupportFunc() != nil:
		return "merge_action", nameGood, false
	case n.GetAArrayExpr() != nil:
		return "array", nameGood, false
	case n.GetRowExpr() != nil:
		return "row", nameGood, false
	case n.GetCoalesceExpr() != nil:
		return "coalesce", nameGood, false
	case n.GetMinMaxExpr() != nil:
		return w.lowerToken(n.GetMinMaxExpr().Location), nameGood, false
	case n.GetSqlvalueFunction() != nil:
		return w.lowerToken(n.GetSqlvalueFunction().Location), nameGood, false
	case n.GetXmlExpr() != nil:
		if token := w.lowerToken(n.GetXmlExpr().Location); strings.HasPrefix(token, "xml") {
			return token, nameGood, false
		}
		return "", nameNone, false // IS DOCUMENT
	case n.GetXmlSerialize() != nil:
		return "xmlserialize", nameGood, false
	case n.GetJsonParseExpr() != nil:
		return "json", nameGood, false
	case n.GetJsonScalarExpr() != nil:
		return "json_scalar", nameGood, false
	case n.GetJsonSerializeExpr() != nil:
		return "json_serialize", nameGood, false
	case n.GetJsonObjectConstructor() != nil:
		return "json_object", nameGood, false
	case n.GetJsonArrayConstructor() != nil, n.GetJsonArrayQueryConstructor() != nil:
		return "json_array", nameGood, false
	case n.GetJsonObjectAgg() != nil:
		return "json_objectagg", nameGood, false
	case n.GetJsonArrayAgg() != nil:
		return "json_arrayagg", nameGood, false
	case n.GetJsonFuncExpr() != nil:
		return w.lowerToken(n.GetJsonFuncExpr().Location), nameGood, false
	default:
		return "", nameNone, false
	}
}

// lastString returns the last part of a name.
func lastString(parts []*node) (name string, strength int, star bool) {
	if len(parts) == 0 {
		return "", nameNone, false
	}
	last := parts[len(parts)-1]
	if s := last.GetString_(); s != nil {
		return s.Sval, nameGood, false
	}
	return "", nameNone, last.GetAStar() != nil
}

// RowFunction reports whether x.name calls one of the server's own functions, when x is a row
// without a column of that name, and tells something of all its columns. Functions that show a
// row are refused in this notation anyway.
func (Dialect) RowFunction(name string) bool {
	switch name {
	case "num_nulls", "num_nonnulls", "pg_column_size", "pg_column_compression", "pg_column_toast_chunk_id":
		return true
	default:
		return false
	}
}

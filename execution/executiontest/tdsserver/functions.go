package tdsserver

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

var sysname = NVarChar(128)

// sessionValue returns an expression for a value of the session.
func sessionValue(t Type, f func(s *session) any) expr {
	return expr{t: t, eval: func(e *env) (any, error) { return f(e.s), nil }}
}

// variable reads @x or @@x.
func (p *parser) variable(w *word) (expr, error) {
	if !strings.HasPrefix(w.text, "@@") {
		name := strings.ToLower(w.text)
		t, ok := p.variables[name]
		if !ok {
			return expr{}, undeclared(w)
		}
		return expr{t: t, eval: func(e *env) (any, error) { return e.variables[name], nil }}, nil
	}
	number := func(name string) func(*session) any {
		return func(s *session) any {
			n, err := strconv.ParseInt(s.options[name], 10, 64)
			if err != nil {
				return nil
			}
			return n
		}
	}
	switch w.upper {
	case "@@SPID":
		return sessionValue(SmallInt, func(s *session) any { return int64(s.c.spid) }), nil
	case "@@TRANCOUNT":
		return sessionValue(Int, func(s *session) any { return int64(s.depth) }), nil
	case "@@ROWCOUNT":
		return sessionValue(Int, func(s *session) any { return s.rowCount }), nil
	case "@@ERROR":
		return sessionValue(Int, func(s *session) any { return int64(s.lastError) }), nil
	case "@@VERSION":
		return sessionValue(NVarChar(300), func(s *session) any { return s.c.s.banner() }), nil
	case "@@SERVERNAME":
		return sessionValue(sysname, func(s *session) any { return s.c.s.name() }), nil
	case "@@OPTIONS":
		return sessionValue(Int, func(s *session) any { return s.optionMask() }), nil
	case "@@LOCK_TIMEOUT":
		return sessionValue(Int, number("LOCK_TIMEOUT")), nil
	case "@@TEXTSIZE":
		return sessionValue(Int, number("TEXTSIZE")), nil
	case "@@DATEFIRST":
		return sessionValue(TinyInt, number("DATEFIRST")), nil
	case "@@LANGUAGE":
		return sessionValue(sysname, func(s *session) any { return s.options["LANGUAGE"] }), nil
	case "@@MAX_PRECISION":
		return constant(TinyInt, int64(38)), nil
	default:
		return expr{}, unknown(w.text, w.line)
	}
}

// bareFunctions are called without parentheses.
var bareFunctions = map[string]func(*parser) (expr, error){
	"SYSTEM_USER":  func(*parser) (expr, error) { return loginName(), nil },
	"CURRENT_USER": func(*parser) (expr, error) { return userName(), nil },
	"SESSION_USER": func(*parser) (expr, error) { return userName(), nil },
}

func loginName() expr {
	return sessionValue(sysname, func(s *session) any { return s.c.account.Name })
}

func userName() expr {
	return sessionValue(sysname, func(s *session) any {
		if s.c.in("sysadmin") {
			return "dbo"
		}
		return s.c.account.Name
	})
}

// call reads a function with its arguments.
func (p *parser) call() (expr, error) {
	w := *p.peek()
	name := w.upper
	if w.quoted {
		return expr{}, unknown("the function "+w.text, w.line)
	}
	p.i += 2
	switch name {
	case "CAST", "TRY_CAST":
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		if err := p.want("AS"); err != nil {
			return expr{}, err
		}
		t, err := p.typeName()
		if err != nil {
			return expr{}, err
		}
		if err := p.want(")"); err != nil {
			return expr{}, err
		}
		return convert(x, t, name == "TRY_CAST")
	case "CONVERT", "TRY_CONVERT":
		t, err := p.typeName()
		if err != nil {
			return expr{}, err
		}
		if err := p.want(","); err != nil {
			return expr{}, err
		}
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		if p.is(",") && x.t.class() == classTime {
			p.i++
			if w := p.peek(); w.text != "121" || t.class() != classVarChar && t.class() != classNVarChar {
				return expr{}, unknown("the style "+w.text+" of "+x.t.String(), w.line)
			}
			p.i++
			return styled(x, t), p.want(")")
		}
		if err := p.want(")"); err != nil {
			return expr{}, err
		}
		return convert(x, t, name == "TRY_CONVERT")
	case "IIF":
		return p.iif()
	case "COUNT", "COUNT_BIG", "MIN", "MAX", "SUM":
		return p.fold(name)
	}
	var args []expr
	for !p.take(")") {
		if len(args) > 0 {
			if err := p.want(","); err != nil {
				return expr{}, err
			}
		}
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		args = append(args, x)
	}
	f, ok := functions[name]
	if !ok || len(args) < f.least || len(args) > f.most {
		return expr{}, unknown("the function "+w.text, w.line)
	}
	return f.make(args)
}

// function is a function of values.
type function struct {
	least, most int
	make        func(args []expr) (expr, error)
}

// of returns a function without arguments.
func of(t Type, f func(s *session, v []any) (any, error)) function {
	return function{0, 0, func(args []expr) (expr, error) { return strict(t, args, f), nil }}
}

// strict returns a function that is NULL if an argument is NULL.
func strict(t Type, args []expr, f func(s *session, v []any) (any, error)) expr {
	return expr{t: t, eval: func(e *env) (any, error) {
		values := make([]any, len(args))
		for i, x := range args {
			v, err := x.eval(e)
			if err != nil || v == nil {
				return nil, err
			}
			values[i] = v
		}
		return f(e.s, values)
	}}
}

// texts returns a function whose arguments are names.
func texts(t Type, least, most int, f func(s *session, v []string) any) function {
	return function{least, most, func(args []expr) (expr, error) {
		return expr{t: t, eval: func(e *env) (any, error) {
			values := make([]string, len(args))
			for i, x := range args {
				v, err := x.eval(e)
				if err != nil {
					return nil, err
				}
				if v == nil {
					continue
				}
				s, ok := v.(string)
				if !ok {
					return nil, unknown("this argument", 0)
				}
				values[i] = s
			}
			return f(e.s, values), nil
		}}, nil
	}}
}

func flag(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}

// functions are the functions that are modelled (T-SQL reference, "Functions").
// Those about permissions use the permissions of the Account.
var functions = map[string]function{
	"DB_NAME":        of(sysname, func(s *session, _ []any) (any, error) { return s.database, nil }),
	"DB_ID":          of(SmallInt, func(*session, []any) (any, error) { return int64(idOwnDatabase), nil }),
	"SUSER_SNAME":    {0, 0, func([]expr) (expr, error) { return loginName(), nil }},
	"SUSER_NAME":     {0, 0, func([]expr) (expr, error) { return loginName(), nil }},
	"ORIGINAL_LOGIN": {0, 0, func([]expr) (expr, error) { return loginName(), nil }},
	"USER_NAME": {0, 1, func(args []expr) (expr, error) {
		if len(args) == 0 {
			return userName(), nil
		}
		return byID(args, func(s *session, id int64) any {
			if name, ok := s.principals()[id]; ok {
				return name
			}
			return nil
		})
	}},
	"USER_ID": of(Int, func(s *session, _ []any) (any, error) { return s.userID(), nil }),
	"SCHEMA_NAME": {0, 1, func(args []expr) (expr, error) {
		if len(args) == 0 {
			return constant(sysname, "dbo"), nil
		}
		return byID(args, func(s *session, id int64) any { return s.lookup("sys.schemas", "schema_id", "name", id) })
	}},
	"OBJECT_NAME": {1, 1, func(args []expr) (expr, error) {
		return byID(args, func(s *session, id int64) any { return s.lookup("sys.objects", "object_id", "name", id) })
	}},
	"OBJECT_SCHEMA_NAME": {1, 1, func(args []expr) (expr, error) {
		return byID(args, func(s *session, id int64) any {
			return s.lookup("sys.schemas", "schema_id", "name", s.lookup("sys.objects", "object_id", "schema_id", id))
		})
	}},
	"QUOTENAME": {1, 1, func(args []expr) (expr, error) {
		x, err := convert(args[0], sysname, false)
		if err != nil {
			return expr{}, err
		}
		return strict(NVarChar(258), []expr{x}, func(_ *session, v []any) (any, error) {
			return quoteName(v[0].(string)), nil //nolint:forcetypeassert // a name's value
		}), nil
	}},
	"HOST_NAME": of(sysname, func(s *session, _ []any) (any, error) { return s.c.login.HostName, nil }),
	"APP_NAME":  of(sysname, func(s *session, _ []any) (any, error) { return s.c.login.AppName, nil }),
	"XACT_STATE": of(SmallInt, func(s *session, _ []any) (any, error) {
		switch {
		case s.transaction == 0:
			return int64(0), nil
		case s.doomed:
			return int64(-1), nil
		default:
			return int64(1), nil
		}
	}),
	"SERVERPROPERTY":  texts(Variant, 1, 1, serverProperty),
	"SESSIONPROPERTY": texts(Variant, 1, 1, sessionProperty),
	"DATABASEPROPERTYEX": texts(Variant, 2, 2, func(s *session, v []string) any {
		if !s.c.s.has(v[0]) {
			return nil
		}
		switch strings.ToLower(v[1]) {
		case "updateability":
			return Of{sysname, "READ_WRITE"}
		case "status":
			return Of{sysname, "ONLINE"}
		case "collation":
			return Of{sysname, "SQL_Latin1_General_CP1_CI_AS"}
		default:
			return nil
		}
	}),
	"CONNECTIONPROPERTY": texts(Variant, 1, 1, func(s *session, v []string) any {
		switch strings.ToLower(v[0]) {
		case "net_transport":
			return Of{sysname, "TCP"}
		case "protocol_type":
			return Of{sysname, "TSQL"}
		case "auth_scheme":
			return Of{sysname, "SQL"}
		default:
			return nil
		}
	}),
	"IS_SRVROLEMEMBER": texts(Int, 1, 1, func(s *session, v []string) any { return membership(s, serverRoles, v[0]) }),
	"IS_ROLEMEMBER":    texts(Int, 1, 1, func(s *session, v []string) any { return membership(s, databaseRoles, v[0]) }),
	"IS_MEMBER":        texts(Int, 1, 1, func(s *session, v []string) any { return membership(s, databaseRoles, v[0]) }),
	"HAS_PERMS_BY_NAME": texts(Int, 3, 5, func(s *session, v []string) any {
		if len(v) == 5 && v[4] == "COLUMN" && slices.Contains(s.c.account.Unreadable, v[0]+"."+v[3]) {
			return flag(false)
		}
		return s.hasPermission(v[0], v[1], v[2])
	}),
	"HAS_DBACCESS": texts(Int, 1, 1, func(s *session, v []string) any { return s.hasDatabaseAccess(v[0]) }),
	"LEN": {1, 1, func(args []expr) (expr, error) {
		return lengthOf(args[0], func(s string) int64 { return int64(units(strings.TrimRight(s, " "))) })
	}},
	"DATALENGTH": {1, 1, func(args []expr) (expr, error) {
		return lengthOf(args[0], func(s string) int64 {
			if args[0].t.class() == classNVarChar {
				return int64(2 * units(s))
			}
			return int64(len(codePage1252(s)))
		})
	}},
	"UPPER":     textFunction(strings.ToUpper),
	"LOWER":     textFunction(strings.ToLower),
	"REPLICATE": {2, 2, replicate},
	"LEFT":      {2, 2, func(args []expr) (expr, error) { return part(args, true) }},
	"RIGHT":     {2, 2, func(args []expr) (expr, error) { return part(args, false) }},
	"CHAR": {1, 1, func(args []expr) (expr, error) {
		return strict(Char(1), args, func(_ *session, v []any) (any, error) {
			n, ok := v[0].(int64)
			if !ok || n < 0 || n > 255 {
				return nil, nil
			}
			return fromCodePage1252([]byte{byte(n)}), nil
		}), nil
	}},
	"NCHAR": {1, 1, func(args []expr) (expr, error) {
		return strict(NChar(1), args, func(_ *session, v []any) (any, error) {
			n, ok := v[0].(int64)
			if !ok || n < 0 || n > 0xFFFF || utf16.IsSurrogate(rune(n)) {
				return nil, unknown("NCHAR of this number", 0)
			}
			return string(rune(n)), nil
		}), nil
	}},
	"ISNULL":   {2, 2, coalesce},
	"COALESCE": {2, 20, coalesce},
	"ABS": {1, 1, func(args []expr) (expr, error) {
		if args[0].t.class() != classInteger {
			return expr{}, unknown("ABS of "+args[0].t.String(), 0)
		}
		t := args[0].t.nullable()
		return strict(t, args, func(_ *session, v []any) (any, error) {
			n := v[0].(int64) //nolint:forcetypeassert // an integer type's value
			if n == math.MinInt64 || t.width() == 4 && n == math.MinInt32 {
				return nil, overflow(t)
			}
			return max(n, -n), nil
		}), nil
	}},
	"DAY":   datePart(time.Time.Day),
	"MONTH": datePart(func(t time.Time) int { return int(t.Month()) }),
	"YEAR":  datePart(time.Time.Year),

	"SYSDATETIME":       of(DateTime2(7), func(*session, []any) (any, error) { return time.Now().UTC(), nil }),
	"SYSUTCDATETIME":    of(DateTime2(7), func(*session, []any) (any, error) { return time.Now().UTC(), nil }),
	"SYSDATETIMEOFFSET": of(DateTimeOffset(7), func(*session, []any) (any, error) { return time.Now().UTC(), nil }),
	"GETUTCDATE":        of(DateTime, func(*session, []any) (any, error) { return time.Now().UTC(), nil }),
}

var serverRoles = []string{
	"sysadmin", "serveradmin", "securityadmin", "processadmin", "setupadmin", "bulkadmin", "diskadmin", "dbcreator", "public",
	"##ms_databasemanager##", "##ms_loginmanager##", "##ms_serverstatemanager##", "##ms_databaseconnector##", "##ms_definitionreader##",
}

var databaseRoles = []string{
	"db_owner", "db_securityadmin", "db_accessadmin", "db_backupoperator", "db_ddladmin", "db_datawriter", "db_datareader", "db_denydatawriter",
	"db_denydatareader", "public",
}

// membership returns whether a role is among roles, or NULL if the role does
// not exist.
func membership(s *session, roles []string, role string) any {
	role = strings.ToLower(role)
	switch {
	case !slices.Contains(roles, role):
		return nil
	case role == "public":
		return flag(true)
	case slices.Contains(databaseRoles, role) && s.c.in("sysadmin") && !strings.HasPrefix(role, "db_deny"):
		return flag(true)
	default:
		return flag(s.c.in(role))
	}
}

func serverProperty(s *session, v []string) any {
	version := s.c.s.config.Version
	major, _, _ := strings.Cut(version, ".")
	switch strings.ToLower(v[0]) {
	case "productversion":
		return Of{sysname, version}
	case "productmajorversion":
		return Of{sysname, major}
	case "productlevel":
		return Of{sysname, "RTM"}
	case "edition":
		return Of{sysname, "Stand-in of a test (64-bit)"}
	case "engineedition":
		return Of{Int, int64(s.c.s.config.Edition)}
	case "servername":
		return Of{sysname, s.c.s.name()}
	case "collation":
		return Of{sysname, "SQL_Latin1_General_CP1_CI_AS"}
	default:
		return nil
	}
}

func sessionProperty(s *session, v []string) any {
	name := strings.ToUpper(v[0])
	switch name {
	case "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "NUMERIC_ROUNDABORT", "QUOTED_IDENTIFIER":
		return Of{Int, flag(s.on(name))}
	default:
		return nil
	}
}

// byID returns a function of an identity.
func byID(args []expr, f func(s *session, id int64) any) (expr, error) {
	if args[0].t.class() != classInteger {
		return expr{}, unknown("an identity of "+args[0].t.String(), 0)
	}
	return strict(sysname, args, func(s *session, v []any) (any, error) {
		return f(s, v[0].(int64)), nil //nolint:forcetypeassert // an integer's value
	}), nil
}

func datePart(f func(time.Time) int) function {
	return function{1, 1, func(args []expr) (expr, error) {
		if args[0].t.class() != classTime {
			return expr{}, unknown("a part of "+args[0].t.String(), 0)
		}
		return strict(Int, args, func(_ *session, v []any) (any, error) {
			return int64(f(v[0].(time.Time))), nil //nolint:forcetypeassert // a date's value
		}), nil
	}}
}

func coalesce(args []expr) (expr, error) {
	t := args[0].t.nullable()
	for i, x := range args {
		var err error
		if args[i], err = convert(x, t, false); err != nil {
			return expr{}, err
		}
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		for _, x := range args {
			if v, err := x.eval(e); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}}, nil
}

package relate_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/scan/relate"
)

// TestNames lists what names alone tell.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		name, tables string
		accepted     string // separated by ";"
		review       string
	}{
		{"key word behind", "customers(id*, name text); orders(id*, customer_id)", "orders.customer_id > customers.id", ""},
		{"one name", "customer(customer_id*); orders(order_id*, customer_id)", "orders.customer_id > customer.customer_id", ""},
		{"camel", "Customer(id*); SalesOrder(id*, customerId)", "SalesOrder.customerId > Customer.id", ""},
		{"acronyms", "XMLFile(ID*); Import(ID*, XMLFileID)", "Import.XMLFileID > XMLFile.ID", ""},
		{"joined", "CUSTOMERS(ID*); ORDERS(ID*, CUSTOMERID)", "ORDERS.CUSTOMERID > CUSTOMERS.ID", ""},
		{"plural of y", "categories(id*); products(id*, category_id)", "products.category_id > categories.id", ""},
		{"irregular plural", "people(id*); cars(id*, person_id)", "cars.person_id > people.id", ""},
		{"key word in front", "clientes(id*); pedidos(id*, id_cliente)", "pedidos.id_cliente > clientes.id", ""},
		{"marker in front", "customers(id*); orders(id*, fk_customer)", "orders.fk_customer > customers.id", ""},
		{"layers", "dim_customer(customer_key*); fct_sales(sale_key*, customer_key)", "fct_sales.customer_key > dim_customer.customer_key", ""},
		{"prefix of the application", "shop_users(id*); shop_carts(id*, user_id); shop_tags(id*)", "shop_carts.user_id > shop_users.id", ""},
		{"role", "addresses(id*); orders(id*, billing_address_id, delivery_address_id)", "orders.billing_address_id > addresses.id; orders.delivery_address_id > addresses.id", ""},
		{"number", "teams(id*); games(id*, team1_id, team_id_2)", "games.team1_id > teams.id; games.team_id_2 > teams.id", ""},
		{"role before the name of a key", "third_party_companies(company_id*); contracts(contract_id*, supplier_company_id)", "contracts.supplier_company_id > third_party_companies.company_id", ""},
		{"prefix of columns", "customer(c_custkey*, c_name text, c_phone text); orders(o_orderkey*, o_custkey, o_date date)", "orders.o_custkey > customer.c_custkey", ""},
		{"code beside id", "country(id*, code text); city(id*, country_code text)", "city.country_code > country.code", ""},
		{"abbreviation", "departments(id*); staff(id*, dept_id)", "staff.dept_id > departments.id", ""},
		{"initials", "sales_orders(id*); lines(id*, so_id)", "lines.so_id > sales_orders.id", ""},
		{"parent", "categories(id*, parent_id)", "categories.parent_id > categories.id", ""},
		{"parent with the name", "categories(id*, parent_category_id)", "categories.parent_category_id > categories.id", ""},
		{"parent beside a similar table", "categorias(codigo_categoria*, codigo_pai); paises(codigo_pais*)", "categorias.codigo_pai > categorias.codigo_categoria", ""},
		{"georgian plural", "ქვეყნები(id*); მისამართები(id*, ქვეყანა_id)", "მისამართები.ქვეყანა_id > ქვეყნები.id", ""},
		{"armenian plural", "երկրներ(id*); հասցեներ(id*, երկիր_id)", "հասցեներ.երկիր_id > երկրներ.id", ""},
		{"people by the name of their key", "zaměstnanci(zaměstnanec_id*); oddělení(oddělení_id*, vedouci_id)", "oddělení.vedouci_id > zaměstnanci.zaměstnanec_id", ""},
		{"manager", "employees(id*, manager_id); departments(id*, manager_id)", "departments.manager_id > employees.id; employees.manager_id > employees.id", ""},
		{"reports to", "employees(employee_id*, reports_to)", "employees.reports_to > employees.employee_id", ""},
		{"created by", "users(id*); notes(id*, created_by, approved_by_id)", "notes.approved_by_id > users.id; notes.created_by > users.id", ""},
		{"sorted by nobody", "users(id*); views(id*, sort_by, valid_to date)", "", ""},
		{"Russian", "клиенты(код*); заказы(код*, код_клиента)", "заказы.код_клиента > клиенты.код", ""},
		{"Japanese", "顧客(顧客ID*); 注文(注文ID*, 顧客ID)", "注文.顧客ID > 顧客.顧客ID", ""},
		{"Japanese, role", "住所(住所番号*); 注文(注文番号*, 届け先住所番号)", "注文.届け先住所番号 > 住所.住所番号", ""},
		{"Finnish, role written together", "osoitteet(osoitetunnus*); laskut(laskutunnus*, laskutusosoitetunnus); tilaukset(tilaustunnus*, toimitusosoitetunnus)", "laskut.laskutusosoitetunnus > osoitteet.osoitetunnus; tilaukset.toimitusosoitetunnus > osoitteet.osoitetunnus", ""},
		{"Icelandic, role written together with the name of a key", "heimilisföng(heimilisfangnúmer*); reikningar(reikningarnúmer*, greiðsluheimilisfangnúmer)", "", "reikningar.greiðsluheimilisfangnúmer > heimilisföng.heimilisfangnúmer"},
		{"Finnish plurals", "maat(id*); asiakkaat(id*, maa_id); tilaukset(id*, asiakas_id); rivit(id*, tilaus_id)", "asiakkaat.maa_id > maat.id; rivit.tilaus_id > tilaukset.id; tilaukset.asiakas_id > asiakkaat.id", ""},
		{"Finnish manager", "työntekijät(työntekijätunnus*); osastot(osastotunnus*, esimiestunnus)", "osastot.esimiestunnus > työntekijät.työntekijätunnus", ""},
		{"Thai, unspaced", "ลูกค้า(รหัสลูกค้า*); ใบสั่ง(รหัสใบสั่ง*, รหัสลูกค้า)", "ใบสั่ง.รหัสลูกค้า > ลูกค้า.รหัสลูกค้า", ""},
		{"German", "Kunden(KundenNr*); Bestellungen(BestellNr*, KundenNr)", "Bestellungen.KundenNr > Kunden.KundenNr", ""},
		{"German compound", "kunden(id*); bestellungen(id*, kundennummer)", "bestellungen.kundennummer > kunden.id", ""},
		{"Greek", "πελάτες(id*); παραγγελίες(id*, πελάτη_id)", "παραγγελίες.πελάτη_id > πελάτες.id", ""},
		{
			"an affix of the database", "klient(klient_viit*); toode(toode_viit*); ladu(ladu_viit*); arve(arve_viit*, klient_viit, toode_viit)",
			"arve.klient_viit > klient.klient_viit; arve.toode_viit > toode.toode_viit", "",
		},
		{
			"composite", "order_items(order_id*, line_no*); order_item_notes(id*, order_id, line_no, note text)",
			"order_item_notes.order_id+line_no > order_items.order_id+line_no", "",
		},
		{"composite with a tenant", "customers(tenant_id*, id*); orders(tenant_id*, id*, customer_id)", "orders.tenant_id+customer_id > customers.tenant_id+id", ""},
		{"master tables", "顧客マスタ(顧客コード* text); 受注(受注番号*, 顧客コード text)", "受注.顧客コード > 顧客マスタ.顧客コード", ""},
		{"names without a word", "KNA1(KUNNR* text); VBAK(VBELN* text, KUNNR text)", "VBAK.KUNNR > KNA1.KUNNR", ""},
		{
			"details of two tables", "employees(emp_no*); departments(dept_no*); dept_emp(emp_no*, dept_no*); dept_manager(emp_no*, dept_no*)",
			"dept_emp.dept_no > departments.dept_no; dept_emp.emp_no > employees.emp_no; dept_manager.dept_no > departments.dept_no; dept_manager.emp_no > employees.emp_no", "",
		},
		{"mother", "people(id*, mother_id)", "people.mother_id > people.id", ""},
		{"any table", "users(id*); notes(id*, owner_id, owner_type text)", "", ""},
		{"types differ", "customers(id* integer); orders(id*, customer_id text)", "", "orders.customer_id > customers.id"},
		{"the own schema", "a.customers(id*); b.customers(id*); b.orders(id*, customer_id)", "b.orders.customer_id > b.customers.id", ""},
		{
			"the own first word", "archive_customers(customer_id*); archive_orders(id*, customer_id); sales_customers(customer_id*); sales_orders(id*, customer_id)",
			"archive_orders.customer_id > archive_customers.customer_id; sales_orders.customer_id > sales_customers.customer_id", "",
		},
		{"an attribute", "customers(id*); orders(id*, customer_type_id, customer_name text)", "", ""},
		{"decoys", "states(id*); items(id*, status, year, zip, quantity, line_no, position)", "", ""},
		{"its own key", "customers(customer_id*, customer_no); orders(order_id*)", "", ""},
		{"no key", "log(message text); orders(id*, log_id)", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := find(t, relate.Input{Tables: tables(t, strings.ReplaceAll(c.tables, "* integer", "*"))}, nil)
			if !equal(arrows(got.Accepted), list(c.accepted)) || !equal(arrows(got.Review), list(c.review)) {
				t.Errorf("want accepted %q, review %q, got\n%s", c.accepted, c.review, lists(got))
			}
		})
	}
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "; ")
}

// TestUndeclaredKeys repeats some names without primary keys.
func TestUndeclaredKeys(t *testing.T) {
	for _, c := range []struct{ tables, accepted string }{
		{"customers(id, name text); orders(id, customer_id)", "orders.customer_id > customers.id"},
		{"Customer(CustomerKey, Name text); Sales(SalesKey, CustomerKey)", "Sales.CustomerKey > Customer.CustomerKey"},
		{"clientes(cod_cliente text); pedidos(cod_pedido text, cod_cliente text)", "pedidos.cod_cliente > clientes.cod_cliente"},
		{
			"orders(order_id); products(product_id); order_items(order_id, product_id, quantity)",
			"order_items.order_id > orders.order_id; order_items.product_id > products.product_id",
		},
	} {
		got := find(t, relate.Input{Tables: tables(t, c.tables)}, nil)
		if !equal(arrows(got.Accepted), list(c.accepted)) {
			t.Errorf("%s: want %q, got\n%s", c.tables, c.accepted, lists(got))
		}
	}
}

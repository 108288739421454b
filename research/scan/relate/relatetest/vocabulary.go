package relatetest

import "strings"

// vocabulary holds the words of a language. Each concept has the form in names of
// tables and the form in names of columns; the second may be another case or number.
type vocabulary map[string][2]string

// words reads "concept table-form column-form" triples. A form has spaces written
// as "+".
func words(text string) vocabulary {
	v := vocabulary{}
	fields := strings.Fields(text)
	for i := 0; i+2 < len(fields); i += 3 {
		v[fields[i]] = [2]string{strings.ReplaceAll(fields[i+1], "+", " "), strings.ReplaceAll(fields[i+2], "+", " ")}
	}
	return v
}

// The vocabularies. Concepts: customer, order, product, category, employee,
// department, supplier, address, country, warehouse, invoice, payment, shipment, and
// item as in order item; roles: billing, delivery, parent, manager; attributes: name,
// status, year, quantity, date, line.
func vocabularies() map[string]vocabulary {
	return map[string]vocabulary{
		"english": words(`customer customers customer order orders order product products product category categories category
			employee employees employee department departments department supplier suppliers supplier address addresses address
			country countries country warehouse warehouses warehouse invoice invoices invoice payment payments payment
			shipment shipments shipment item items item billing x billing delivery x delivery parent x parent manager x manager
			name x name status x status year x year quantity x quantity date x date line x line`),
		"english-singular": words(`customer customer customer order order order product product product category category category
			employee employee employee department department department supplier supplier supplier address address address
			country country country warehouse warehouse warehouse invoice invoice invoice payment payment payment
			shipment shipment shipment item item item billing x bill+to delivery x ship+to parent x parent manager x reports+to
			name x name status x status year x year quantity x qty date x date line x line`),
		"english-short": words(`customer customer cust order orders ord product product prod category category cat
			employee employee emp department department dept supplier supplier supp address address addr
			country country cntry warehouse warehouse whse invoice invoice inv payment payment pmt
			shipment shipment shpmt item item item billing x bill delivery x dlvr parent x parent manager x mgr
			name x name status x sts year x yr quantity x qty date x dt line x line`),
		"german": words(`customer Kunden Kunde order Bestellungen Bestellung product Artikel Artikel category Kategorien Kategorie
			employee Mitarbeiter Mitarbeiter department Abteilungen Abteilung supplier Lieferanten Lieferant address Adressen Adresse
			country Länder Land warehouse Lager Lager invoice Rechnungen Rechnung payment Zahlungen Zahlung
			shipment Sendungen Sendung item Positionen Position billing x Rechnungs delivery x Liefer parent x übergeordnete manager x Vorgesetzter
			name x Name status x Status year x Jahr quantity x Menge date x Datum line x Zeile`),
		"spanish": words(`customer clientes cliente order pedidos pedido product productos producto category categorias categoria
			employee empleados empleado department departamentos departamento supplier proveedores proveedor address direcciones direccion
			country paises pais warehouse almacenes almacen invoice facturas factura payment pagos pago
			shipment envios envio item lineas linea billing x facturacion delivery x entrega parent x padre manager x jefe
			name x nombre status x estado year x anio quantity x cantidad date x fecha line x renglon`),
		"french": words(`customer clients client order commandes commande product produits produit category categories categorie
			employee employes employe department departements departement supplier fournisseurs fournisseur address adresses adresse
			country pays pays warehouse entrepots entrepot invoice factures facture payment paiements paiement
			shipment expeditions expedition item lignes ligne billing x facturation delivery x livraison parent x parent manager x responsable
			name x nom status x statut year x annee quantity x quantite date x jour line x rang`),
		"russian": words(`customer клиенты клиента order заказы заказа product товары товара category категории категории
			employee сотрудники сотрудника department отделы отдела supplier поставщики поставщика address адреса адреса
			country страны страны warehouse склады склада invoice счета счета payment платежи платежа
			shipment отгрузки отгрузки item позиции позиции billing x платежный delivery x доставки parent x родитель manager x руководитель
			name x название status x статус year x год quantity x количество date x дата line x строка`),
		"japanese": words(`customer 顧客 顧客 order 注文 注文 product 商品 商品 category カテゴリ カテゴリ
			employee 社員 社員 department 部署 部署 supplier 仕入先 仕入先 address 住所 住所
			country 国 国 warehouse 倉庫 倉庫 invoice 請求 請求 payment 支払 支払
			shipment 出荷 出荷 item 明細 明細 billing x 請求先 delivery x 届け先 parent x 親 manager x 上司
			name x 名称 status x 状態 year x 年度 quantity x 数量 date x 日付 line x 行`),
		"chinese": words(`customer 客户 客户 order 订单 订单 product 产品 产品 category 类别 类别
			employee 员工 员工 department 部门 部门 supplier 供应商 供应商 address 地址 地址
			country 国家 国家 warehouse 仓库 仓库 invoice 发票 发票 payment 付款 付款
			shipment 发货 发货 item 明细 明细 billing x 账单 delivery x 收货 parent x 上级 manager x 主管
			name x 名称 status x 状态 year x 年份 quantity x 数量 date x 日期 line x 行`),
		"polish": words(`customer klienci klienta order zamowienia zamowienia product produkty produktu category kategorie kategorii
			employee pracownicy pracownika department działy działu supplier dostawcy dostawcy address adresy adresu
			country kraje kraju warehouse magazyny magazynu invoice faktury faktury payment płatności płatności
			shipment wysyłki wysyłki item pozycje pozycji billing x rozliczeniowy delivery x dostawy parent x nadrzędny manager x przełożony
			name x nazwa status x status year x rok quantity x ilość date x data line x wiersz`),
		"turkish": words(`customer müşteriler müşteri order siparişler sipariş product ürünler ürün category kategoriler kategori
			employee çalışanlar çalışan department bölümler bölüm supplier tedarikçiler tedarikçi address adresler adres
			country ülkeler ülke warehouse depolar depo invoice faturalar fatura payment ödemeler ödeme
			shipment sevkiyatlar sevkiyat item kalemler kalem billing x fatura delivery x teslimat parent x üst manager x yönetici
			name x ad status x durum year x yıl quantity x miktar date x tarih line x satır`),
		"greek": words(`customer πελάτες πελάτη order παραγγελίες παραγγελίας product προϊόντα προϊόντος category κατηγορίες κατηγορίας
			employee υπάλληλοι υπαλλήλου department τμήματα τμήματος supplier προμηθευτές προμηθευτή address διευθύνσεις διεύθυνσης
			country χώρες χώρας warehouse αποθήκες αποθήκης invoice τιμολόγια τιμολογίου payment πληρωμές πληρωμής
			shipment αποστολές αποστολής item γραμμές γραμμής billing x χρέωσης delivery x παράδοσης parent x γονέας manager x προϊστάμενος
			name x όνομα status x κατάσταση year x έτος quantity x ποσότητα date x ημερομηνία line x σειρά`),

		// The languages below are only in habits that are held out.
		"korean": words(`customer 고객 고객 order 주문 주문 product 상품 상품 category 분류 분류
			employee 직원 직원 department 부서 부서 supplier 공급사 공급사 address 주소 주소
			country 국가 국가 warehouse 창고 창고 invoice 청구 청구 payment 결제 결제
			shipment 배송 배송 item 항목 항목 billing x 청구지 delivery x 배송지 parent x 상위 manager x 관리자
			name x 이름 status x 상태 year x 연도 quantity x 수량 date x 날짜 line x 줄`),
		"arabic": words(`customer العملاء العميل order الطلبات الطلب product المنتجات المنتج category التصنيفات التصنيف
			employee الموظفين الموظف department الإدارات الإدارة supplier الموردين المورد address العناوين العنوان
			country الدول الدولة warehouse المستودعات المستودع invoice الفواتير الفاتورة payment المدفوعات المدفوعة
			shipment الشحنات الشحنة item البنود البند billing x الفوترة delivery x التسليم parent x الأب manager x المدير
			name x الاسم status x الحالة year x السنة quantity x الكمية date x التاريخ line x السطر`),
		"hebrew": words(`customer לקוחות לקוח order הזמנות הזמנה product מוצרים מוצר category קטגוריות קטגוריה
			employee עובדים עובד department מחלקות מחלקה supplier ספקים ספק address כתובות כתובת
			country מדינות מדינה warehouse מחסנים מחסן invoice חשבוניות חשבונית payment תשלומים תשלום
			shipment משלוחים משלוח item פריטים פריט billing x חיוב delivery x מסירה parent x הורה manager x מנהל
			name x שם status x מצב year x שנה quantity x כמות date x תאריך line x שורה`),
		"italian": words(`customer clienti cliente order ordini ordine product prodotti prodotto category categorie categoria
			employee dipendenti dipendente department reparti reparto supplier fornitori fornitore address indirizzi indirizzo
			country nazioni nazione warehouse magazzini magazzino invoice fatture fattura payment pagamenti pagamento
			shipment spedizioni spedizione item righe riga billing x fatturazione delivery x consegna parent x padre manager x capo
			name x nome status x stato year x anno quantity x quantita date x data line x progressivo`),
		"swedish": words(`customer kunder kund order beställningar beställning product varor vara category kategorier kategori
			employee anställda anställd department avdelningar avdelning supplier leverantörer leverantör address adresser adress
			country länder land warehouse lager lager invoice fakturor faktura payment betalningar betalning
			shipment leveranser leverans item rader rad billing x faktura delivery x leverans parent x överordnad manager x chef
			name x namn status x status year x år quantity x antal date x datum line x radnr`),
		"estonian": words(`customer kliendid klient order tellimused tellimus product tooted toode category kategooriad kategooria
			employee töötajad töötaja department osakonnad osakond supplier tarnijad tarnija address aadressid aadress
			country riigid riik warehouse laod ladu invoice arved arve payment maksed makse
			shipment saadetised saadetis item read rida billing x arvelduse delivery x tarne parent x ülem manager x juht
			name x nimi status x olek year x aasta quantity x kogus date x kuupäev line x jrk`),
		"georgian": words(`customer მომხმარებლები მომხმარებელი order შეკვეთები შეკვეთა product პროდუქტები პროდუქტი category კატეგორიები კატეგორია
			employee თანამშრომლები თანამშრომელი department განყოფილებები განყოფილება supplier მომწოდებლები მომწოდებელი address მისამართები მისამართი
			country ქვეყნები ქვეყანა warehouse საწყობები საწყობი invoice ინვოისები ინვოისი payment გადახდები გადახდა
			shipment გზავნილები გზავნილი item პუნქტები პუნქტი billing x საბანკო delivery x მიწოდების parent x მშობელი manager x მენეჯერი
			name x სახელი status x სტატუსი year x წელი quantity x რაოდენობა date x თარიღი line x რიგი`),
		"hindi": words(`customer ग्राहक ग्राहक order आदेश आदेश product उत्पाद उत्पाद category श्रेणी श्रेणी
			employee कर्मचारी कर्मचारी department विभाग विभाग supplier आपूर्तिकर्ता आपूर्तिकर्ता address पता पता
			country देश देश warehouse गोदाम गोदाम invoice चालान चालान payment भुगतान भुगतान
			shipment प्रेषण प्रेषण item मद मद billing x बिलिंग delivery x वितरण parent x अभिभावक manager x प्रबंधक
			name x नाम status x स्थिति year x वर्ष quantity x मात्रा date x दिनांक line x पंक्ति`),
		"thai": words(`customer ลูกค้า ลูกค้า order คำสั่งซื้อ คำสั่งซื้อ product สินค้า สินค้า category หมวดหมู่ หมวดหมู่
			employee พนักงาน พนักงาน department แผนก แผนก supplier ผู้จำหน่าย ผู้จำหน่าย address ที่อยู่ ที่อยู่
			country ประเทศ ประเทศ warehouse คลังสินค้า คลังสินค้า invoice ใบแจ้งหนี้ ใบแจ้งหนี้ payment การชำระเงิน การชำระเงิน
			shipment การจัดส่ง การจัดส่ง item รายการ รายการ billing x เรียกเก็บ delivery x ปลายทาง parent x แม่ manager x ผู้จัดการ
			name x ชื่อ status x สถานะ year x ปี quantity x จำนวน date x วันที่ line x ลำดับ`),

		// The languages below were added when the finder was finished, and measured once before
		// it learned of them.
		"arabic-broken": words(`customer عملاء عميل order أوامر أمر product أصناف صنف category أنواع نوع
			employee عمال عامل department أقسام قسم supplier تجار تاجر address عناوين عنوان
			country دول دولة warehouse مخازن مخزن invoice فواتير فاتورة payment دفوعات دفعة
			shipment شحن شحنة item بنود بند billing x فوترة delivery x توصيل parent x أصل manager x رئيس
			name x اسم status x حالة year x سنة quantity x كمية date x تاريخ line x سطر`),
		//nolint:staticcheck // Persian divides words by U+200C
		"persian": words(`customer مشتریان مشتری order سفارش‌ها سفارش product کالاها کالا category دسته‌ها دسته
			employee کارکنان کارمند department بخش‌ها بخش supplier تامین‌کنندگان تامین‌کننده address نشانی‌ها نشانی
			country کشورها کشور warehouse انبارها انبار invoice فاکتورها فاکتور payment پرداخت‌ها پرداخت
			shipment محموله‌ها محموله item اقلام قلم billing x صورتحساب delivery x تحویل parent x والد manager x مدیر
			name x نام status x وضعیت year x سال quantity x تعداد date x تاریخ line x ردیف`),
		"ukrainian": words(`customer клієнти клієнта order замовлення замовлення product товари товару category категорії категорії
			employee працівники працівника department відділи відділу supplier постачальники постачальника address адреси адреси
			country країни країни warehouse склади складу invoice рахунки рахунку payment платежі платежу
			shipment відправлення відправлення item позиції позиції billing x розрахункова delivery x доставки parent x батьківська manager x керівник
			name x назва status x стан year x рік quantity x кількість date x дата line x рядок`),
		"finnish": words(`customer asiakkaat asiakas order tilaukset tilaus product tuotteet tuote category luokat luokka
			employee työntekijät työntekijä department osastot osasto supplier toimittajat toimittaja address osoitteet osoite
			country maat maa warehouse varastot varasto invoice laskut lasku payment maksut maksu
			shipment lähetykset lähetys item rivit rivi billing x laskutus delivery x toimitus parent x ylempi manager x esimies
			name x nimi status x tila year x vuosi quantity x määrä date x päivä line x rivinro`),
		"indonesian": words(`customer pelanggan pelanggan order pesanan pesanan product produk produk category kategori kategori
			employee karyawan karyawan department departemen departemen supplier pemasok pemasok address alamat alamat
			country negara negara warehouse gudang gudang invoice faktur faktur payment pembayaran pembayaran
			shipment pengiriman pengiriman item barang barang billing x tagihan delivery x kirim parent x induk manager x atasan
			name x nama status x status year x tahun quantity x jumlah date x tanggal line x baris`),
		"hungarian": words(`customer ügyfelek ügyfél order rendelések rendelés product termékek termék category kategóriák kategória
			employee dolgozók dolgozó department osztályok osztály supplier szállítók szállító address címek cím
			country országok ország warehouse raktárak raktár invoice számlák számla payment fizetések fizetés
			shipment szállítmányok szállítmány item tételek tétel billing x számlázási delivery x kézbesítési parent x szülő manager x vezető
			name x név status x állapot year x év quantity x mennyiség date x dátum line x sor`),
		"vietnamese": words(`customer khách_hàng khách_hàng order đơn_hàng đơn_hàng product sản_phẩm sản_phẩm category danh_mục danh_mục
			employee nhân_viên nhân_viên department phòng_ban phòng_ban supplier nhà_cung_cấp nhà_cung_cấp address địa_chỉ địa_chỉ
			country quốc_gia quốc_gia warehouse kho kho invoice hóa_đơn hóa_đơn payment thanh_toán thanh_toán
			shipment lô_hàng lô_hàng item mục mục billing x lập_phiếu delivery x giao parent x cha manager x quản_lý
			name x tên status x trạng_thái year x năm quantity x số_lượng date x ngày line x dòng`),
		"bengali": words(`customer গ্রাহকগণ গ্রাহক order আদেশসমূহ আদেশ product পণ্যসমূহ পণ্য category শ্রেণীসমূহ শ্রেণী
			employee কর্মচারীগণ কর্মচারী department বিভাগসমূহ বিভাগ supplier সরবরাহকারীগণ সরবরাহকারী address ঠিকানাসমূহ ঠিকানা
			country দেশসমূহ দেশ warehouse গুদামসমূহ গুদাম invoice চালানসমূহ চালান payment পরিশোধসমূহ পরিশোধ
			shipment প্রেরণসমূহ প্রেরণ item দফাসমূহ দফা billing x বিলিং delivery x বিতরণ parent x মূল manager x ব্যবস্থাপক
			name x নাম status x অবস্থা year x বছর quantity x পরিমাণ date x তারিখ line x সারি`),
		"portuguese": words(`customer clientes cliente order pedidos pedido product produtos produto category categorias categoria
			employee funcionarios funcionario department setores setor supplier fornecedores fornecedor address enderecos endereco
			country paises pais warehouse armazens armazem invoice faturas fatura payment pagamentos pagamento
			shipment remessas remessa item itens item billing x cobranca delivery x entrega parent x pai manager x gestor
			name x nome status x situacao year x ano quantity x quantidade date x data line x linha`),
		"dutch": words(`customer klanten klant order bestellingen bestelling product artikelen artikel category rubrieken rubriek
			employee medewerkers medewerker department afdelingen afdeling supplier leveranciers leverancier address adressen adres
			country landen land warehouse magazijnen magazijn invoice facturen factuur payment betalingen betaling
			shipment zendingen zending item regels regel billing x factuur delivery x aflever parent x bovenliggende manager x leidinggevende
			name x naam status x status year x jaar quantity x aantal date x datum line x volgnr`),
		"danish": words(`customer kunder kunde order ordrer ordre product varer vare category kategorier kategori
			employee medarbejdere medarbejder department afdelinger afdeling supplier leverandører leverandør address adresser adresse
			country lande land warehouse lagre lager invoice fakturaer faktura payment betalinger betaling
			shipment forsendelser forsendelse item linjer linje billing x fakturerings delivery x leverings parent x overordnet manager x leder
			name x navn status x status year x år quantity x antal date x dato line x position`),
		"czech": words(`customer zákazníci zákazník order objednávky objednávka product výrobky výrobek category kategorie kategorie
			employee zaměstnanci zaměstnanec department oddělení oddělení supplier dodavatelé dodavatel address adresy adresa
			country země země warehouse sklady sklad invoice faktury faktura payment platby platba
			shipment zásilky zásilka item položky položka billing x fakturační delivery x dodací parent x nadřazená manager x vedoucí
			name x název status x stav year x rok quantity x množství date x datum line x řádek`),
		"romanian": words(`customer clienti client order comenzi comanda product produse produs category categorii categorie
			employee angajati angajat department departamente departament supplier furnizori furnizor address adrese adresa
			country tari tara warehouse depozite depozit invoice facturi factura payment plati plata
			shipment livrari livrare item articole articol billing x facturare delivery x expediere parent x parinte manager x sef
			name x nume status x stare year x an quantity x cantitate date x zi line x rand`),
		"croatian": words(`customer kupci kupac order narudžbe narudžba product proizvodi proizvod category kategorije kategorija
			employee zaposlenici zaposlenik department odjeli odjel supplier dobavljači dobavljač address adrese adresa
			country države država warehouse skladišta skladište invoice računi račun payment plaćanja plaćanje
			shipment pošiljke pošiljka item stavke stavka billing x naplatna delivery x dostavna parent x nadređena manager x voditelj
			name x naziv status x stanje year x godina quantity x količina date x dan line x redak`),
		"lithuanian": words(`customer klientai klientas order užsakymai užsakymas product prekės prekė category kategorijos kategorija
			employee darbuotojai darbuotojas department skyriai skyrius supplier tiekėjai tiekėjas address adresai adresas
			country šalys šalis warehouse sandėliai sandėlis invoice sąskaitos sąskaita payment mokėjimai mokėjimas
			shipment siuntos siunta item eilutės eilutė billing x atsiskaitymo delivery x pristatymo parent x tėvinė manager x vadovas
			name x pavadinimas status x būsena year x metai quantity x kiekis date x data line x numeris`),
		"armenian": words(`customer հաճախորդներ հաճախորդ order պատվերներ պատվեր product ապրանքներ ապրանք category կատեգորիաներ կատեգորիա
			employee աշխատակիցներ աշխատակից department բաժիններ բաժին supplier մատակարարներ մատակարար address հասցեներ հասցե
			country երկրներ երկիր warehouse պահեստներ պահեստ invoice հաշիվներ հաշիվ payment վճարումներ վճարում
			shipment առաքումներ առաքում item տողեր տող billing x վճարային delivery x առաքման parent x ծնող manager x ղեկավար
			name x անուն status x վիճակ year x տարի quantity x քանակ date x ամսաթիվ line x հերթ`),
		"tamil": words(`customer வாடிக்கையாளர்கள் வாடிக்கையாளர் order ஆணைகள் ஆணை product பொருட்கள் பொருள் category வகைகள் வகை
			employee ஊழியர்கள் ஊழியர் department துறைகள் துறை supplier வழங்குநர்கள் வழங்குநர் address முகவரிகள் முகவரி
			country நாடுகள் நாடு warehouse கிடங்குகள் கிடங்கு invoice பட்டியல்கள் பட்டியல் payment கட்டணங்கள் கட்டணம்
			shipment அனுப்புதல்கள் அனுப்புதல் item உருப்படிகள் உருப்படி billing x பில்லிங் delivery x விநியோக parent x மூல manager x மேலாளர்
			name x பெயர் status x நிலை year x ஆண்டு quantity x அளவு date x தேதி line x வரி`),
		"urdu": words(`customer گاہکوں گاہک order آرڈرز آرڈر product مصنوعات مصنوعہ category زمرے زمرہ
			employee ملازمین ملازم department شعبے شعبہ supplier فراہم_کنندگان فراہم_کنندہ address پتے پتہ
			country ممالک ملک warehouse گودام گودام invoice رسیدیں رسید payment ادائیگیاں ادائیگی
			shipment ترسیلات ترسیل item اشیا شے billing x بلنگ delivery x حوالگی parent x والد manager x نگران
			name x نام status x حالت year x سال quantity x تعداد date x تاریخ line x سطر`),
		"kazakh": words(`customer клиенттер клиент order тапсырыстар тапсырыс product тауарлар тауар category санаттар санат
			employee қызметкерлер қызметкер department бөлімдер бөлім supplier жеткізушілер жеткізуші address мекенжайлар мекенжай
			country елдер ел warehouse қоймалар қойма invoice шоттар шот payment төлемдер төлем
			shipment жөнелтілімдер жөнелтілім item жолдар жол billing x төлемдік delivery x жеткізу parent x аталық manager x басшы
			name x атауы status x күйі year x жыл quantity x саны date x күні line x реті`),
		"swahili": words(`customer wateja mteja order maagizo agizo product bidhaa bidhaa category makundi kundi
			employee wafanyakazi mfanyakazi department idara idara supplier wasambazaji msambazaji address anwani anwani
			country nchi nchi warehouse maghala ghala invoice ankara ankara payment malipo lipo
			shipment mizigo mzigo item vipengele kipengele billing x bili delivery x uwasilishaji parent x mzazi manager x msimamizi
			name x jina status x hali year x mwaka quantity x kiasi date x tarehe line x mstari`),
		"icelandic": words(`customer viðskiptavinir viðskiptavinur order pantanir pöntun product vörur vara category flokkar flokkur
			employee starfsmenn starfsmaður department deildir deild supplier birgjar birgir address heimilisföng heimilisfang
			country lönd land warehouse vöruhús vöruhús invoice reikningar reikningur payment greiðslur greiðsla
			shipment sendingar sending item atriði atriði billing x greiðslu delivery x afhendingar parent x yfir manager x yfirmaður
			name x nafn status x staða year x ár quantity x magn date x dagur line x lína`),
		"albanian": words(`customer klientët klienti order porositë porosia product produktet produkti category kategoritë kategoria
			employee punonjësit punonjësi department departamentet departamenti supplier furnitorët furnitori address adresat adresa
			country shtetet shteti warehouse magazinat magazina invoice faturat fatura payment pagesat pagesa
			shipment dërgesat dërgesa item artikujt artikulli billing x faturimi delivery x dorëzimi parent x prindi manager x drejtuesi
			name x emri status x gjendja year x viti quantity x sasia date x data line x rreshti`),
		"azerbaijani": words(`customer müştərilər müştəri order sifarişlər sifariş product məhsullar məhsul category kateqoriyalar kateqoriya
			employee işçilər işçi department şöbələr şöbə supplier təchizatçılar təchizatçı address ünvanlar ünvan
			country ölkələr ölkə warehouse anbarlar anbar invoice fakturalar faktura payment ödənişlər ödəniş
			shipment göndərişlər göndəriş item sətirlər sətir billing x hesab delivery x çatdırılma parent x valideyn manager x rəhbər
			name x ad status x vəziyyət year x il quantity x miqdar date x tarix line x sıra`),
		"telugu": words(`customer వినియోగదారులు వినియోగదారు order ఆదేశాలు ఆదేశం product ఉత్పత్తులు ఉత్పత్తి category వర్గాలు వర్గం
			employee ఉద్యోగులు ఉద్యోగి department విభాగాలు విభాగం supplier సరఫరాదారులు సరఫరాదారు address చిరునామాలు చిరునామా
			country దేశాలు దేశం warehouse గిడ్డంగులు గిడ్డంగి invoice ఇన్వాయిస్లు ఇన్వాయిస్ payment చెల్లింపులు చెల్లింపు
			shipment రవాణాలు రవాణా item అంశాలు అంశం billing x బిల్లింగ్ delivery x పంపిణీ parent x మాతృ manager x నిర్వాహకుడు
			name x పేరు status x స్థితి year x సంవత్సరం quantity x పరిమాణం date x తేదీ line x వరుస`),
		"amharic": words(`customer ደንበኞች ደንበኛ order ትዕዛዞች ትዕዛዝ product ምርቶች ምርት category ምድቦች ምድብ
			employee ሠራተኞች ሠራተኛ department ክፍሎች ክፍል supplier አቅራቢዎች አቅራቢ address አድራሻዎች አድራሻ
			country አገሮች አገር warehouse መጋዘኖች መጋዘን invoice ደረሰኞች ደረሰኝ payment ክፍያዎች ክፍያ
			shipment ጭነቶች ጭነት item ዕቃዎች ዕቃ billing x የሂሳብ delivery x የመላኪያ parent x ወላጅ manager x ኃላፊ
			name x ስም status x ሁኔታ year x ዓመት quantity x ብዛት date x ቀን line x መስመር`),
		"latvian": words(`customer klienti klients order pasūtījumi pasūtījums product preces prece category kategorijas kategorija
			employee darbinieki darbinieks department nodaļas nodaļa supplier piegādātāji piegādātājs address adreses adrese
			country valstis valsts warehouse noliktavas noliktava invoice rēķini rēķins payment maksājumi maksājums
			shipment sūtījumi sūtījums item rindas rinda billing x norēķinu delivery x piegādes parent x vecāks manager x vadītājs
			name x nosaukums status x stāvoklis year x gads quantity x daudzums date x datums line x kārta`),
	}
}

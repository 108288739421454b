package postgres

import "github.com/ktxhq/ktx/sqlguard"

//go:generate env CGO_ENABLED=1 go run ../internal/gen/pgwalk -dir . -out walk_gen_cgo.go
//go:generate env CGO_ENABLED=0 go run ../internal/gen/pgwalk -dir . -out walk_gen_nocgo.go

// nodeKind is a kind of node of the parser; its values are generated.
type nodeKind uint16

// nodeClass says what the walker does with a kind of node.
type nodeClass uint8

const (
	// nodeRefused is the class of every kind that is not listed: no read has it, or
	// its meaning was not reviewed.
	nodeRefused nodeClass = iota
	// nodePlain is a node without effects of its own: the walk visits its
	// fields.
	nodePlain
	// nodeJudged has a judge of its own.
	nodeJudged
	// nodeStatement is a statement other than a read: refused, and its fields
	// are not visited.
	nodeStatement
	// nodeOpenStatement is a statement other than a read whose fields are
	// visited, so that the verdict has all findings inside of it.
	nodeOpenStatement
	// nodePart is a part of statements other than reads: visited there, refused
	// anywhere else.
	nodePart
	// nodeInternal is a node that the server makes after parsing. A parser never
	// returns it.
	nodeInternal
)

// nodeRule is the reviewed verdict on one kind of node.
type nodeRule struct {
	class nodeClass
	verb  sqlguard.Verb // for a statement
	code  sqlguard.Code // for a statement that is refused
}

// nodeTable holds the rule of every kind of node by its name, for both
// parsers. A test compares it with the kinds that the parsers know.
var nodeTable = map[string]nodeRule{
	// Expressions, clauses and values that any read may have.
	"A_Const":            {class: nodePlain},
	"A_Indices":          {class: nodePlain},
	"A_Star":             {class: nodePlain},
	"Alias":              {class: nodePlain},
	"BitString":          {class: nodePlain},
	"BoolExpr":           {class: nodePlain},
	"Boolean":            {class: nodePlain},
	"BooleanTest":        {class: nodePlain},
	"CTECycleClause":     {class: nodePlain},
	"CTESearchClause":    {class: nodePlain},
	"CaseWhen":           {class: nodePlain},
	"CoalesceExpr":       {class: nodePlain},
	"CollateClause":      {class: nodePlain},
	"ColumnDef":          {class: nodePlain},
	"DefElem":            {class: nodePlain},
	"Float":              {class: nodePlain},
	"GroupingFunc":       {class: nodePlain},
	"GroupingSet":        {class: nodePlain},
	"Integer":            {class: nodePlain},
	"JsonAggConstructor": {class: nodePlain},
	"JsonArgument":       {class: nodePlain},
	"JsonBehavior":       {class: nodePlain},
	"JsonFormat":         {class: nodePlain},
	"JsonIsPredicate":    {class: nodePlain},
	"JsonKeyValue":       {class: nodePlain},
	"JsonOutput":         {class: nodePlain},
	"JsonReturning":      {class: nodePlain},
	"JsonTableColumn":    {class: nodePlain},
	"JsonTablePathSpec":  {class: nodePlain},
	"JsonValueExpr":      {class: nodePlain},
	"List":               {class: nodePlain},
	"MinMaxExpr":         {class: nodePlain},
	"NamedArgExpr":       {class: nodePlain},
	"NullTest":           {class: nodePlain},
	"RangeSubselect":     {class: nodePlain},
	"RangeTableFunc":     {class: nodePlain},
	"RangeTableFuncCol":  {class: nodePlain},
	"ResTarget":          {class: nodePlain},
	"RowExpr":            {class: nodePlain},
	"String":             {class: nodePlain},
	"TypeCast":           {class: nodePlain},
	"WindowDef":          {class: nodePlain},
	"XmlExpr":            {class: nodePlain},
	"XmlSerialize":       {class: nodePlain},

	// Reads, and nodes with a judge: names, scopes, calls, locks, writes.
	"A_ArrayExpr":               {class: nodeJudged},
	"A_Expr":                    {class: nodeJudged},
	"A_Indirection":             {class: nodeJudged},
	"CaseExpr":                  {class: nodeJudged},
	"ColumnRef":                 {class: nodeJudged},
	"CommonTableExpr":           {class: nodeJudged},
	"CopyStmt":                  {class: nodeJudged, verb: "copy", code: sqlguard.CodeWriteStatement},
	"CreateTableAsStmt":         {class: nodeJudged, verb: "create_table_as", code: sqlguard.CodeDDLStatement},
	"DeleteStmt":                {class: nodeJudged, verb: "delete", code: sqlguard.CodeWriteStatement},
	"ExplainStmt":               {class: nodeJudged, verb: sqlguard.VerbExplain},
	"FuncCall":                  {class: nodeJudged},
	"InsertStmt":                {class: nodeJudged, verb: "insert", code: sqlguard.CodeWriteStatement},
	"IntoClause":                {class: nodeJudged},
	"JoinExpr":                  {class: nodeJudged},
	"JsonArrayAgg":              {class: nodeJudged},
	"JsonArrayConstructor":      {class: nodeJudged},
	"JsonArrayQueryConstructor": {class: nodeJudged},
	"JsonFuncExpr":              {class: nodeJudged},
	"JsonObjectAgg":             {class: nodeJudged},
	"JsonObjectConstructor":     {class: nodeJudged},
	"JsonParseExpr":             {class: nodeJudged},
	"JsonScalarExpr":            {class: nodeJudged},
	"JsonSerializeExpr":         {class: nodeJudged},
	"JsonTable":                 {class: nodeJudged},
	"LockingClause":             {class: nodeJudged},
	"MergeStmt":                 {class: nodeJudged, verb: "merge", code: sqlguard.CodeWriteStatement},
	"MergeSupportFunc":          {class: nodeJudged},
	"ParamRef":                  {class: nodeJudged},
	"RangeFunction":             {class: nodeJudged},
	"RangeTableSample":          {class: nodeJudged},
	"RangeVar":                  {class: nodeJudged},
	"SQLValueFunction":          {class: nodeJudged},
	"SelectStmt":                {class: nodeJudged, verb: sqlguard.VerbSelect},
	"SetToDefault":              {class: nodeJudged},
	"SortBy":                    {class: nodeJudged},
	"SubLink":                   {class: nodeJudged},
	"TypeName":                  {class: nodeJudged},
	"UpdateStmt":                {class: nodeJudged, verb: "update", code: sqlguard.CodeWriteStatement},
	"VariableSetStmt":           {class: nodeJudged, verb: "set", code: sqlguard.CodeSessionChange},
	"VariableShowStmt":          {class: nodeJudged, verb: sqlguard.VerbShow},
	"WithClause":                {class: nodeJudged},

	// Statements that change the schema.
	"CreateStmt":                   {nodeStatement, "create_table", sqlguard.CodeDDLStatement},
	"CreateForeignTableStmt":       {nodeStatement, "create_foreign_table", sqlguard.CodeDDLStatement},
	"ViewStmt":                     {nodeOpenStatement, "create_view", sqlguard.CodeDDLStatement},
	"IndexStmt":                    {nodeStatement, "create_index", sqlguard.CodeDDLStatement},
	"CreateSchemaStmt":             {nodeStatement, "create_schema", sqlguard.CodeDDLStatement},
	"CreateSeqStmt":                {nodeStatement, "create_sequence", sqlguard.CodeDDLStatement},
	"AlterSeqStmt":                 {nodeStatement, "alter_sequence", sqlguard.CodeDDLStatement},
	"CreateFunctionStmt":           {nodeStatement, "create_function", sqlguard.CodeDDLStatement},
	"AlterFunctionStmt":            {nodeStatement, "alter_function", sqlguard.CodeDDLStatement},
	"CreateTrigStmt":               {nodeStatement, "create_trigger", sqlguard.CodeDDLStatement},
	"CreateEventTrigStmt":          {nodeStatement, "create_event_trigger", sqlguard.CodeDDLStatement},
	"AlterEventTrigStmt":           {nodeStatement, "alter_event_trigger", sqlguard.CodeDDLStatement},
	"CreatePLangStmt":              {nodeStatement, "create_language", sqlguard.CodeDDLStatement},
	"CreateExtensionStmt":          {nodeStatement, "create_extension", sqlguard.CodeDDLStatement},
	"AlterExtensionStmt":           {nodeStatement, "alter_extension", sqlguard.CodeDDLStatement},
	"AlterExtensionContentsStmt":   {nodeStatement, "alter_extension", sqlguard.CodeDDLStatement},
	"CreateFdwStmt":                {nodeStatement, "create_foreign_data_wrapper", sqlguard.CodeDDLStatement},
	"AlterFdwStmt":                 {nodeStatement, "alter_foreign_data_wrapper", sqlguard.CodeDDLStatement},
	"CreateForeignServerStmt":      {nodeStatement, "create_server", sqlguard.CodeDDLStatement},
	"AlterForeignServerStmt":       {nodeStatement, "alter_server", sqlguard.CodeDDLStatement},
	"ImportForeignSchemaStmt":      {nodeStatement, "import_foreign_schema", sqlguard.CodeDDLStatement},
	"CreateAmStmt":                 {nodeStatement, "create_access_method", sqlguard.CodeDDLStatement},
	"CreateCastStmt":               {nodeStatement, "create_cast", sqlguard.CodeDDLStatement},
	"CreateConversionStmt":         {nodeStatement, "create_conversion", sqlguard.CodeDDLStatement},
	"CreateTransformStmt":          {nodeStatement, "create_transform", sqlguard.CodeDDLStatement},
	"CreateDomainStmt":             {nodeStatement, "create_domain", sqlguard.CodeDDLStatement},
	"AlterDomainStmt":              {nodeStatement, "alter_domain", sqlguard.CodeDDLStatement},
	"CreateOpClassStmt":            {nodeStatement, "create_operator_class", sqlguard.CodeDDLStatement},
	"CreateOpFamilyStmt":           {nodeStatement, "create_operator_family", sqlguard.CodeDDLStatement},
	"AlterOpFamilyStmt":            {nodeStatement, "alter_operator_family", sqlguard.CodeDDLStatement},
	"AlterOperatorStmt":            {nodeStatement, "alter_operator", sqlguard.CodeDDLStatement},
	"DefineStmt":                   {nodeStatement, "create", sqlguard.CodeDDLStatement},
	"CompositeTypeStmt":            {nodeStatement, "create_type", sqlguard.CodeDDLStatement},
	"CreateEnumStmt":               {nodeStatement, "create_type", sqlguard.CodeDDLStatement},
	"CreateRangeStmt":              {nodeStatement, "create_type", sqlguard.CodeDDLStatement},
	"AlterEnumStmt":                {nodeStatement, "alter_type", sqlguard.CodeDDLStatement},
	"AlterTypeStmt":                {nodeStatement, "alter_type", sqlguard.CodeDDLStatement},
	"AlterCollationStmt":           {nodeStatement, "alter_collation", sqlguard.CodeDDLStatement},
	"CreateStatsStmt":              {nodeStatement, "create_statistics", sqlguard.CodeDDLStatement},
	"AlterStatsStmt":               {nodeStatement, "alter_statistics", sqlguard.CodeDDLStatement},
	"CreatePublicationStmt":        {nodeStatement, "create_publication", sqlguard.CodeDDLStatement},
	"AlterPublicationStmt":         {nodeStatement, "alter_publication", sqlguard.CodeDDLStatement},
	"CreateSubscriptionStmt":       {nodeStatement, "create_subscription", sqlguard.CodeDDLStatement},
	"AlterSubscriptionStmt":        {nodeStatement, "alter_subscription", sqlguard.CodeDDLStatement},
	"DropSubscriptionStmt":         {nodeStatement, "drop_subscription", sqlguard.CodeDDLStatement},
	"AlterTSDictionaryStmt":        {nodeStatement, "alter_text_search_dictionary", sqlguard.CodeDDLStatement},
	"AlterTSConfigurationStmt":     {nodeStatement, "alter_text_search_configuration", sqlguard.CodeDDLStatement},
	"RuleStmt":                     {nodeStatement, "create_rule", sqlguard.CodeDDLStatement},
	"AlterTableStmt":               {nodeStatement, "alter_table", sqlguard.CodeDDLStatement},
	"RenameStmt":                   {nodeStatement, "alter", sqlguard.CodeDDLStatement},
	"AlterObjectSchemaStmt":        {nodeStatement, "alter", sqlguard.CodeDDLStatement},
	"AlterObjectDependsStmt":       {nodeStatement, "alter", sqlguard.CodeDDLStatement},
	"CommentStmt":                  {nodeStatement, "comment", sqlguard.CodeDDLStatement},
	"SecLabelStmt":                 {nodeStatement, "security_label", sqlguard.CodeDDLStatement},
	"DropStmt":                     {nodeStatement, "drop", sqlguard.CodeDDLStatement},
	"CreatedbStmt":                 {nodeStatement, "create_database", sqlguard.CodeDDLStatement},
	"AlterDatabaseStmt":            {nodeStatement, "alter_database", sqlguard.CodeDDLStatement},
	"AlterDatabaseRefreshCollStmt": {nodeStatement, "alter_database", sqlguard.CodeDDLStatement},
	"AlterDatabaseSetStmt":         {nodeStatement, "alter_database", sqlguard.CodeDDLStatement},
	"DropdbStmt":                   {nodeStatement, "drop_database", sqlguard.CodeDDLStatement},
	"CreateTableSpaceStmt":         {nodeStatement, "create_tablespace", sqlguard.CodeDDLStatement},
	"DropTableSpaceStmt":           {nodeStatement, "drop_tablespace", sqlguard.CodeDDLStatement},
	"AlterTableSpaceOptionsStmt":   {nodeStatement, "alter_tablespace", sqlguard.CodeDDLStatement},
	"AlterTableMoveAllStmt":        {nodeStatement, "alter_table", sqlguard.CodeDDLStatement},

	// Statements that change roles, grants or ownership.
	"GrantStmt":                  {nodeStatement, "grant", sqlguard.CodePrivilegeStatement},
	"GrantRoleStmt":              {nodeStatement, "grant", sqlguard.CodePrivilegeStatement},
	"AlterDefaultPrivilegesStmt": {nodeStatement, "alter_default_privileges", sqlguard.CodePrivilegeStatement},
	"AlterOwnerStmt":             {nodeStatement, "alter", sqlguard.CodePrivilegeStatement},
	"CreateRoleStmt":             {nodeStatement, "create_role", sqlguard.CodePrivilegeStatement},
	"AlterRoleStmt":              {nodeStatement, "alter_role", sqlguard.CodePrivilegeStatement},
	"AlterRoleSetStmt":           {nodeStatement, "alter_role", sqlguard.CodePrivilegeStatement},
	"DropRoleStmt":               {nodeStatement, "drop_role", sqlguard.CodePrivilegeStatement},
	"DropOwnedStmt":              {nodeStatement, "drop_owned", sqlguard.CodePrivilegeStatement},
	"ReassignOwnedStmt":          {nodeStatement, "reassign_owned", sqlguard.CodePrivilegeStatement},
	"CreatePolicyStmt":           {nodeStatement, "create_policy", sqlguard.CodePrivilegeStatement},
	"AlterPolicyStmt":            {nodeStatement, "alter_policy", sqlguard.CodePrivilegeStatement},
	"CreateUserMappingStmt":      {nodeStatement, "create_user_mapping", sqlguard.CodePrivilegeStatement},
	"AlterUserMappingStmt":       {nodeStatement, "alter_user_mapping", sqlguard.CodePrivilegeStatement},
	"DropUserMappingStmt":        {nodeStatement, "drop_user_mapping", sqlguard.CodePrivilegeStatement},

	// Statements that change data or statistics.
	"TruncateStmt":       {nodeOpenStatement, "truncate", sqlguard.CodeWriteStatement},
	"RefreshMatViewStmt": {nodeOpenStatement, "refresh_materialized_view", sqlguard.CodeWriteStatement},
	"ClusterStmt":        {nodeOpenStatement, "cluster", sqlguard.CodeWriteStatement},
	"ReindexStmt":        {nodeOpenStatement, "reindex", sqlguard.CodeWriteStatement},
	"VacuumStmt":         {nodeOpenStatement, "vacuum", sqlguard.CodeWriteStatement},

	// Statements that change the transaction.
	"TransactionStmt":    {nodeStatement, "transaction", sqlguard.CodeTransactionControl},
	"ConstraintsSetStmt": {nodeOpenStatement, "set_constraints", sqlguard.CodeTransactionControl},

	// Statements that change or use the state of the session, or settings.
	"DiscardStmt":       {nodeStatement, "discard", sqlguard.CodeSessionChange},
	"DeclareCursorStmt": {nodeOpenStatement, "declare", sqlguard.CodeSessionChange},
	"ClosePortalStmt":   {nodeStatement, "close", sqlguard.CodeSessionChange},
	"FetchStmt":         {nodeStatement, "fetch", sqlguard.CodeSessionChange},
	"ListenStmt":        {nodeStatement, "listen", sqlguard.CodeSessionChange},
	"UnlistenStmt":      {nodeStatement, "unlisten", sqlguard.CodeSessionChange},
	"LoadStmt":          {nodeStatement, "load", sqlguard.CodeSessionChange},
	"NotifyStmt":        {nodeStatement, "notify", sqlguard.CodeSessionChange},
	"AlterSystemStmt":   {nodeStatement, "alter_system", sqlguard.CodeSessionChange},

	// Prepared statements.
	"PrepareStmt":    {nodeOpenStatement, "prepare", sqlguard.CodeDynamicSQL},
	"ExecuteStmt":    {nodeOpenStatement, "execute", sqlguard.CodeDynamicSQL},
	"DeallocateStmt": {nodeStatement, "deallocate", sqlguard.CodeDynamicSQL},

	// Code.
	"DoStmt":         {nodeStatement, "do", sqlguard.CodeProceduralBlock},
	"CallStmt":       {nodeOpenStatement, "call", sqlguard.CodeProcedureCall},
	"LockStmt":       {nodeOpenStatement, "lock", sqlguard.CodeLockingClause},
	"CheckPointStmt": {nodeStatement, "checkpoint", sqlguard.CodeStatementNotAllowed},
	"ReturnStmt":     {nodeOpenStatement, "return", sqlguard.CodeStatementNotAllowed},
	"PLAssignStmt":   {nodeStatement, "assignment", sqlguard.CodeStatementNotAllowed},

	// Parts of the open statements.
	"CurrentOfExpr":    {class: nodePart},
	"IndexElem":        {class: nodePart},
	"InferClause":      {class: nodePart},
	"MergeWhenClause":  {class: nodePart},
	"MultiAssignRef":   {class: nodePart},
	"OnConflictClause": {class: nodePart},
	"ReturningClause":  {class: nodePart},
	"ReturningOption":  {class: nodePart},
	"RoleSpec":         {class: nodePart},
	"VacuumRelation":   {class: nodePart},

	// Parts of statements that the walk does not visit.
	"ATAlterConstraint":   {class: nodeRefused},
	"AccessPriv":          {class: nodeRefused},
	"AlterTableCmd":       {class: nodeRefused},
	"Constraint":          {class: nodeRefused},
	"CreateOpClassItem":   {class: nodeRefused},
	"FunctionParameter":   {class: nodeRefused},
	"ObjectWithArgs":      {class: nodeRefused},
	"PartitionBoundSpec":  {class: nodeRefused},
	"PartitionCmd":        {class: nodeRefused},
	"PartitionElem":       {class: nodeRefused},
	"PartitionRangeDatum": {class: nodeRefused},
	"PartitionSpec":       {class: nodeRefused},
	"PublicationObjSpec":  {class: nodeRefused},
	"PublicationTable":    {class: nodeRefused},
	"ReplicaIdentityStmt": {class: nodeRefused},
	"SinglePartitionSpec": {class: nodeRefused},
	"StatsElem":           {class: nodeRefused},
	"TableLikeClause":     {class: nodeRefused},
	"TriggerTransition":   {class: nodeRefused},

	// Nodes that the server creates from the parse tree later.
	"Aggref":                 {class: nodeInternal},
	"AlternativeSubPlan":     {class: nodeInternal},
	"ArrayCoerceExpr":        {class: nodeInternal},
	"ArrayExpr":              {class: nodeInternal},
	"CallContext":            {class: nodeInternal},
	"CaseTestExpr":           {class: nodeInternal},
	"CoerceToDomain":         {class: nodeInternal},
	"CoerceToDomainValue":    {class: nodeInternal},
	"CoerceViaIO":            {class: nodeInternal},
	"CollateExpr":            {class: nodeInternal},
	"ConvertRowtypeExpr":     {class: nodeInternal},
	"DistinctExpr":           {class: nodeInternal},
	"FieldSelect":            {class: nodeInternal},
	"FieldStore":             {class: nodeInternal},
	"FromExpr":               {class: nodeInternal},
	"FuncExpr":               {class: nodeInternal},
	"InferenceElem":          {class: nodeInternal},
	"InlineCodeBlock":        {class: nodeInternal},
	"IntList":                {class: nodeInternal},
	"JsonConstructorExpr":    {class: nodeInternal},
	"JsonExpr":               {class: nodeInternal},
	"JsonTablePath":          {class: nodeInternal},
	"JsonTablePathScan":      {class: nodeInternal},
	"JsonTableSiblingJoin":   {class: nodeInternal},
	"MergeAction":            {class: nodeInternal},
	"NextValueExpr":          {class: nodeInternal},
	"NullIfExpr":             {class: nodeInternal},
	"OidList":                {class: nodeInternal},
	"OnConflictExpr":         {class: nodeInternal},
	"OpExpr":                 {class: nodeInternal},
	"Param":                  {class: nodeInternal},
	"Query":                  {class: nodeInternal},
	"RTEPermissionInfo":      {class: nodeInternal},
	"RangeTblEntry":          {class: nodeInternal},
	"RangeTblFunction":       {class: nodeInternal},
	"RangeTblRef":            {class: nodeInternal},
	"RawStmt":                {class: nodeInternal},
	"RelabelType":            {class: nodeInternal},
	"ReturningExpr":          {class: nodeInternal},
	"RowCompareExpr":         {class: nodeInternal},
	"RowMarkClause":          {class: nodeInternal},
	"ScalarArrayOpExpr":      {class: nodeInternal},
	"SetOperationStmt":       {class: nodeInternal},
	"SortGroupClause":        {class: nodeInternal},
	"SubPlan":                {class: nodeInternal},
	"SubscriptingRef":        {class: nodeInternal},
	"TableFunc":              {class: nodeInternal},
	"TableSampleClause":      {class: nodeInternal},
	"TargetEntry":            {class: nodeInternal},
	"Var":                    {class: nodeInternal},
	"WindowClause":           {class: nodeInternal},
	"WindowFunc":             {class: nodeInternal},
	"WindowFuncRunCondition": {class: nodeInternal},
	"WithCheckOption":        {class: nodeInternal},
}

// nodeRules is nodeTable by kind. A kind that the table does not list has the
// zero rule: it is refused.
var nodeRules = func() (rules [len(nodeNames)]nodeRule) {
	for kind, name := range nodeNames {
		rules[kind] = nodeTable[name]
	}
	return rules
}()

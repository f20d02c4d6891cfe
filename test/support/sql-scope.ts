// Finds the tenant tables in a SQL statement, and what binds each of them to a project. Uses the parser of Postgres:
// the nodes of the tree are those of its parsenodes.h and primnodes.h.
import type * as Ast from 'libpg-query';
import { type Node, parseSync, scanSync } from 'libpg-query';

export interface Catalogue {
  /** The columns of each tenant table, by its name. */
  tables: Map<string, Set<string>>;
  /** Tables without a `project_id`, and the column that references the parent row, which has one. */
  parents: Map<string, string>;
  /** Database functions that use a tenant table, and whether the project is one of their arguments. */
  functions: Map<string, { takesProject: boolean }>;
}

/** One use of a tenant table, of a function that uses one, or of rows that come from elsewhere in the statement. */
export interface Ref {
  kind: 'table' | 'call' | 'query' | 'input';
  name: string;
  /** Compared with a project that is passed in from outside the statement. */
  bound: boolean;
  /** Parameter numbers whose values are ids of its rows or of their parents; each list is sufficient. */
  keys: number[][];
  /** Joined by an id: bound when one of these is. */
  joined: Set<Ref>;
  /** For an input: the parameters it consists of. */
  params: number[];
}

/** The names that a query can use. */
interface Scope {
  outer: Scope | undefined;
  commonTables: Map<string, Ref>;
  from: { alias: string; ref: Ref }[];
}

/** Where a value comes from: a column, a query, or parameters. */
type Source = { ref: Ref; column: string } | undefined;
type Statement = Ast.SelectStmt & Ast.InsertStmt & Ast.UpdateStmt & Ast.DeleteStmt;
type FromItem = Ast.RangeSubselect & Ast.RangeFunction;

/** Nodes of an expression that has the same value for every row. */
const VALUE_NODES = 'ParamRef A_Const TypeCast FuncCall CoalesceExpr A_Expr RowExpr List String Integer'.split(' ');

const isIdColumn = (column: string): boolean => /(^|_)id$|^ctid$/.test(column);

/** Returns the tenant tables and functions that a statement uses. Throws if it cannot be parsed. */
export function analyze(sql: string, catalogue: Catalogue): Ref[] {
  const analysis = new Analysis(sql, catalogue);
  for (const { stmt } of parseSync(sql).stmts ?? []) if (stmt) analysis.query(stmt);
  return analysis.refs;
}

/** Returns those that neither the statement nor `isTrusted`, for parameters that are ids, binds to a project. */
export function unbound(refs: Ref[], isTrusted: (params: number[]) => boolean = () => false): Ref[] {
  const bound = new Set(refs.filter((ref) => ref.bound || ref.keys.some(isTrusted)));
  for (let size = -1; size < bound.size; ) {
    size = bound.size;
    for (const ref of refs) if ([...ref.joined].some((other) => bound.has(other))) bound.add(ref);
  }
  return refs.filter((ref) => !bound.has(ref) && (ref.kind === 'table' || ref.kind === 'call'));
}

/** Returns the statement on one line, with parameter lists shortened: the same for any number of values. */
export function normalize(sql: string): string {
  return sql
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\(\$\d+(?:, \$\d+)*\)(?:, \(\$\d+(?:, \$\d+)*\))*/g, '($n)')
    .replace(/\$\d+/g, '$n')
    .trim();
}

/** Returns the words of SQL or PL/pgSQL, including strings, which may be executed, but not comments. */
export function wordsOf(sql: string): Set<string> {
  const tokens = scanSync(sql).tokens.filter(({ tokenName }) => !/^(SQL|C)_COMMENT$/.test(tokenName));
  return new Set(tokens.flatMap(({ text }) => text.toLowerCase().match(/\w+/g) ?? []));
}

class Analysis {
  readonly refs: Ref[] = [];
  private readonly sql: string;
  private readonly catalogue: Catalogue;
  /** The refs of queries and calls, by their nodes. */
  private readonly visited = new Map<unknown, Ref>();

  constructor(sql: string, catalogue: Catalogue) {
    this.sql = sql;
    this.catalogue = catalogue;
  }

  /** A statement or subquery, which represents its rows. Without tenant tables in it, it is an input. */
  query(node: Node, outer?: Scope): Ref {
    const before = this.refs.length;
    const scope: Scope = { outer, commonTables: new Map(outer?.commonTables), from: [] };
    const [type, statement] = Object.entries(node)[0] as [string, Statement];
    for (const cte of statement.withClause?.ctes ?? [])
      if ('CommonTableExpr' in cte && cte.CommonTableExpr.ctequery)
        scope.commonTables.set(cte.CommonTableExpr.ctename ?? '', this.query(cte.CommonTableExpr.ctequery, scope));
    if (type === 'InsertStmt') this.insert(statement, scope);
    else if (['SelectStmt', 'UpdateStmt', 'DeleteStmt'].includes(type)) this.rows(statement, scope);
    else this.rejectAll();
    const used = [...this.refs.slice(before), ...refsOf(scope)];
    const ref = this.add(used.some(({ kind }) => kind !== 'input') ? 'query' : 'input', 'query', paramsIn(node));
    this.visited.set(node, ref);
    return ref;
  }

  private add(kind: Ref['kind'], name: string, params: number[] = []): Ref {
    const ref: Ref = { kind, name, bound: kind === 'query', keys: [], joined: new Set(), params };
    this.refs.push(ref);
    return ref;
  }

  /** Analyzes a SELECT, UPDATE or DELETE. */
  private rows(statement: Statement, scope: Scope): void {
    const { relation, fromClause = [], usingClause = [], larg, rarg, ...expressions } = statement;
    for (const side of [larg, rarg]) if (side) this.query({ SelectStmt: side }, scope);
    if (relation) this.table(relation, scope);
    for (const item of [...fromClause, ...usingClause]) this.fromItem(item, scope);
    // Common tables were visited; FOR UPDATE OF names tables of FROM again.
    this.visit({ ...expressions, withClause: undefined, lockingClause: undefined }, scope);
    this.condition(statement.whereClause, scope, refsOf(scope));
  }

  private insert({ relation = {}, cols = [], selectStmt, ...others }: Statement, scope: Scope): void {
    const source = selectStmt && this.query(selectStmt, scope);
    const ref = this.table(relation, scope);
    const columns = cols.map((column) => ('ResTarget' in column && column.ResTarget.name) || '');
    // A new project cannot belong to another tenant.
    if (columns.includes('project_id') || ref.name === 'projects') ref.bound = true;
    const rows = selectStmt && 'SelectStmt' in selectStmt && selectStmt.SelectStmt.valuesLists;
    if (rows) {
      const parent = columns.indexOf(this.catalogue.parents.get(ref.name) ?? '');
      const ids = rows.map((row) => valueParams('List' in row && row.List.items?.[parent]));
      if (ids.every((params) => params.length > 0)) ref.keys.push(ids.flat());
    } else if (source) this.bind(ref, 'id', { ref: source, column: 'id' });
    this.visit([others.onConflictClause, others.returningClause], scope);
  }

  /** Other statements (MERGE, LOCK, TRUNCATE, DO) are not analyzed: nothing in them is bound. */
  private rejectAll(): void {
    for (const word of wordsOf(this.sql)) {
      if (this.catalogue.tables.has(word)) this.add('table', word);
      if (this.catalogue.functions.has(word)) this.add('call', word);
    }
  }

  private table({ relname = '', alias }: Ast.RangeVar, scope: Scope, commonTable?: Ref): Ref {
    const ref = commonTable ?? this.add(this.catalogue.tables.has(relname) ? 'table' : 'input', relname);
    scope.from.push({ alias: alias?.aliasname ?? relname, ref });
    return ref;
  }

  /** Returns the tables, functions and queries of an item of FROM or USING. */
  private fromItem(node: Node, scope: Scope): Ref[] {
    if ('JoinExpr' in node) return this.join(node.JoinExpr, scope);
    if ('RangeVar' in node) {
      const { schemaname, relname = '' } = node.RangeVar;
      return [this.table(node.RangeVar, scope, schemaname ? undefined : scope.commonTables.get(relname))];
    }
    this.visit(node, scope);
    const [{ alias, subquery, functions, is_rowsfrom }] = Object.values(node) as [FromItem];
    const call = [...nodesIn(functions)].find(([type]) => type === 'FuncCall')?.[1] as Ast.FuncCall | undefined;
    const name = names(call?.funcname).at(-1) ?? '';
    const known = this.visited.get(is_rowsfrom ? undefined : (subquery ?? call));
    const ref = known ?? this.add('input', name, valueParams(functions));
    scope.from.push({ alias: alias?.aliasname ?? name, ref });
    return [ref];
  }

  private join({ jointype, larg, rarg, usingClause, quals }: Ast.JoinExpr, scope: Scope): Ref[] {
    const left = larg ? this.fromItem(larg, scope) : [];
    const right = rarg ? this.fromItem(rarg, scope) : [];
    // An outer join keeps the rows of the other side, whatever its condition says about them.
    const limited = jointype === 'JOIN_INNER' ? [...left, ...right] : jointype === 'JOIN_LEFT' ? right : [];
    this.visit(quals, scope);
    this.condition(quals, scope, limited);
    for (const column of names(usingClause)) {
      const one = this.owner(column, left);
      const other = this.owner(column, right);
      if (one && other) this.equal({ ref: one, column }, { ref: other, column }, limited);
    }
    return [...left, ...right];
  }

  /** Analyzes the queries and calls anywhere in an expression. */
  private visit(tree: unknown, scope: Scope): void {
    for (const [type, child] of Object.entries(tree ?? {})) {
      if (type === 'SelectStmt') this.query(tree as Node, scope);
      // A table with TABLESAMPLE.
      else if (type === 'RangeVar') this.table(child, scope);
      else if (typeof child === 'object') this.visit(child, scope);
      if (type === 'FuncCall') this.call(child, scope);
    }
  }

  private call(node: Ast.FuncCall, scope: Scope): void {
    const name = names(node.funcname).at(-1) ?? '';
    const known = this.catalogue.functions.get(name);
    if (!known) return;
    const ref = this.add('call', name);
    ref.bound = known.takesProject;
    for (const argument of node.args ?? []) this.bind(ref, 'id', this.source(argument, scope));
    this.visited.set(node, ref);
  }

  /** Applies the AND-ed equalities of a condition to the tables whose rows it limits. Anything else binds nothing. */
  private condition(node: Node | undefined, scope: Scope, limited: Ref[]): void {
    if (!node) return;
    if ('BoolExpr' in node && node.BoolExpr.boolop === 'AND_EXPR')
      for (const part of node.BoolExpr.args ?? []) this.condition(part, scope, limited);
    const { kind = '', name, lexpr, rexpr } = 'A_Expr' in node ? node.A_Expr : {};
    if (['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(kind) && names(name).join() === '=')
      this.compare(lexpr, rexpr, scope, limited);
    // IN (SELECT …) has no operator, = ANY (SELECT …) has one.
    const { subLinkType, operName, testexpr, subselect } = 'SubLink' in node ? node.SubLink : {};
    if (subLinkType === 'ANY_SUBLINK' && (!operName || names(operName).join() === '='))
      this.compare(testexpr, subselect, scope, limited);
  }

  private compare(left: Node | undefined, right: Node | undefined, scope: Scope, limited: Ref[]): void {
    const items = left && 'RowExpr' in left ? (left.RowExpr.args ?? []) : undefined;
    const others = right && 'RowExpr' in right ? right.RowExpr.args : undefined;
    if (!items) this.equal(this.source(left, scope), this.source(right, scope), limited);
    else for (const [n, item] of items.entries()) this.compare(item, others ? others[n] : right, scope, limited);
  }

  private equal(left: Source, right: Source, limited: Ref[]): void {
    if (left && limited.includes(left.ref)) this.bind(left.ref, left.column, right);
    if (right && limited.includes(right.ref)) this.bind(right.ref, right.column, left);
  }

  private bind(ref: Ref, column: string, source: Source): void {
    if (!source || !isIdColumn(column)) return;
    const isProject = column === 'project_id' || (ref.name === 'projects' && column === 'id');
    const { kind, params } = source.ref;
    if (kind !== 'input' && isIdColumn(source.column) && source.ref !== ref) ref.joined.add(source.ref);
    if (kind !== 'input' || params.length === 0) return;
    if (isProject) ref.bound = true;
    else ref.keys.push(params);
  }

  private source(node: Node | undefined, scope: Scope): Source {
    if (!node) return undefined;
    if ('TypeCast' in node) return this.source(node.TypeCast.arg, scope);
    if ('ColumnRef' in node) return this.column(names(node.ColumnRef.fields), scope);
    if ('SubLink' in node && ['EXPR_SUBLINK', 'ARRAY_SUBLINK'].includes(node.SubLink.subLinkType ?? ''))
      return this.source(node.SubLink.subselect, scope);
    return { ref: this.visited.get(node) ?? this.add('input', 'value', valueParams(node)), column: 'id' };
  }

  private column(fields: string[], scope: Scope | undefined): Source {
    const [first = '', second, third] = fields;
    if (!scope || third !== undefined) return undefined;
    const column = second ?? first;
    const named = scope.from.find(({ alias }) => alias === first)?.ref;
    const ref = second === undefined ? this.owner(column, refsOf(scope)) : named;
    return ref ? { ref, column } : this.column(fields, scope.outer);
  }

  /** Returns the table that has the column. The columns of queries and functions are not known. */
  private owner(column: string, refs: Ref[]): Ref | undefined {
    const table = refs.find(({ name }) => column === 'ctid' || this.catalogue.tables.get(name)?.has(column));
    const others = refs.filter(({ kind }) => kind !== 'table');
    return table ?? (others.length === 1 ? others[0] : undefined);
  }
}

const refsOf = ({ from }: Scope): Ref[] => from.map(({ ref }) => ref);

const names = (nodes: Node[] = []): string[] => nodes.map((node) => ('String' in node && node.String.sval) || '');

/** Yields the nodes of a tree. Their types are capitalized, the names of their fields are not. */
function* nodesIn(tree: unknown): Generator<[type: string, node: object]> {
  for (const [key, child] of Object.entries(tree ?? {})) {
    if (/^[A-Z]/.test(key)) yield [key, child];
    if (typeof child === 'object') yield* nodesIn(child);
  }
}

const paramsIn = (tree: unknown): number[] =>
  [...nodesIn(tree)].flatMap(([type, node]) => (type === 'ParamRef' ? ((node as Ast.ParamRef).number ?? []) : []));

/** Returns the parameters of an expression that has the same value for every row; none for any other. */
const valueParams = (tree: unknown): number[] =>
  [...nodesIn(tree)].every(([type]) => VALUE_NODES.includes(type)) ? paramsIn(tree) : [];

// Finds the tenant tables in a SQL statement, and what binds each of them to a project.
import { CLAUSES, JOINS, QUERY, type Range, TokenReader } from './sql-reader.ts';
import { isIdentifier, isSymbol, isWord, type Token, tokenize } from './sql-tokens.ts';

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

interface Scope {
  outer: Scope | undefined;
  refs: Map<string, Ref>;
}

type Term = { ref: Ref; column: string } | { query: Ref } | { params: number[] } | undefined;

const isIdColumn = (column: string): boolean => /(^|_)id$|^ctid$/.test(column);

/** Returns the tenant tables and functions that a statement uses. */
export function analyze(sql: string, catalogue: Catalogue): Ref[] {
  return new Analysis(tokenize(sql), catalogue).run();
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

class Analysis extends TokenReader {
  private readonly catalogue: Catalogue;
  private readonly refs: Ref[] = [];
  /** Queries and calls by their first token: both `condition` and `walk` visit them. */
  private readonly seen = new Map<number, Ref>();

  constructor(tokens: Token[], catalogue: Catalogue) {
    super(tokens);
    this.catalogue = catalogue;
  }

  run(): Ref[] {
    const end = this.tokens.findLastIndex((token) => !isSymbol(token, ';')) + 1;
    if (isWord(this.tokens[0], ...QUERY) || isSymbol(this.tokens[0], '(')) this.query([0, end], undefined);
    // Other statements (LOCK, TRUNCATE, COPY) cannot name a project.
    else for (const { text } of this.tokens) if (this.catalogue.tables.has(text)) this.add('table', text);
    return this.refs;
  }

  private add(kind: Ref['kind'], name: string, params: number[] = []): Ref {
    const ref: Ref = { kind, name, bound: kind === 'query', keys: [], joined: new Set(), params };
    this.refs.push(ref);
    return ref;
  }

  /** A complete query, which represents its rows. Without tenant tables in it, it is an input. */
  private query([start, end]: Range, outer: Scope | undefined): Ref {
    const known = this.seen.get(start);
    if (known) return known;
    const before = this.refs.length;
    const scope: Scope = { outer, refs: new Map() };
    this.parts(this.commonTables([start, end], scope), scope);
    const hasTenants = this.refs.slice(before).some(({ kind }) => kind !== 'input');
    const readsQuery = [...scope.refs.values()].some(({ kind }) => kind === 'query');
    const ref = this.add(hasTenants || readsQuery ? 'query' : 'input', 'query', this.params([start, end]));
    this.seen.set(start, ref);
    return ref;
  }

  /** Registers the names of `WITH name AS (…), …` and returns what follows. */
  private commonTables([start, end]: Range, scope: Scope): Range {
    if (!isWord(this.tokens[start], 'with')) return [start, end];
    let at = start + 1;
    if (isWord(this.tokens[at], 'recursive')) at++;
    for (;;) {
      const name = this.tokens[at++]?.text ?? '';
      if (isSymbol(this.tokens[at], '(')) at = this.after(at);
      while (isWord(this.tokens[at], 'as', 'not', 'materialized')) at++;
      scope.refs.set(`with ${name}`, this.query(this.inside(at), scope));
      at = this.after(at);
      if (!isSymbol(this.tokens[at], ',')) return [at, end];
      at++;
    }
  }

  /** Analyzes the sides of a UNION one by one, each with its own tables. */
  private parts([start, end]: Range, outer: Scope): void {
    let from = start;
    for (let at = start; at <= end; at = this.next(at)) {
      if (at < end && !isWord(this.tokens[at], 'union', 'intersect', 'except')) continue;
      if (isSymbol(this.tokens[from], '(') && this.after(from) === at) this.query(this.inside(from), outer);
      else this.simple([from, Math.min(at, end)], { outer, refs: new Map() }, outer);
      from = at + (isWord(this.tokens[at + 1], 'all', 'distinct') ? 2 : 1);
    }
  }

  private simple([start, end]: Range, scope: Scope, whole: Scope): void {
    let at = start;
    if (isWord(this.tokens[at], 'insert')) {
      this.insert([start, end], scope);
      return;
    }
    const isDelete = isWord(this.tokens[at], 'delete');
    if (isWord(this.tokens[at], 'update')) this.fromItem(at + 1, scope);
    const conditions: { range: Range; into?: Set<Ref> }[] = [];
    for (at = start; at < end; at = this.next(at)) {
      const distinctFrom = isWord(this.tokens[at - 1], 'distinct');
      if (!isWord(this.tokens[at], ...(isDelete ? ['from', 'using'] : ['from'])) || distinctFrom) continue;
      at = this.fromList([at + 1, end], scope, conditions) - 1;
    }
    for (at = start; at < end; at = this.next(at))
      if (isWord(this.tokens[at], 'where')) conditions.push({ range: [at + 1, this.clauseEnd(at + 1, end)] });
    for (const [name, ref] of scope.refs) whole.refs.set(`from ${name}`, ref);
    this.walk([start, end], scope);
    for (const { range, into } of conditions) this.condition(range, scope, into ?? new Set(scope.refs.values()));
  }

  private insert([start, end]: Range, scope: Scope): void {
    const { ref, at: afterTable } = this.fromItem(start + 2, scope);
    const hasColumns = isSymbol(this.tokens[afterTable], '(');
    const columns = hasColumns ? this.list(this.inside(afterTable)).map(([at]) => this.tokens[at]?.text ?? '') : [];
    const at = hasColumns ? this.after(afterTable) : afterTable;
    // A new project cannot belong to another tenant.
    if (columns.includes('project_id') || ref.name === 'projects') ref.bound = true;
    if (isWord(this.tokens[at], 'values')) {
      const position = columns.indexOf(this.catalogue.parents.get(ref.name) ?? '');
      const keys: number[] = [];
      let tuple = at + 1;
      for (; isSymbol(this.tokens[tuple], '('); tuple = this.after(tuple) + 1) {
        const cell = this.list(this.inside(tuple))[position];
        if (cell) keys.push(...this.params(cell));
      }
      if (keys.length > 0) ref.keys.push(keys);
      this.walk([at + 1, end], scope);
      return;
    }
    let sourceEnd = at;
    while (sourceEnd < end && !isWord(this.tokens[sourceEnd], 'on', 'returning')) {
      // The ON of a join is followed by a condition, not by CONFLICT.
      sourceEnd = this.next(sourceEnd);
      while (isWord(this.tokens[sourceEnd], 'on') && !isWord(this.tokens[sourceEnd + 1], 'conflict')) sourceEnd++;
    }
    const source = this.query([at, sourceEnd], scope);
    if (source.kind === 'query') ref.joined.add(source);
    else if (source.params.length > 0) ref.keys.push(source.params);
    this.walk([sourceEnd, end], scope);
  }

  /** Registers the tables after FROM or USING; returns where the clause ends. */
  private fromList([start, end]: Range, scope: Scope, conditions: { range: Range; into?: Set<Ref> }[]): number {
    let at = start;
    let join = '';
    while (at < end) {
      const added = new Set<Ref>();
      const previous = new Set(scope.refs.values());
      if (isSymbol(this.tokens[at], '(') && !this.startsQuery(at + 1)) {
        this.fromList(this.inside(at), scope, conditions);
        at = this.after(at);
      } else at = this.fromItem(at, scope).at;
      for (const ref of scope.refs.values()) if (!previous.has(ref)) added.add(ref);
      if (isWord(this.tokens[at], 'using') && isSymbol(this.tokens[at + 1], '(') && !this.startsQuery(at + 2)) {
        const columns = this.list(this.inside(at + 1)).map(([column]) => this.tokens[column]?.text ?? '');
        if (join !== 'right' && join !== 'full')
          for (const column of columns.filter(isIdColumn)) this.link(added, previous, column, join !== 'left');
        at = this.after(at + 1);
      } else if (isWord(this.tokens[at], 'on') && !isWord(this.tokens[at + 1], 'conflict')) {
        const until = this.conditionEnd(at + 1, end);
        // An outer join keeps the rows of the other side, whatever its condition says about them.
        const into = join === 'left' ? added : join === 'right' || join === 'full' ? new Set<Ref>() : undefined;
        conditions.push({ range: [at + 1, until], into });
        at = until;
      }
      if (isSymbol(this.tokens[at], ',')) join = '';
      else if (at < end && isWord(this.tokens[at], ...JOINS)) {
        join = this.tokens[at]?.text ?? '';
        while (isWord(this.tokens[at + 1], ...JOINS, 'outer')) at++;
      } else return at;
      at++;
    }
    return at;
  }

  private link(added: Set<Ref>, others: Set<Ref>, column: string, bothWays: boolean): void {
    for (const ref of added)
      for (const other of others) {
        this.bind(ref, { ref: other, column }, column);
        if (bothWays) this.bind(other, { ref, column }, column);
      }
  }

  /** A table, function or query with its alias. */
  private fromItem(start: number, scope: Scope): { ref: Ref; at: number } {
    let at = start;
    while (isWord(this.tokens[at], 'lateral', 'only')) at++;
    const isQuery = isSymbol(this.tokens[at], '(');
    if (!isQuery && isSymbol(this.tokens[at + 1], '.')) at += 2;
    const name = this.tokens[at]?.text ?? '';
    const isCall = !isQuery && isSymbol(this.tokens[at + 1], '(') && !this.catalogue.tables.has(name);
    let ref: Ref;
    if (isQuery) ref = this.query(this.inside(at), scope);
    else if (isCall) ref = this.call(at, scope);
    else ref = this.commonTable(name, scope) ?? this.add(this.catalogue.tables.has(name) ? 'table' : 'input', name);
    at = isQuery ? this.after(at) : isCall ? this.after(at + 1) : at + 1;
    while (isWord(this.tokens[at], 'with', 'ordinality')) at++;
    const hasAs = isWord(this.tokens[at], 'as');
    if (hasAs) at++;
    const token = this.tokens[at];
    const isAlias = isIdentifier(token) && (hasAs || !isWord(token, ...CLAUSES, ...JOINS, 'using', 'default'));
    scope.refs.set(isAlias ? token.text : name, ref);
    if (isAlias) at++;
    if (isAlias && hasAs && isSymbol(this.tokens[at], '(') && ref.kind !== 'table') at = this.after(at);
    else if (isAlias && isSymbol(this.tokens[at], '(') && (isQuery || isCall)) at = this.after(at);
    return { ref, at };
  }

  private commonTable(name: string, scope: Scope | undefined): Ref | undefined {
    return scope && (scope.refs.get(`with ${name}`) ?? this.commonTable(name, scope.outer));
  }

  /** A function with its arguments: one of ours that uses tenant tables, or any other. */
  private call(at: number, scope: Scope): Ref {
    const seen = this.seen.get(at);
    if (seen) return seen;
    const name = this.tokens[at]?.text ?? '';
    const known = this.catalogue.functions.get(name);
    const args = this.inside(at + 1);
    const ref = known ? this.add('call', name) : this.add('input', name, this.params(args));
    this.seen.set(at, ref);
    if (!known) return ref;
    ref.bound = known.takesProject;
    for (const arg of this.list(args)) this.bind(ref, this.term(arg, scope));
    return ref;
  }

  /** Visits queries and calls anywhere in an expression. */
  private walk([start, end]: Range, scope: Scope): void {
    for (let at = start; at < end; at++) {
      const token = this.tokens[at];
      if (isSymbol(token, '(') && this.startsQuery(at + 1)) {
        this.query(this.inside(at), scope);
        at = this.after(at) - 1;
      } else if (isIdentifier(token) && isSymbol(this.tokens[at + 1], '(') && this.catalogue.functions.has(token.text))
        this.call(at, scope);
    }
  }

  /** Applies the AND-ed parts of a condition. One with OR, NOT or CASE binds nothing. */
  private condition([start, end]: Range, scope: Scope, into: Set<Ref>): void {
    const isGroup = isSymbol(this.tokens[start], '(') && this.after(start) === end && !this.startsQuery(start + 1);
    if (isGroup) {
      this.condition(this.inside(start), scope, into);
      return;
    }
    const parts: Range[] = [];
    let from = start;
    let cases = 0;
    for (let at = start; at < end; at = this.next(at)) {
      if (isWord(this.tokens[at], 'case')) cases++;
      if (isWord(this.tokens[at], 'end')) cases--;
      if (cases === 0 && isWord(this.tokens[at], 'or')) return;
      if (cases > 0 || !isWord(this.tokens[at], 'and')) continue;
      parts.push([from, at]);
      from = at + 1;
    }
    if (from > start) {
      for (const part of [...parts, [from, end] as Range]) this.condition(part, scope, into);
      return;
    }
    for (let at = start; at < end && !isWord(this.tokens[at], 'not', 'case'); at = this.next(at)) {
      const isIn = isWord(this.tokens[at], 'in');
      if (!isSymbol(this.tokens[at], '=') && !isIn) continue;
      this.equal([start, at], [at + 1, end], scope, into);
      return;
    }
  }

  private equal(left: Range, right: Range, scope: Scope, into: Set<Ref>): void {
    const [lefts, rights] = [left, right].map((side) => this.tuple(side)) as [Range[], Range[]];
    if (lefts.length > 1 && lefts.length === rights.length) {
      for (const [n, side] of lefts.entries()) this.equal(side, rights[n] as Range, scope, into);
      return;
    }
    if (lefts.length > 1) {
      for (const side of lefts) this.equal(side, right, scope, into);
      return;
    }
    const terms = [this.term(left, scope), this.term(right, scope)] as const;
    for (const [one, other] of [terms, [terms[1], terms[0]] as const])
      if (one && 'ref' in one && into.has(one.ref) && isIdColumn(one.column)) this.bind(one.ref, other, one.column);
  }

  private bind(ref: Ref, term: Term, column = 'id'): void {
    if (!term) return;
    const isProject = column === 'project_id' || (ref.name === 'projects' && column === 'id');
    if ('query' in term || ('ref' in term && term.ref.kind === 'input')) {
      const source = 'query' in term ? term.query : term.ref;
      if (source.kind === 'query') ref.joined.add(source);
      else if (isProject && source.params.length > 0) ref.bound = true;
      else if (source.params.length > 0) ref.keys.push(source.params);
    } else if ('ref' in term) {
      if (isIdColumn(term.column) && term.ref !== ref) ref.joined.add(term.ref);
    } else if (isProject) ref.bound = true;
    else ref.keys.push(term.params);
  }

  /** A column, a query, or an expression of parameters only. */
  private term(range: Range, scope: Scope): Term {
    let [start, end] = this.stripped(range);
    while (isWord(this.tokens[start], 'any', 'array') && this.after(start + 1) === end) {
      [start, end] = this.stripped(this.inside(start + 1));
      if (this.startsQuery(start)) return { query: this.query([start, end], scope) };
    }
    if (isSymbol(this.tokens[start], '(') && this.after(start) === end && this.startsQuery(start + 1))
      return { query: this.query(this.inside(start), scope) };
    const [first, dot, second] = this.tokens.slice(start, end);
    if (isIdentifier(first) && end === start + 1) return this.column(first.text, scope);
    if (isIdentifier(first) && isIdentifier(second) && isSymbol(dot, '.') && end === start + 3) {
      const ref = this.named(first.text, scope);
      return ref && { ref, column: second.text };
    }
    const params = this.params([start, end]);
    return params.length > 0 && !this.hasColumn([start, end]) ? { params } : undefined;
  }

  private named(alias: string, scope: Scope | undefined): Ref | undefined {
    return scope && (scope.refs.get(alias) ?? this.named(alias, scope.outer));
  }

  private column(column: string, scope: Scope | undefined): Term {
    if (!scope) return undefined;
    const own = [...scope.refs].filter(([name]) => !/^(with|from) /.test(name)).map(([, ref]) => ref);
    const ref =
      own.find(({ name }) => column === 'ctid' || this.catalogue.tables.get(name)?.has(column)) ??
      (own.filter(({ kind }) => kind !== 'table').length === 1 ? own.find(({ kind }) => kind !== 'table') : undefined);
    return ref ? { ref, column } : this.column(column, scope.outer);
  }
}

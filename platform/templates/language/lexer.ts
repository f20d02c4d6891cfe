import type { Token, Tokens } from './nunjucks.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

// Replaces the lexer of nunjucks for three reasons: it supports `??` and names with spaces; it takes linear time for any
// text (nunjucks' own backtracks on long runs of blanks); and its words consist of letters, digits, `_` and `$` only.

const BLANK = /[ \n\t\r\xA0]+/y;
const WORD = /[\p{L}\p{M}\p{N}_$]+/uy;
const SIGN = /===|!==|==|!=|<=|>=|\/\/|\*\*|\?\?|[()[\]{},:|.~+\-*/%<>=!]/y;
const RAW = /\{%-?\s*(raw|verbatim)\s*-?%\}/y;
const OPENING = /\{[{%#]/g;

const types: Record<string, string> = {
  '(': 'left-paren',
  ')': 'right-paren',
  '[': 'left-bracket',
  ']': 'right-bracket',
  '{': 'left-curly',
  '}': 'right-curly',
  ',': 'comma',
  ':': 'colon',
  '~': 'tilde',
  '|': 'pipe',
};

/** Words that cannot be part of a name with spaces. */
const KEYWORDS = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'true', 'false', 'none', 'null']);
/** After these a value must follow, so `is` and `in` can only begin a name there. */
const BEFORE_VALUES = new Set(['and', 'or', 'if', 'elif', 'elseif', 'else']);
const TYPES_BEFORE_VALUES = new Set(['variable-start', 'operator', 'left-paren', 'left-bracket', 'comma', 'tilde']);
/** Ten times the tokens of a long newsletter; bounds the work on hostile templates. */
const MAX_TOKENS = 20_000;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

/** The tag being read. */
interface Tag {
  kind: 'block' | 'variable';
  start: number;
}

export class Lexer implements Tokens {
  readonly tags = { VARIABLE_START: '{{', VARIABLE_END: '}}', COMMENT_START: '{#', COMMENT_END: '#}' };
  private readonly source: string;
  private readonly tokens: Token[] = [];
  private tokenCount = 0;
  private nextRead = 0;
  private index = 0;
  private line = 0;
  private lineStart = 0;
  private lineEnd: number;
  private trimNext = false;
  /** The last name that was joined from several words. */
  private joined: Token | undefined;

  constructor(source: string) {
    this.source = source;
    this.lineEnd = this.nextLineEnd();
    while (this.index < source.length) this.readText();
  }

  nextToken(): Token | null {
    return this.tokens[this.nextRead++] ?? null;
  }

  /** Reads the text up to the next tag, then that tag. */
  private readText(): void {
    OPENING.lastIndex = this.index;
    const opening = OPENING.exec(this.source);
    const end = opening?.index ?? this.source.length;
    this.text(this.index, end, opening !== null && this.source[end + 2] === '-');
    this.index = end;
    if (!opening) return;
    if (opening[0] === '{#') this.skipComment();
    else if (opening[0] === '{{') this.readTag({ kind: 'variable', start: end });
    else if (!this.readRaw()) this.readTag({ kind: 'block', start: end });
  }

  private text(start: number, end: number, trimEnd: boolean): void {
    let value = this.source.slice(start, end);
    if (this.trimNext) value = value.trimStart();
    if (trimEnd) value = value.trimEnd();
    this.trimNext = false;
    if (value) this.push('data', value, start);
  }

  private skipComment(): void {
    const end = this.source.indexOf('#}', this.index + 2);
    if (end === -1) throw this.syntaxError('this comment is never closed: "#}" is missing', this.index);
    this.trimNext = this.source[end - 1] === '-';
    this.index = end + 2;
  }

  /** Reads everything between `raw` and `endraw` as text. */
  private readRaw(): boolean {
    RAW.lastIndex = this.index;
    const raw = RAW.exec(this.source);
    if (!raw) return false;
    const [opening, name = ''] = raw;
    const closing = new RegExp(`\\{%(-?)\\s*end${name}\\s*(-?)%\\}`, 'g');
    const start = this.index + opening.length;
    closing.lastIndex = start;
    const closed = closing.exec(this.source);
    if (!closed) throw this.syntaxError(`"${name}" is never closed: "{% end${name} %}" is missing`, this.index);
    this.trimNext = opening.endsWith('-%}');
    this.text(start, closed.index, closed[1] === '-');
    this.trimNext = closed[2] === '-';
    this.index = closed.index + closed[0].length;
    return true;
  }

  private readTag(tag: Tag): void {
    const { kind, start } = tag;
    this.push(`${kind}-start`, this.source.slice(start, start + 2), start);
    this.index = start + (this.source[start + 2] === '-' ? 3 : 2);
    for (;;) {
      const token = this.readToken(tag);
      if (token === 'end') return;
      if (token === 'word') this.joinNames();
    }
  }

  private readToken(tag: Tag): 'end' | 'word' | 'other' {
    this.skip(BLANK);
    const at = this.index;
    const { source } = this;
    if (at >= source.length) {
      const missing = tag.kind === 'block' ? '%}' : '}}';
      throw this.syntaxError(`this tag is never closed: "${missing}" is missing`, tag.start);
    }
    if (this.endTag(tag)) return 'end';
    const char = source[at];
    if (char === '"' || char === "'") {
      this.push('string', this.readString(char), at);
      return 'other';
    }
    const word = this.skip(WORD);
    if (word) return this.word(word, at);
    const sign = this.skip(SIGN);
    if (!sign)
      throw this.syntaxError(`unexpected character "${String.fromCodePoint(source.codePointAt(at) ?? 0)}"`, at);
    this.push(types[sign] ?? 'operator', sign, at);
    return 'other';
  }

  private endTag({ kind }: Tag): boolean {
    const mark = kind === 'block' ? '%}' : '}}';
    const at = this.index;
    const trims = this.source[at] === '-' && this.source.startsWith(mark, at + 1);
    if (!trims && !this.source.startsWith(mark, at)) return false;
    this.push(`${kind}-end`, mark, at);
    this.index = at + (trims ? 3 : 2);
    this.trimNext = trims;
    return true;
  }

  private word(word: string, at: number): 'word' | 'other' {
    if (word === 'r' && this.source[this.index] === '/')
      throw this.syntaxError('regular expressions are not available in templates', at);
    if (/^[0-9]+$/.test(word)) {
      const fraction = /\.[0-9]*/y;
      const rest = this.skip(fraction);
      this.push(rest ? 'float' : 'int', word + rest, at);
      return rest ? 'other' : 'word';
    }
    if (word === 'true' || word === 'false') this.push('boolean', word, at);
    else if (word === 'none' || word === 'null') this.push('none', word, at);
    else this.push('symbol', word, at);
    return 'word';
  }

  /** Joins `first name` into one name: two adjacent words that are no keywords. */
  private joinNames(): void {
    const last = this.tokens.at(-1);
    const before = this.tokens.at(-2);
    if (!last || before?.type !== 'symbol' || KEYWORDS.has(last.value)) return;
    // Skipped for a joined name: reading its value would copy all its words each time (quadratic).
    if (before !== this.joined && KEYWORDS.has(before.value) && !this.beginsName(before.value)) return;
    // The first word of a block names the tag and is never part of a variable name.
    if (this.tokens.at(-3)?.type === 'block-start') return;
    this.tokens.pop();
    before.value += this.blanksBefore(last) + last.value;
    this.joined = before;
  }

  /** Whether this is the `is` of a name such as `is active`, where no comparison is possible. */
  private beginsName(word: string): boolean {
    const previous = this.tokens.at(-3);
    if (!previous || (word !== 'is' && word !== 'in')) return false;
    if (previous.type !== 'symbol') return TYPES_BEFORE_VALUES.has(previous.type);
    return BEFORE_VALUES.has(previous.value) || (word === 'is' && previous.value === 'not');
  }

  /** Keeps repeated spaces, which a key may have; a line break counts as one space. */
  private blanksBefore(last: Token): string {
    const end = this.index - last.value.length;
    let start = end;
    while (this.source[start - 1] === ' ') start--;
    return this.source.slice(start, end) || ' ';
  }

  private readString(quote: string): string {
    const start = this.index;
    let text = '';
    let from = start + 1;
    for (let at = from; at < this.source.length; at++) {
      const char = this.source[at];
      if (char === quote) {
        this.index = at + 1;
        return text + this.source.slice(from, at);
      }
      if (char !== '\\') continue;
      const escaped = this.source[at + 1] ?? '';
      text += this.source.slice(from, at) + (ESCAPES[escaped] ?? escaped);
      from = at + 2;
      at++;
    }
    throw this.syntaxError('this text is never closed: a quotation mark is missing', start);
  }

  private skip(pattern: RegExp): string {
    pattern.lastIndex = this.index;
    const found = pattern.exec(this.source)?.[0] ?? '';
    this.index += found.length;
    return found;
  }

  private push(type: string, value: string, at: number): void {
    if (++this.tokenCount > MAX_TOKENS) throw this.syntaxError('the template has too many parts', at);
    this.tokens.push({ type, value, ...this.positionOf(at) });
  }

  /** Positions must not decrease between calls, so that every line break is searched for once. */
  private positionOf(at: number): { lineno: number; colno: number } {
    while (this.lineEnd < at) {
      this.line++;
      this.lineStart = this.lineEnd + 1;
      this.lineEnd = this.nextLineEnd();
    }
    return { lineno: this.line, colno: at - this.lineStart };
  }

  private nextLineEnd(): number {
    const end = this.source.indexOf('\n', this.lineStart);
    return end === -1 ? this.source.length : end;
  }

  private syntaxError(message: string, at: number): TemplateSyntaxError {
    const before = this.source.slice(0, at);
    const line = before.split('\n').length;
    return new TemplateSyntaxError(message, line, at - before.lastIndexOf('\n'));
  }
}

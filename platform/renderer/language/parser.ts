import { Lexer } from './lexer.ts';
import { type Expression, nodes, parser, type Root, type Statement, type Token } from './nunjucks.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

/** Tags of nunjucks that reach for other templates, or wait for something. */
const REFUSED = new Set(['include', 'import', 'from', 'extends', 'block', 'asyncEach', 'asyncAll', 'ifAsync']);

/** The filter that `a ?? b` is read as; no template can name it, because it is no word. */
export const FALLBACK = '??';

class TemplateParser extends parser.Parser {
  /** Tags that wait for their end, the innermost last. */
  readonly open: Token[] = [];

  override parseStatement(): Statement | null {
    const tag = this.peekToken();
    if (!tag) return super.parseStatement();
    if (REFUSED.has(tag.value)) this.fail(`"${tag.value}" is not available in templates`, tag.lineno, tag.colno);
    this.open.push(tag);
    const statement = super.parseStatement();
    this.open.pop();
    return statement;
  }

  /** `a ?? b`, which binds as weakly as `or`. */
  override parseOr(): Expression {
    let node = super.parseOr();
    while (this.skipValue('operator', FALLBACK)) {
      const { lineno, colno } = node;
      const both = new nodes.NodeList(lineno, colno, [node, super.parseOr()]);
      node = new nodes.Filter(lineno, colno, new nodes.Symbol(lineno, colno, FALLBACK), both);
    }
    return node;
  }
}

/** Throws a TemplateSyntaxError for a text that is no template. */
export function parse(source: string): Root {
  const lexer = new Lexer(source);
  const reading = new TemplateParser(lexer);
  try {
    return reading.parseAsRoot();
  } catch (error) {
    throw faultOf(error, reading);
  }
}

/** nunjucks tells the place of most faults; where it does not, the tag that it was in is the place to look at. */
function faultOf(error: unknown, { open }: TemplateParser): TemplateSyntaxError {
  const { message, lineno, colno } = error as { message: string; lineno?: number; colno?: number };
  const tag = open.at(-1);
  const place = { line: (tag?.lineno ?? 0) + 1, column: (tag?.colno ?? 0) + 1 };
  if (error instanceof RangeError)
    return new TemplateSyntaxError('this is nested too deeply', place.line, place.column);
  if (lineno === undefined || colno === undefined) {
    const what = tag ? `"${tag.value}" is not complete or never closed` : 'the template ends too early';
    return new TemplateSyntaxError(what, place.line, place.column);
  }
  return new TemplateSyntaxError(message.replace(/^parse\w+: /, ''), lineno, colno);
}

import { Lexer } from './lexer.ts';
import { type Expression, nodes, parser, type Root, type Statement, type Token } from './nunjucks.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

/** Tags of nunjucks that load other templates, or are asynchronous. */
const UNAVAILABLE_TAGS = new Set(['include', 'import', 'from', 'extends', 'block', 'asyncEach', 'asyncAll', 'ifAsync']);

/** The filter that `a ?? b` is parsed as. Templates cannot name it, because it is no word. */
export const FALLBACK = '??';

class TemplateParser extends parser.Parser {
  /** Open tags, the innermost last. */
  readonly open: Token[] = [];

  override parseStatement(): Statement | null {
    const tag = this.peekToken();
    if (!tag) return super.parseStatement();
    if (UNAVAILABLE_TAGS.has(tag.value))
      this.fail(`"${tag.value}" is not available in templates`, tag.lineno, tag.colno);
    this.open.push(tag);
    const statement = super.parseStatement();
    this.open.pop();
    return statement;
  }

  /** Parses `a ?? b` with the precedence of `or`. */
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

/** Throws a TemplateSyntaxError for an invalid template. */
export function parse(source: string): Root {
  const lexer = new Lexer(source);
  const templateParser = new TemplateParser(lexer);
  try {
    return templateParser.parseAsRoot();
  } catch (error) {
    throw syntaxErrorOf(error, templateParser);
  }
}

/** Uses the position of the innermost open tag where nunjucks gives none. */
function syntaxErrorOf(error: unknown, { open }: TemplateParser): TemplateSyntaxError {
  const { message, lineno, colno } = error as { message: string; lineno?: number; colno?: number };
  const tag = open.at(-1);
  const position = { line: (tag?.lineno ?? 0) + 1, column: (tag?.colno ?? 0) + 1 };
  if (error instanceof RangeError)
    return new TemplateSyntaxError('this is nested too deeply', position.line, position.column);
  if (lineno === undefined || colno === undefined) {
    const what = tag ? `"${tag.value}" is not complete or never closed` : 'the template ends too early';
    return new TemplateSyntaxError(what, position.line, position.column);
  }
  return new TemplateSyntaxError(message.replace(/^parse\w+: /, ''), lineno, colno);
}

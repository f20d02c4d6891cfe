import { LRUCache } from 'lru-cache';
import { Budget } from './language/budget.ts';
import { Marks, putTogether, takeApart } from './language/marks.ts';
import { replacementTemplate } from './language/replace-variables.ts';
import { Run } from './language/run.ts';
import { compileTemplate, type Template } from './language/template.ts';
import { plainText } from './plain-text.ts';

export interface MailSources {
  subject: string;
  html: string;
  /** The body is no HTML: nothing in it is escaped, and no text is made from it. */
  plain?: boolean;
}

export interface Mail {
  subject: string;
  html: string;
  text: string;
}

/** RFC 5322 allows no longer line, and the contract no longer subject. */
const MAX_SUBJECT = 998;
const CACHE_CHARACTERS = 16 * 1024 * 1024;

const templates = new LRUCache<string, Template>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: ({ source }) => source.length + 100,
});
const texts = new LRUCache<string, string[]>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: (pieces, outline) => outline.length + pieces.length * 50,
});

/**
 * `footer` is a template as well, written at the end of the body. Throws a LimitError for a template that asks for more
 * than a mail may cost.
 */
export function renderMail(sources: MailSources, footer: string, variables: Record<string, unknown>): Mail {
  const { subject, html, plain } = sources;
  if (plain) return { subject: renderSubject(subject, variables), html: unescaped(html, variables), text: '' };
  const body = templateOf(html);
  const foot = templateOf(footer);
  const marks = new Marks(body.marked || foot.marked);
  const budget = new Budget(html.length + footer.length);
  const written = ({ write }: Template): Run => {
    const run = new Run({ variables, budget, marks });
    write(run);
    return run;
  };
  const top = written(body);
  const bottom = written(foot);
  const whole = atEnd(top.out, bottom.out);
  return {
    subject: renderSubject(subject, variables),
    html: whole,
    text: marks.usable ? textOf(atEnd(top.outline, bottom.outline), marks.values) : plainText(whole),
  };
}

const renderSubject = (source: string, variables: Record<string, unknown>): string =>
  oneLine(unescaped(source, variables));

function unescaped(source: string, variables: Record<string, unknown>): string {
  const run = new Run({ variables, budget: new Budget(source.length) });
  templateOf(source).write(run);
  return run.out;
}

/** A subject, whatever its values brought along. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return (line.length > MAX_SUBJECT ? line.slice(0, MAX_SUBJECT) : line).replace(/\p{Surrogate}/gu, '');
}

/** A text that is no template never fails a mail: its variables are replaced, and the rest stays. */
function templateOf(source: string): Template {
  const known = templates.get(source);
  if (known) return known;
  const template = compileTemplate(source).template ?? replacementTemplate(source);
  templates.set(source, template);
  return template;
}

function textOf(outline: string, values: string[]): string {
  let pieces = texts.get(outline);
  if (!pieces) {
    pieces = takeApart(plainText(outline));
    texts.set(outline, pieces);
  }
  return putTogether(pieces, values);
}

function atEnd(html: string, foot: string): string {
  if (foot === '') return html;
  const end = Math.max(html.lastIndexOf('</body'), html.lastIndexOf('</BODY'));
  return end === -1 ? html + foot : html.slice(0, end) + foot + html.slice(end);
}

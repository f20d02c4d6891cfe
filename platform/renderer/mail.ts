import { LRUCache } from 'lru-cache';
import { bodyEnd } from './body-end.ts';
import { Budget } from './language/budget.ts';
import { Marks, marksIn, takeApart } from './language/marks.ts';
import { replacementTemplate } from './language/replace-variables.ts';
import { Run } from './language/run.ts';
import { compileTemplate, type Template } from './language/template.ts';
import { type Outline, type Outlined, textOf } from './outline.ts';
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
  /** What it was put together from, where it was. */
  outlined?: Outlined;
}

/** RFC 5322 allows no longer line, and the contract no longer subject. */
const MAX_SUBJECT = 998;
/** With more it is put together here: whoever else did it would have a mail in hand that is nothing but values. */
const MOST_MARKS = 1000;
const CACHE_CHARACTERS = 16 * 1024 * 1024;

const templates = new LRUCache<string, Template>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: ({ source }) => source.length + 100,
});
const outlines = new LRUCache<string, Outline>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: ({ html, text }) => html.length + text.length * 50,
});

const MOST_RECENT = 4;
const recent: Outline[] = [];

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
  return new WrittenMail(renderSubject(subject, variables), top, bottom, marks);
}

/** Whoever has its outline need not ask for the whole of it, which is then never put together. */
class WrittenMail implements Mail {
  readonly subject: string;
  private readonly top: Run;
  private readonly bottom: Run;
  private readonly whole: Outlined | undefined;

  constructor(subject: string, top: Run, bottom: Run, marks: Marks) {
    this.subject = subject;
    this.top = top;
    this.bottom = bottom;
    const outline = marks.usable ? outlineOf(atEnd(top.outline, bottom.outline)) : undefined;
    this.whole = outline && { outline, values: marks.values };
  }

  get html(): string {
    return atEnd(this.top.out, this.bottom.out);
  }

  get text(): string {
    return this.whole ? textOf(this.whole) : plainText(this.html);
  }

  get outlined(): Outlined | undefined {
    return this.whole?.outline.crowded ? undefined : this.whole;
  }
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

function outlineOf(html: string): Outline {
  // To look one up takes ten times as long as to compare it with those that came last.
  const last = recent.find((outline) => outline.html === html);
  if (last) return last;
  const outline = outlines.get(html) ?? newOutline(html);
  recent.unshift(outline);
  recent.length = Math.min(recent.length, MOST_RECENT);
  return outline;
}

function newOutline(html: string): Outline {
  const outline = { html, text: takeApart(plainText(html)), crowded: marksIn(html).length > MOST_MARKS };
  outlines.set(html, outline);
  return outline;
}

function atEnd(html: string, foot: string): string {
  if (foot === '') return html;
  const end = bodyEnd(html);
  return html.slice(0, end) + foot + html.slice(end);
}

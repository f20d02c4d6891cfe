import { LRUCache } from 'lru-cache';
import { bodyEnd } from './body-end.ts';
import { Budget } from './language/budget.ts';
import { Placeholders, placeholdersIn, splitAtPlaceholders } from './language/placeholders.ts';
import { replacementTemplate } from './language/replace-variables.ts';
import { RenderRun } from './language/run.ts';
import { compileTemplate, type Template } from './language/template.ts';
import { oneLine } from './one-line.ts';
import { plainText } from './plain-text.ts';
import { type SkeletonMail, type TemplateSkeleton, textOf } from './skeleton.ts';

export interface MailSources {
  subject: string;
  html: string;
  /** The body is plain text: nothing in it is escaped, and no text part is derived from it. */
  plain?: boolean;
}

export interface Mail {
  subject: string;
  html: string;
  text: string;
  /** Its skeleton and values, unless the template has too many values or uses the placeholder characters. */
  skeletonMail?: SkeletonMail;
}

/** A mail with more values is returned whole, because it shares next to nothing with others. */
const MAX_PLACEHOLDERS = 1000;
const CACHE_CHARACTERS = 16 * 1024 * 1024;

const templates = new LRUCache<string, Template>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: ({ source }) => source.length + 100,
});
const skeletons = new LRUCache<string, TemplateSkeleton>({
  max: 2000,
  maxSize: CACHE_CHARACTERS,
  sizeCalculation: ({ html, text }) => html.length + text.length * 50,
});

const MAX_RECENT = 4;
const recent: TemplateSkeleton[] = [];

/** Renders a mail with `footer`, a template too, at the end of the body. Throws a LimitError when the budget is spent. */
export function renderMail(sources: MailSources, footer: string, variables: Record<string, unknown>): Mail {
  const { subject, html, plain } = sources;
  if (plain) return { subject: renderSubject(subject, variables), html: renderPlain(html, variables), text: '' };
  const body = templateOf(html);
  const footerTemplate = templateOf(footer);
  const placeholders = new Placeholders(body.containsPlaceholders || footerTemplate.containsPlaceholders);
  const budget = new Budget(html.length + footer.length);
  const renderTemplate = ({ write }: Template): RenderRun => {
    const run = new RenderRun({ variables, budget, placeholders });
    write(run);
    return run;
  };
  const bodyRun = renderTemplate(body);
  const footerRun = renderTemplate(footerTemplate);
  return new RenderedMail(renderSubject(subject, variables), bodyRun, footerRun, placeholders);
}

/** Assembles the HTML only when it is read: callers that use the skeleton never need it. */
class RenderedMail implements Mail {
  readonly subject: string;
  private readonly bodyRun: RenderRun;
  private readonly footerRun: RenderRun;
  private readonly shared: SkeletonMail | undefined;

  constructor(subject: string, bodyRun: RenderRun, footerRun: RenderRun, placeholders: Placeholders) {
    this.subject = subject;
    this.bodyRun = bodyRun;
    this.footerRun = footerRun;
    const skeleton = placeholders.usable ? skeletonOf(withFooter(bodyRun.skeleton, footerRun.skeleton)) : undefined;
    this.shared = skeleton && { skeleton, values: placeholders.values };
  }

  get html(): string {
    return withFooter(this.bodyRun.out, this.footerRun.out);
  }

  get text(): string {
    return this.shared ? textOf(this.shared) : plainText(this.html);
  }

  get skeletonMail(): SkeletonMail | undefined {
    return this.shared?.skeleton.crowded ? undefined : this.shared;
  }
}

const renderSubject = (source: string, variables: Record<string, unknown>): string =>
  oneLine(renderPlain(source, variables));

function renderPlain(source: string, variables: Record<string, unknown>): string {
  const run = new RenderRun({ variables, budget: new Budget(source.length) });
  templateOf(source).write(run);
  return run.out;
}

/** Falls back to plain variable replacement for an invalid template, so that it never fails a mail. */
function templateOf(source: string): Template {
  const cached = templates.get(source);
  if (cached) return cached;
  const template = compileTemplate(source).template ?? replacementTemplate(source);
  templates.set(source, template);
  return template;
}

function skeletonOf(html: string): TemplateSkeleton {
  // A comparison with the most recent skeletons is ten times as fast as a cache lookup.
  const last = recent.find((skeleton) => skeleton.html === html);
  if (last) return last;
  const skeleton = skeletons.get(html) ?? newSkeleton(html);
  recent.unshift(skeleton);
  recent.length = Math.min(recent.length, MAX_RECENT);
  return skeleton;
}

function newSkeleton(html: string): TemplateSkeleton {
  const skeleton = {
    html,
    text: splitAtPlaceholders(plainText(html)),
    crowded: placeholdersIn(html).length > MAX_PLACEHOLDERS,
  };
  skeletons.set(html, skeleton);
  return skeleton;
}

function withFooter(html: string, footer: string): string {
  if (footer === '') return html;
  const end = bodyEnd(html);
  return html.slice(0, end) + footer + html.slice(end);
}

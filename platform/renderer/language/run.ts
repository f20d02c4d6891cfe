import type { Budget } from './budget.ts';
import { escapeHtml } from './escape.ts';
import type { Marks } from './marks.ts';
import { SafeText, textOf } from './values.ts';

/** Names that a template sets itself. Loops and calls have a scope of their own, below that of the whole template. */
export class Scope {
  private readonly names = new Map<string, unknown>();
  private readonly parent: Scope | undefined;
  /** What is set here stays here. */
  private readonly closed: boolean;

  constructor(parent?: Scope, closed = false) {
    this.parent = parent;
    this.closed = closed;
  }

  get(name: string): unknown {
    const own = this.names.get(name);
    return own === undefined ? this.parent?.get(name) : own;
  }

  /** Changes the name where it is known, or else makes it here. */
  set(name: string, value: unknown): void {
    (this.owner(name) ?? this).names.set(name, value);
  }

  define(name: string, value: unknown): void {
    this.names.set(name, value);
  }

  private owner(name: string): Scope | undefined {
    if (this.names.get(name) !== undefined) return this;
    return this.closed ? undefined : this.parent?.owner(name);
  }
}

const TAIL = 20;

export interface RunOptions {
  /** Without a prototype: what is not in it is not there. */
  variables: Record<string, unknown>;
  budget: Budget;
  /** Given for HTML: values are escaped, and marked in the outline. */
  marks?: Marks;
}

/** One rendering: what is written so far, and what it is written from. */
export class Run {
  out = '';
  outline = '';
  /** The last of the outline; to ask that itself for its end would copy it each time. */
  private tail = '';
  readonly root = new Scope();
  scope = this.root;
  readonly budget: Budget;
  private readonly variables: Record<string, unknown>;
  private readonly marks: Marks | undefined;

  constructor({ variables, budget, marks }: RunOptions) {
    this.variables = variables;
    this.budget = budget;
    this.marks = marks;
  }

  find(name: string): unknown {
    const own = this.scope.get(name);
    return own === undefined ? this.variables[name] : own;
  }

  /** Text of the template. */
  write(text: string): void {
    this.append(text, text);
  }

  /** A value: in HTML it is escaped, unless it says that it is HTML itself. */
  print(value: unknown): void {
    const { marks } = this;
    if (value instanceof SafeText) {
      this.append(value.text, marks ? marks.piece(value.text, value.outline, this.tail) : value.outline);
      return;
    }
    const text = this.budget.text(textOf(value, this.budget));
    const html = marks ? escapeHtml(text) : text;
    this.append(html, marks && text !== '' ? marks.mark(text, html, this.tail) : html);
  }

  private append(text: string, outline: string): void {
    this.budget.write(this.out.length, text.length);
    this.out += text;
    if (!this.marks) return;
    this.outline += outline;
    this.tail = (outline.length < TAIL ? this.tail + outline : outline).slice(-TAIL);
  }

  /** What `work` writes becomes a text of its own. */
  capture(work: () => void): SafeText {
    const { out, outline, tail } = this;
    this.out = '';
    this.outline = '';
    this.tail = '';
    work();
    const captured = new SafeText(this.out, this.marks && this.outline);
    this.out = out;
    this.outline = outline;
    this.tail = tail;
    return captured;
  }

  within(scope: Scope, work: () => void): void {
    const before = this.scope;
    this.scope = scope;
    work();
    this.scope = before;
  }
}

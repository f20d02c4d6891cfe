import type { Budget } from './budget.ts';
import { escapeHtml } from './escape.ts';
import type { Placeholders } from './placeholders.ts';
import { Callable, SafeText, textOf } from './values.ts';

/** Variables that a template sets. Loops and calls have scopes of their own, below that of the template. */
export class Scope {
  private readonly names = new Map<string, unknown>();
  private readonly parent: Scope | undefined;
  /** Assignments do not reach the parent scopes. */
  private readonly closed: boolean;

  constructor(parent?: Scope, closed = false) {
    this.parent = parent;
    this.closed = closed;
  }

  get(name: string): unknown {
    const own = this.names.get(name);
    return own === undefined ? this.parent?.get(name) : own;
  }

  /** Assigns in the scope that has the name, else in this one. */
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

const TAIL_LENGTH = 20;

export interface RenderRunOptions {
  /** Without a prototype, so that inherited names are undefined. */
  variables: Record<string, unknown>;
  budget: Budget;
  /** Given for HTML: values are escaped, and replaced by placeholders in the skeleton. */
  placeholders?: Placeholders;
}

/** The state of one rendering: output, scopes and budget. */
export class RenderRun {
  out = '';
  skeleton = '';
  /** The end of the skeleton, kept because reading it from `skeleton` would flatten the string each time. */
  private tail = '';
  readonly root = new Scope();
  scope = this.root;
  readonly budget: Budget;
  private readonly variables: Record<string, unknown>;
  private readonly placeholders: Placeholders | undefined;

  constructor({ variables, budget, placeholders }: RenderRunOptions) {
    this.variables = variables;
    this.budget = budget;
    this.placeholders = placeholders;
  }

  find(name: string): unknown {
    const own = this.scope.get(name);
    return own === undefined ? this.variables[name] : own;
  }

  /** Writes text of the template. */
  write(text: string): void {
    this.append(text, text);
  }

  /** Writes a value, escaped in HTML unless it is SafeText. */
  print(value: unknown): void {
    const { placeholders } = this;
    if (value instanceof SafeText) {
      this.append(
        value.text,
        placeholders ? placeholders.piece(value.text, value.skeleton, this.tail) : value.skeleton,
      );
      return;
    }
    const text = this.budget.text(textOf(value, this.budget));
    const html = placeholders ? escapeHtml(text) : text;
    this.append(html, placeholders && text !== '' ? placeholders.add(text, html, this.tail) : html);
  }

  private append(text: string, skeleton: string): void {
    this.budget.write(this.out.length, text.length);
    this.out += text;
    if (!this.placeholders) return;
    this.skeleton += skeleton;
    this.tail = (skeleton.length < TAIL_LENGTH ? this.tail + skeleton : skeleton).slice(-TAIL_LENGTH);
  }

  /** Returns what `work` writes instead of appending it to the output. */
  capture(work: () => void): SafeText {
    const { out, skeleton, tail } = this;
    this.out = '';
    this.skeleton = '';
    this.tail = '';
    work();
    const captured = new SafeText(this.out, this.placeholders && this.skeleton);
    this.out = out;
    this.skeleton = skeleton;
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

type CallMacro = (run: RenderRun, args: unknown[], named: ReadonlyMap<string, unknown>) => SafeText;

/** The value that a `macro` or a `call` block defines. */
export class Macro extends Callable {
  readonly call: CallMacro;

  constructor(call: CallMacro) {
    super();
    this.call = call;
  }
}

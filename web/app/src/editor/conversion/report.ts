/** What a conversion leaves out or changes. */
export type LossKind =
  | 'styles'
  | 'inlineStyles'
  | 'scripts'
  | 'forms'
  | 'media'
  | 'layout'
  | 'tags'
  | 'expressions'
  | 'links'
  | 'images'
  | 'lists'
  | 'background';

export interface Loss {
  kind: LossKind;
  count: number;
  /** Some of what is lost, as it is written. */
  examples: string[];
}

const MAX_EXAMPLES = 5;
const MAX_LENGTH = 80;

/** Counts losses by their kind. */
export class LossReport {
  private readonly losses = new Map<LossKind, Loss>();

  add(kind: LossKind, example?: string): void {
    const loss = this.losses.get(kind) ?? { kind, count: 0, examples: [] };
    this.losses.set(kind, loss);
    loss.count++;
    const text = example?.replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
    if (text && loss.examples.length < MAX_EXAMPLES && !loss.examples.includes(text)) loss.examples.push(text);
  }

  list(): Loss[] {
    return [...this.losses.values()];
  }
}

import type { TemplateType } from '../../../db/models/template.ts';
import type { ScriptTime } from '../spans.ts';

/** A mail of a recipe. */
export interface RecipeTemplate {
  name: string;
  subject: string;
  body: string;
  type: TemplateType;
}

export interface RecipeStep {
  type: string;
  name: string;
  config?: Record<string, unknown>;
  /** The key of the template that it sends. */
  template?: string;
  position: [x: number, y: number];
}

export interface RecipeCase {
  name: string;
  contact: { email: string; subscribed?: boolean; data?: Record<string, unknown> };
  events?: { at: ScriptTime; name: string; data?: Record<string, unknown> }[];
  /** Step, or step and branch. */
  expect: [step: string, branch?: string][];
}

/** A ready workflow with its templates and cases. Steps and templates have keys in place of ids. */
export interface Recipe {
  id: string;
  name: string;
  description: string;
  eventName: string;
  allowReentry?: boolean;
  templates: Record<string, RecipeTemplate>;
  steps: Record<string, RecipeStep>;
  /** `from`, `to`, and the branch if any. */
  transitions: [from: string, to: string, branch?: string][];
  cases: RecipeCase[];
}

/** A mail of the recipes: short, and with the variables that people replace first. */
export const mail = (
  name: string,
  subject: string,
  paragraphs: string[],
  type: TemplateType = 'MARKETING',
): RecipeTemplate => ({ name, subject, type, body: paragraphs.map((text) => `<p>${text}</p>`).join('\n') });

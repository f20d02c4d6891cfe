import { Budget, LimitError } from './language/budget.ts';
import { Placeholders } from './language/placeholders.ts';
import { replacementTemplate } from './language/replace-variables.ts';
import { RenderRun } from './language/run.ts';
import type { MailSources } from './mail.ts';
import { oneLine } from './one-line.ts';
import type { Variables } from './protocol.ts';

/**
 * Renders a mail whose template was refused: replaces its variables and keeps the rest. Safe in any process, because the
 * cost is bounded by the length of the text. Never fails.
 */
export function plainMail({ subject, html }: MailSources, { data, builtIn }: Variables): MailSources {
  const variables: Record<string, unknown> = Object.assign(Object.create(null), data, builtIn, { data });
  return {
    subject: oneLine(replaceVariables(subject, variables)),
    html: replaceVariables(html, variables, new Placeholders(true)),
  };
}

function replaceVariables(source: string, variables: Record<string, unknown>, placeholders?: Placeholders): string {
  try {
    const run = new RenderRun({ variables, budget: new Budget(source.length), ...(placeholders && { placeholders }) });
    replacementTemplate(source).write(run);
    return run.out;
  } catch (error) {
    // The values alone exceed the budget.
    if (error instanceof LimitError) return source;
    throw error;
  }
}

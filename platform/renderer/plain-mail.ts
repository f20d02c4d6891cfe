import { Budget, LimitError } from './language/budget.ts';
import { Marks } from './language/marks.ts';
import { replacementTemplate } from './language/replace-variables.ts';
import { Run } from './language/run.ts';
import { type MailSources, oneLine } from './mail.ts';
import type { Variables } from './protocol.ts';

/**
 * What becomes of a mail whose template was refused: its variables are replaced, and the rest stays as it was written.
 * What that costs follows from the length of the text, so it may be done in any process. It never fails.
 */
export function plainMail({ subject, html }: MailSources, { data, builtIn }: Variables): MailSources {
  const names: Record<string, unknown> = Object.assign(Object.create(null), data, builtIn, { data });
  return { subject: oneLine(replaced(subject, names)), html: replaced(html, names, new Marks(true)) };
}

function replaced(source: string, variables: Record<string, unknown>, marks?: Marks): string {
  try {
    const run = new Run({ variables, budget: new Budget(source.length), ...(marks && { marks }) });
    replacementTemplate(source).write(run);
    return run.out;
  } catch (error) {
    // Values that are too large even for that.
    if (error instanceof LimitError) return source;
    throw error;
  }
}

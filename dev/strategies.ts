// Several ways lead to the same thing; the first one that works is taken, and the reasons against the others are kept.
import type { Report } from './report.ts';

export interface Way {
  name: string;
  /** Throws, with the reason, where this way does not lead there. */
  take(): Promise<void>;
}

export async function firstWorkingStrategy(ways: Way[], report: Report, help: string): Promise<void> {
  const reasons: string[] = [];
  for (const way of ways) {
    try {
      await way.take();
      return;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report(`  ${way.name}: no (${brief(reason)})`);
      reasons.push(`  - ${way.name}: ${reason}`);
    }
  }
  throw new Error(`${help}\nWhat was tried:\n${reasons.join('\n')}`);
}

// The whole reason is in the error at the end, should there be one.
function brief(reason: string): string {
  const [line = ''] = reason.split('\n');
  return line.length > 120 ? `${line.slice(0, 120)} …` : line;
}

// Tries several strategies for the same result, in order, and reports why each one failed.
import type { ReportProgress } from './report.ts';

export interface Strategy {
  name: string;
  /** Throws with the reason when this strategy does not work. */
  run(): Promise<void>;
}

export async function firstWorkingStrategy(
  strategies: Strategy[],
  report: ReportProgress,
  help: string,
): Promise<void> {
  const reasons: string[] = [];
  for (const strategy of strategies) {
    try {
      await strategy.run();
      return;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report(`  ${strategy.name}: no (${shorten(reason)})`);
      reasons.push(`  - ${strategy.name}: ${reason}`);
    }
  }
  throw new Error(`${help}\nWhat was tried:\n${reasons.join('\n')}`);
}

// The complete reason is part of the error at the end.
function shorten(reason: string): string {
  const [line = ''] = reason.split('\n');
  return line.length > 120 ? `${line.slice(0, 120)} …` : line;
}

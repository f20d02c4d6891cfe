/** Prints one line of progress. */
export type ReportProgress = (line: string) => void;

export const toStderr: ReportProgress = (line) => {
  process.stderr.write(`${line}\n`);
};

export const seconds = (since: number): string => `${Math.round((Date.now() - since) / 1000)} s`;

// A terminal shows progress every 5 seconds; a CI log stays short.
const everyMs = (): number => (process.stderr.isTTY && !process.env.CI ? 5_000 : 30_000);

/**
 * Reports `what` at the start and the elapsed time while `work` runs.
 * `detail` is called for each line: a download returns its megabytes, a build its last line.
 */
export async function withProgress<T>(
  report: ReportProgress,
  what: string,
  work: () => Promise<T>,
  detail?: () => string | undefined,
): Promise<T> {
  const started = Date.now();
  report(`${what} …`);
  const timer = setInterval(() => {
    const suffix = detail?.();
    report(`  … ${seconds(started)}${suffix ? `, ${suffix}` : ''}`);
  }, everyMs());
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

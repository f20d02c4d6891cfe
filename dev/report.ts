// One line of news for whoever is waiting at the terminal.
export type Report = (line: string) => void;

export const toStderr: Report = (line) => {
  process.stderr.write(`${line}\n`);
};

export const seconds = (since: number): string => `${Math.round((Date.now() - since) / 1000)} s`;

// A person wants to see life every few seconds; a CI log wants few lines.
const everyMs = (): number => (process.stderr.isTTY && !process.env.CI ? 5_000 : 30_000);

/**
 * Says what is going on and, while it lasts, for how long it has been going on.
 * `detail` is asked each time: a download gives its megabytes, a build its last line.
 */
export async function withProgress<T>(
  report: Report,
  what: string,
  work: () => Promise<T>,
  detail?: () => string | undefined,
): Promise<T> {
  const started = Date.now();
  report(`${what} …`);
  const timer = setInterval(() => {
    const more = detail?.();
    report(`  … ${seconds(started)}${more ? `, ${more}` : ''}`);
  }, everyMs());
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

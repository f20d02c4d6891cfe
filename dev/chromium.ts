// The machine's Chromium, for the browser tests and for the pictures of the documentation.
import { isExecutable, onPath } from './run.ts';

/** The first has no windows, menus and extensions, and takes two thirds of the processor time in our tests. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export const CHROMIUM_ARGS = ['--no-sandbox', '--disable-dev-shm-usage'];

/** Returns the path of the machine's Chromium, or throws with instructions. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string {
  const { CHROMIUM_PATH: given } = env;
  if (given && isExecutable(given)) return given;
  const found = given ? undefined : NAMES.map(onPath).find((path) => path !== undefined);
  if (found) return found;
  throw new Error(
    given
      ? `CHROMIUM_PATH is ${given}, where no program is.`
      : `The tests of the web application need Chromium, and none of ${NAMES.join(', ')} is on the PATH. Install it (Debian: "apt-get install chromium", macOS: "brew install --cask chromium"), or set CHROMIUM_PATH.`,
  );
}

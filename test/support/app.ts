// The web application in a browser, with the API that serves it.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Db } from '../../db/connect.ts';
import { freePort } from '../../dev/ports.ts';
import { type ApiProject, createProjectWithClients, startTestApi } from './api.ts';
import { type Visit, type VisitOptions, visit, webAppEnv } from './browser.ts';
import { ownNamespace, type Stack, startStack } from './stack.ts';

type VisitAs = Omit<VisitOptions, 'url'>;

interface Served {
  url: string;
  db: Db;
  stop(): Promise<void>;
}

export interface App extends Served {
  /** Creates a project with an owner who is signed in. */
  project(): Promise<ApiProject>;
  /** Opens a path in its own browser context, which is closed after the test. */
  visit(path: string, as?: VisitAs): Promise<Visit>;
  /** Like `visit`, and returns the page. */
  open(path: string, as?: VisitAs): Promise<Page>;
}

export type StackApp = App & Pick<Stack, 'smtp' | 'startWorker'>;

/** Settings, or how to get those of servers that must be started first. Close such servers in an `after` of the file. */
type AppSettings = Record<string, string> | (() => Promise<Record<string, string>>);

const read = async (settings: AppSettings): Promise<Record<string, string>> => ({
  ...(await webAppEnv()),
  RATE_LIMIT_PER_MINUTE: '0',
  ...(typeof settings === 'function' ? await settings() : settings),
});

/** Runs tests of pages that need no worker, with the API in this process. */
export function describeApp(title: string, settings: AppSettings, tests: (app: App) => void): void {
  const start = async (): Promise<Served> => {
    // A browser names the origin of a change, which must be that of the API.
    const PORT = String(await freePort());
    return startTestApi({ env: { ...(await read(settings)), PORT, BASE_URL: `http://127.0.0.1:${PORT}` } });
  };
  describeServed(title, start, tests);
}

/** Runs tests of pages with the API as a process and a Temporal namespace. The file starts the workers it needs. */
export function describeStackApp(title: string, settings: AppSettings, tests: (app: StackApp) => void): void {
  const start = async () => {
    const env = await read(settings);
    const temporal = await ownNamespace();
    let stack: Stack | undefined;
    const stop = async () => {
      await stack?.end();
      await temporal.close();
    };
    try {
      stack = await startStack(temporal, env);
      const { api, database, smtp, startWorker } = stack;
      return { url: api.url, db: database.db, smtp, startWorker, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  };
  describeServed(title, start, tests);
}

/** Whatever the browser complains about fails the test. */
function describeServed<S extends Served>(title: string, start: () => Promise<S>, tests: (app: App & S) => void): void {
  describe(title, () => {
    const visits: Visit[] = [];
    const open = async (path: string, as: VisitAs = {}): Promise<Visit> => {
      const opened = await visit({ url: app.url, ...as });
      visits.push(opened);
      await opened.page.goto(app.url + path);
      return opened;
    };
    const pages: Omit<App, keyof Served> = {
      project: () => createProjectWithClients(app.db, app.url),
      visit: open,
      open: async (path, as) => (await open(path, as)).page,
    };
    // Complete once the tests run.
    const app = { ...pages } as App & S;

    before(async () => {
      Object.assign(app, await start());
    });
    after(() => app.stop?.());
    afterEach(async function () {
      const closing = visits.splice(0);
      if (this.currentTest?.state === 'failed')
        for (const each of closing.filter(({ page }) => !page.isClosed()))
          console.log(`      ${await each.picture()}`, each.complaints);
      await Promise.all(closing.map((each) => each.close()));
      expect(closing.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
    });

    tests(app);
  });
}

import { existsSync, rmSync } from 'node:fs';
import { connectDb } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import type { Settings } from '../../platform/settings.ts';
import { docsSiteDir, plannedDocsSiteDir } from '../docs-site.ts';
import { portOrFree } from '../ports.ts';
import { compiledProgram } from '../program.ts';
import type { ReportProgress } from '../report.ts';
import { webAppDir } from '../web-app.ts';
import type { StackInfo } from './banner.ts';
import { type Credentials, demoCredentials } from './demo.ts';
import {
  apiPart,
  findTemporal,
  mailPart,
  type Ports,
  postgresPart,
  type StackContext,
  temporalPart,
  workerPart,
} from './parts.ts';
import { createSample } from './sample.ts';
import { writeSecretFile } from './secret-file.ts';

/** Starts every part that no setting replaces, and writes `stack.json` once all of them are ready. */
export async function startStack(
  context: Omit<StackContext, 'ports'>,
  settings: Settings,
  report: ReportProgress,
  { sample }: { sample: boolean },
): Promise<StackInfo> {
  const cli = settings.temporal.address ? undefined : await findTemporal(report);
  const contextWithPorts = { ...context, ports: await choosePorts(settings, report) };
  report('Starting Postgres, Temporal and the mail catcher …');
  const [program, webAppFiles, database, temporal, mail] = await Promise.all([
    compiledProgram(report),
    settings.webAppDir ?? webAppDir(report),
    databaseFor(contextWithPorts, settings, report),
    cli ? temporalPart(contextWithPorts, cli) : { address: settings.temporal.address ?? '', uiUrl: undefined },
    settings.smtpUrl ? { smtpUrl: settings.smtpUrl, mailUrl: null } : mailPart(contextWithPorts),
  ]);
  const baseUrl = process.env.BASE_URL ? settings.baseUrl : `http://localhost:${contextWithPorts.ports.api}`;
  const env = environment(contextWithPorts, {
    baseUrl,
    databaseUrl: database.url,
    temporal: temporal.address,
    temporalUi: temporal.uiUrl ?? settings.temporal.uiUrl,
    smtp: mail.smtpUrl,
    webApp: webAppFiles,
    docs: settings.docsDir ?? plannedDocsSiteDir(program),
  });
  report('Starting the API and the worker …');
  await Promise.all([apiPart(contextWithPorts, program, env), workerPart(contextWithPorts, program, env)]);
  const apiUrl = new URL(baseUrl).origin;
  const info = {
    apiUrl,
    appUrl: `${apiUrl}/app/`,
    docsUrl: `${apiUrl}/docs`,
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl ?? null,
    mailUrl: mail.mailUrl,
    smtpUrl: mail.smtpUrl,
    databaseUrl: database.url,
    ...database.credentials,
  };
  if (sample)
    await createSample(info, { file: context.home.file('sample.json'), secretKeys: settings.secretKeys, report });
  writeSecretFile(stackFile(context), info);
  return info;
}

export const areDocsBuilt = async ({ docsDir }: Pick<Settings, 'docsDir'>): Promise<boolean> =>
  docsDir !== undefined || existsSync(plannedDocsSiteDir(await compiledProgram()));

/** Builds the documentation while the stack is running; `/docs` says so until then. Without it, everything else works. */
export async function buildDocs(settings: Settings, docsUrl: string, report: ReportProgress): Promise<void> {
  if (await areDocsBuilt(settings)) return;
  try {
    await docsSiteDir(await compiledProgram(), report);
    report(`The documentation is ready: ${docsUrl}`);
  } catch (error) {
    report(`The documentation at /docs could not be built: ${error instanceof Error ? error.message : error}`);
  }
}

/** Returns a link that signs the demo user in; undefined where the API has no such links. */
export async function signInLink({ apiUrl, user }: StackInfo): Promise<string | undefined> {
  const response = await fetch(`${apiUrl}/auth/login-link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: user.email }),
  });
  if (!response.ok) return undefined;
  return ((await response.json()) as { data: { url: string } }).data.url;
}

export const stackFile = ({ home }: Pick<StackContext, 'home'>): string => home.file('stack.json');

/** Removed before anything else stops: while it exists, the stack answers. */
export const removeStackFile = (context: Pick<StackContext, 'home'>): void =>
  rmSync(stackFile(context), { force: true });

async function choosePorts(settings: Settings, report: ReportProgress): Promise<Ports> {
  const choose = (what: string, wanted: number) => portOrFree(what, wanted, report);
  return {
    api: await choose('the API', settings.port),
    worker: await choose('the worker', settings.workerPort),
    postgres: settings.databaseUrl ? 0 : await choose('Postgres', 54_320),
    temporal: settings.temporal.address ? 0 : await choose('Temporal', 7233),
    temporalUi: settings.temporal.address ? 0 : await choose('the Temporal UI', 8233),
    smtp: settings.smtpUrl ? 0 : await choose('the mail catcher (SMTP)', 1025),
    mail: settings.smtpUrl ? 0 : await choose('the mail page', 8025),
    returnedMail: settings.smtpUrl ? 0 : await choose('returned mail', settings.mailFrom.bouncePort ?? 1026),
  };
}

async function databaseFor(
  context: StackContext,
  settings: Settings,
  report: ReportProgress,
): Promise<{ url: string; credentials: Credentials }> {
  const url = settings.databaseUrl ?? (await postgresPart(context));
  const applied = await migrate(url);
  if (applied.length > 0) report(`Database migrated: ${applied.join(', ')}`);
  const db = connectDb({ databaseUrl: url, poolSize: 2, name: 'everpost-start' });
  try {
    const file = context.home.file('credentials.json');
    const shared = settings.databaseUrl !== undefined;
    return { url, credentials: await demoCredentials(db, { file, shared, report, secretKeys: settings.secretKeys }) };
  } finally {
    await db.destroy();
  }
}

interface Addresses {
  baseUrl: string;
  databaseUrl: string;
  temporal: string;
  temporalUi: string | undefined;
  smtp: string;
  webApp: string;
  docs: string;
}

function environment(
  { home, ports }: StackContext,
  { baseUrl, databaseUrl, temporal, temporalUi, smtp, webApp, docs }: Addresses,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    EVERPOST_HOME: home.dir,
    PORT: String(ports.api),
    WORKER_PORT: String(ports.worker),
    BASE_URL: baseUrl,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_UI_URL: temporalUi,
    SMTP_URL: smtp,
    ...(ports.returnedMail > 0 && { BOUNCE_SMTP_PORT: String(ports.returnedMail) }),
    WEB_APP_DIR: webApp,
    DOCS_DIR: docs,
  };
}

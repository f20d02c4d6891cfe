// `npm run cluster`: the platform as in production, on one machine. Data is kept in `.everpost/cluster`; Ctrl-C ends it.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startCatcher } from '../mail-catcher/catcher.ts';
import { portOrFree } from '../ports.ts';
import { compiledProgram } from '../program.ts';
import { type ReportProgress, withProgress } from '../report.ts';
import { webAppDir } from '../web-app.ts';
import { startCluster } from './cluster.ts';

const print: ReportProgress = (line) => console.log(line);

async function main(): Promise<void> {
  const dir = resolve(process.env.EVERPOST_HOME ?? '.everpost', 'cluster');
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const program = await withProgress(print, 'Compiling the program', compiledProgram);
  const mail = await startCatcher({
    dir: join(dir, 'mail'),
    smtpPort: await portOrFree('the mail catcher (SMTP)', 1025, print),
    httpPort: await portOrFree('the mail page', 8025, print),
  });
  const cluster = await startCluster({
    dir,
    program,
    smtpUrl: mail.smtpUrl,
    report: print,
    env: { WEB_APP_DIR: await webAppDir(print) },
    apiPort: await portOrFree('the API', 3000, print),
  });
  console.log(`
The cluster runs. Data and logs are in ${dir}.
  API            http://localhost:${new URL(cluster.apiUrl).port} (two processes behind a balancer)
  Dashboard      http://localhost:${new URL(cluster.apiUrl).port}/app/
  Mail           ${mail.url}
  Temporal       ${cluster.temporalAddress} (two nodes behind a balancer)
  Postgres       ${cluster.databaseUrl}
Ctrl-C ends it.`);
  await new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  });
  console.log('Stopping …');
  await cluster.stop();
  await mail.stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);

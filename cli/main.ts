import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { migrate } from '../db/migrate.ts';
import { sourceExtension } from '../platform/process-flags.ts';
import { readSettings } from '../platform/settings.ts';
import { productVersion } from '../platform/version.ts';
import { keysRotate, projectCreate, projectDisable, projectEnable, userCreate } from './accounts.ts';
import { backup, restore } from './backup.ts';
import { environment } from './environment.ts';
import { mailBlocked } from './mail.ts';
import { projectList, showQueues, userMakeOperator, userResetTwoFactor } from './operators.ts';
import { outboxParked, outboxRetry } from './outbox.ts';
import { type CommandResult, printError, printOutcome } from './output.ts';
import { apiOf, type ListenOptions, type WebhookCliOptions, webhooksListen, webhooksReplay } from './webhooks.ts';

interface Json {
  json?: boolean;
}

/** Loaded on demand: Temporal's client takes half the time of a start, and most commands do not need it. */
const deployment = () => import('./deploy.ts');

/** Builds the command tree. Every command takes `--json`. */
export function buildProgram(): Command {
  const everpost = new Command('everpost')
    .description('Administers an Everpost installation.')
    .version(productVersion)
    .showHelpAfterError();
  const command = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).option('--json', 'answer with one JSON object');

  const user = everpost.command('user').description('people');
  command(user, 'create', 'open an account; the address counts as verified')
    .requiredOption('--email <address>')
    .option('--password <text>', 'generated and shown when omitted')
    .action((options: Json & { email: string; password?: string }) =>
      printOutcome(options.json, () => userCreate(options)),
    );

  command(user, 'make-operator', 'let a user operate the installation')
    .argument('<address>')
    .action((email: string, options: Json) => printOutcome(options.json, () => userMakeOperator(email)));
  command(user, 'reset-2fa', 'turn two-factor authentication off for a user who lost it')
    .argument('<address>')
    .action((email: string, options: Json) => printOutcome(options.json, () => userResetTwoFactor(email)));

  const project = everpost.command('project').description('projects');
  command(project, 'list', 'list projects with volume, rates and state')
    .option('--search <text>', 'part of the name, an id, or the address of a member')
    .action((options: Json & { search?: string }) => printOutcome(options.json, () => projectList(options)));
  command(project, 'create', 'create a project and its keys')
    .requiredOption('--name <text>')
    .requiredOption('--owner <address>', 'address of an existing user')
    .action((options: Json & { name: string; owner: string }) =>
      printOutcome(options.json, () => projectCreate(options)),
    );
  command(project, 'disable', 'refuse writes and block mail; reading works')
    .argument('<id>')
    .option('--reason <text>', 'shown to its members', 'disabled by the operator')
    .action((id: string, options: Json & { reason: string }) =>
      printOutcome(options.json, () => projectDisable(id, options.reason)),
    );
  command(project, 'enable', 'accept writes again and send blocked mail')
    .argument('<id>')
    .action((id: string, options: Json) => printOutcome(options.json, () => projectEnable(id)));

  const keys = everpost.command('keys').description('keys of projects');
  command(keys, 'rotate', 'replace both keys; the old ones end at once')
    .argument('<project id>')
    .action((id: string, options: Json) => printOutcome(options.json, () => keysRotate(id)));

  const outbox = everpost.command('outbox').description('messages to Temporal');
  command(outbox, 'parked', 'list messages that failed too often').action((options: Json) =>
    printOutcome(options.json, outboxParked),
  );
  command(outbox, 'retry', 'retry a parked message')
    .argument('[id]')
    .option('--all', 'retry all parked messages')
    .action((id: string | undefined, options: Json & { all?: boolean }) =>
      printOutcome(options.json, () => outboxRetry(id, options)),
    );

  command(everpost, 'queues', 'show the depth and age of all queues').action((options: Json) =>
    printOutcome(options.json, showQueues),
  );

  const deploy = everpost.command('deploy').description('builds of the workflow code');
  command(deploy, 'status', 'list builds: which is current, which have workers').action((options: Json) =>
    printOutcome(options.json, async () => (await deployment()).deployStatus()),
  );
  command(deploy, 'set-current', 'send workflow tasks to a build, forward or back')
    .argument('<build>', 'as "deploy status" lists it; "unversioned" for workers without builds')
    .action((build: string, options: Json) =>
      printOutcome(options.json, async () => (await deployment()).deploySetCurrent(build)),
    );

  const workflows = everpost.command('workflows').description('Temporal workflows');
  command(workflows, 'stuck', 'list workflows whose task fails again and again').action((options: Json) =>
    printOutcome(options.json, async () => (await deployment()).workflowsStuck()),
  );
  command(workflows, 'heal', 'start stuck workflows anew, from the state in the database').action((options: Json) =>
    printOutcome(options.json, async () => (await deployment()).workflowsHeal()),
  );

  const namespace = everpost.command('namespace').description("Temporal's namespace");
  command(namespace, 'take', 'take it from an installation that no longer exists').action((options: Json) =>
    printOutcome(options.json, async () => (await deployment()).namespaceTake()),
  );

  const mail = everpost.command('mail').description('mail that is to be sent');
  command(mail, 'blocked', 'count blocked mail by project and reason').action((options: Json) =>
    printOutcome(options.json, mailBlocked),
  );

  const webhooks = everpost.command('webhooks').description('outbound webhooks of a project, through its API');
  const ofProject = (webhookCommand: Command) =>
    webhookCommand
      .option('--key <secret key>', 'of the project; by default EVERPOST_SECRET_KEY')
      .option('--api <url>', 'address of the API; by default EVERPOST_URL, then BASE_URL');
  ofProject(command(webhooks, 'listen', 'forward what happens to a URL, for local development'))
    .requiredOption('--forward <url>', 'called for every webhook, as an endpoint would be')
    .option('--types <list>', 'comma list such as email.*,event.bought; all by default')
    .action((options: ListenOptions) =>
      webhooksListen(options).catch((error: unknown) => printError(options.json, error)),
    );
  ofProject(command(webhooks, 'replay', 'deliver an event once more, with the same webhook-id'))
    .argument('<delivery>')
    .action((id: string, options: Json & WebhookCliOptions) =>
      printOutcome(options.json, () => webhooksReplay(id, options)),
    );

  everpost
    .command('mcp')
    .description('serve a project to an assistant, over standard input and output (Model Context Protocol)')
    .option('--write', 'offer tools that change something or send mail')
    .option('--api <url>', 'address of the API; by default EVERPOST_URL, then BASE_URL')
    .addHelpText('after', '\nThe key is that of EVERPOST_SECRET_KEY; use one with scopes.')
    .action((options: { write?: boolean; api?: string }) =>
      runMcp(options).catch((error: unknown) => printError(false, error)),
    );

  everpost
    .command('start')
    .description('run everything in this folder, to try it: Postgres, Temporal, a mail catcher, API and worker')
    .option('--fresh', 'delete all data first')
    .option('--no-sample', 'leave out the project "Sample shop"')
    .action((options: { fresh?: boolean; sample: boolean }) =>
      start(options).catch((error: unknown) => printError(false, error)),
    );
  everpost
    .command('serve')
    .description('run API and worker in one process, for a small installation')
    .action(async () => (await import('./serve.ts')).serve());
  command(everpost, 'migrate', 'bring the database up to date').action((options: Json) =>
    printOutcome(options.json, runMigrations),
  );
  command(everpost, 'backup', 'copy the data of a stopped `npm start` to a file')
    .argument('<file>')
    .action((file: string, options: Json) => printOutcome(options.json, () => backup(file)));
  command(everpost, 'restore', 'put the data of a backup back in place of the present data')
    .argument('<file>')
    .option('--replace', 'put present data aside')
    .action((file: string, options: Json & { replace?: boolean }) =>
      printOutcome(options.json, () => restore(file, options)),
    );
  command(everpost, 'doctor', 'check settings, database, Temporal, SMTP and DNS').action((options: Json) =>
    printOutcome(options.json, async () => (await import('./doctor.ts')).doctor()),
  );
  return everpost;
}

/** The image has no stack to start, only the program. */
async function start({ fresh, sample }: { fresh?: boolean; sample: boolean }): Promise<void> {
  const file = new URL(`../dev/start${sourceExtension}`, import.meta.url);
  if (!existsSync(file)) throw new Error('This build has no stack to start. Use "everpost serve", or API and worker.');
  const stack = (await import(file.href)) as { start(args: string[]): void };
  stack.start([...(fresh ? ['--fresh'] : []), ...(sample ? [] : ['--no-sample'])]);
}

/** Loads the server on demand: no other command needs its packages. */
async function runMcp({ write = false, api }: { write?: boolean; api?: string }): Promise<void> {
  if (!process.env.EVERPOST_SECRET_KEY) throw new Error('Set EVERPOST_SECRET_KEY to a secret key of the project.');
  const { url, key } = apiOf(api === undefined ? {} : { api });
  const { serveMcp } = await import('./mcp/server.ts');
  await serveMcp({ write, url, key });
}

async function runMigrations(): Promise<CommandResult> {
  const { databaseUrl = '' } = readSettings(environment(), ['DATABASE_URL']);
  const applied = await migrate(databaseUrl);
  return {
    lines: [applied.length > 0 ? `applied ${applied.join(', ')}` : 'the database is up to date'],
    json: { applied },
  };
}

export async function main(argv: string[]): Promise<void> {
  await buildProgram().parseAsync(argv);
}

/** Runs the program when started as `node dist/cli/main.js`; everpost.mjs calls `main` itself. */
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) void main(process.argv);

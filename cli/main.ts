import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { migrate } from '../db/migrate.ts';
import { readSettings } from '../platform/settings.ts';
import { keysRotate, projectCreate, projectDisable, projectEnable, userCreate } from './accounts.ts';
import { doctor } from './doctor.ts';
import { type Outcome, tell } from './output.ts';
import { environment } from './surroundings.ts';

interface Json {
  json?: boolean;
}

/** All commands; each takes `--json`. */
export function program(): Command {
  const everpost = new Command('everpost').description('Looks after an Everpost installation.').showHelpAfterError();
  const command = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).option('--json', 'answer with one JSON object');

  const user = everpost.command('user').description('people');
  command(user, 'create', 'open an account; the address counts as verified')
    .requiredOption('--email <address>')
    .option('--password <text>', 'one is made up and shown when none is given')
    .action((options: Json & { email: string; password?: string }) => tell(options.json, () => userCreate(options)));

  const project = everpost.command('project').description('projects');
  command(project, 'create', 'create a project and its keys')
    .requiredOption('--name <text>')
    .requiredOption('--owner <address>', 'of a user')
    .action((options: Json & { name: string; owner: string }) => tell(options.json, () => projectCreate(options)));
  command(project, 'disable', 'refuse writes and hold mail; reading works')
    .argument('<id>')
    .option('--reason <text>', 'shown to its members', 'disabled by the operator')
    .action((id: string, options: Json & { reason: string }) =>
      tell(options.json, () => projectDisable(id, options.reason)),
    );
  command(project, 'enable', 'take everything up again, mail that was held too')
    .argument('<id>')
    .action((id: string, options: Json) => tell(options.json, () => projectEnable(id)));

  const keys = everpost.command('keys').description('keys of projects');
  command(keys, 'rotate', 'replace both keys; the old ones end at once')
    .argument('<project id>')
    .action((id: string, options: Json) => tell(options.json, () => keysRotate(id)));

  command(everpost, 'migrate', 'bring the database up to date').action((options: Json) =>
    tell(options.json, runMigrations),
  );
  command(everpost, 'doctor', 'look at settings, database, Temporal, SMTP and DNS').action((options: Json) =>
    tell(options.json, doctor),
  );
  return everpost;
}

async function runMigrations(): Promise<Outcome> {
  const { databaseUrl = '' } = readSettings(environment(), ['DATABASE_URL']);
  const applied = await migrate(databaseUrl);
  return {
    lines: [applied.length > 0 ? `applied ${applied.join(', ')}` : 'the database is up to date'],
    json: { applied },
  };
}

export async function main(argv: string[]): Promise<void> {
  await program().parseAsync(argv);
}

/** `node dist/cli/main.js`: called by its own name, and not by everpost.mjs. */
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) void main(process.argv);

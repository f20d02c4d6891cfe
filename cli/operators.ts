import { User } from '../db/models/user.ts';
import { parseAddress } from '../platform/address.ts';
import { makeOperator, resetTwoFactor } from '../services/operators/accounts.ts';
import { listQueues } from '../services/operators/overview.ts';
import { listAllProjects, type OperatorProject } from '../services/operators/projects.ts';
import { withDb } from './environment.ts';
import type { CommandResult } from './output.ts';

/** Lists the queues with depth and age. */
export async function showQueues(): Promise<CommandResult> {
  return withDb(async (db) => {
    const found = await listQueues(db);
    return {
      lines: found.map(({ name, depth, oldestSeconds }) =>
        depth > 0 ? `${name}: ${depth}, the oldest for ${Math.round(oldestSeconds)} s` : `${name}: empty`,
      ),
      json: { queues: found },
    };
  });
}

const PAGE = 100;

/** Lists all projects, or those that `search` matches. */
export async function projectList({ search }: { search?: string }): Promise<CommandResult> {
  return withDb(async (db, { secretKeys }) => {
    const projects: OperatorProject[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listAllProjects(db, secretKeys, { search, limit: PAGE, cursor });
      projects.push(...page.data);
      cursor = page.cursor;
    }
    return { lines: projects.length > 0 ? projects.map(lineOf) : ['No project found.'], json: { projects } };
  });
}

const lineOf = ({ id, name, disabled, disabledReason, volume, rates }: OperatorProject): string =>
  [
    `${id} ${name}: ${disabled ? `disabled (${disabledReason ?? 'no reason'})` : 'enabled'}`,
    `${volume.last24h} mails in a day, ${volume.last30d} in 30 days`,
    rates.last7d.level,
  ].join('; ');

export const userMakeOperator = (email: string): Promise<CommandResult> =>
  changeUser(email, makeOperator, {
    changed: 'is an operator now',
    unchanged: 'was an operator before',
  });

export const userResetTwoFactor = (email: string): Promise<CommandResult> =>
  changeUser(email, resetTwoFactor, {
    changed: 'has no two-factor authentication any more',
    unchanged: 'had no two-factor authentication',
  });

async function changeUser(
  email: string,
  change: (db: Parameters<typeof makeOperator>[0], user: User) => Promise<boolean>,
  texts: { changed: string; unchanged: string },
): Promise<CommandResult> {
  return withDb(async (db) => {
    const user = await User.query(db).findOne({ email: parseAddress(email) ?? '' });
    if (!user) throw new Error(`There is no user ${email}.`);
    const changed = await change(db, user);
    return {
      lines: [`${user.email} ${changed ? texts.changed : texts.unchanged}`],
      json: { user: { id: user.id, email: user.email }, changed },
    };
  });
}

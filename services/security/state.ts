import type { Db } from '../../db/connect.ts';
import { rateHours } from '../../db/models/activity-counts.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectSuspension } from '../../db/models/project-suspension.ts';
import { statement } from '../../db/statement.ts';
import { noProject } from '../access/membership.ts';

export const levels = ['healthy', 'warning', 'critical'] as const;
export type Level = (typeof levels)[number];

/** Rates of fewer mails are not meaningful. */
export const MINIMUM_MAILS = 100;

/** The limits of large mailbox providers, which reject senders from `critical` on. */
export const thresholds = {
  bounceRate: { warning: 0.05, critical: 0.1 },
  complaintRate: { warning: 0.001, critical: 0.005 },
} as const;

interface ReputationCounts {
  sent: number;
  /** Refused recipients. They count as bounces too, and were not sent to. */
  refused: number;
  bounced: number;
  complained: number;
}

export interface Rates extends ReputationCounts {
  bounceRate: number;
  complaintRate: number;
  bounceLevel: Level;
  complaintLevel: Level;
  level: Level;
}

/** Computes rates and levels from counts. */
export function ratesOf(counts: ReputationCounts): Rates {
  const { sent, refused, bounced, complained } = counts;
  const offered = sent + refused;
  const bounceRate = offered > 0 ? bounced / offered : 0;
  const complaintRate = sent > 0 ? complained / sent : 0;
  const bounceLevel = levelOf('bounceRate', bounceRate, offered);
  const complaintLevel = levelOf('complaintRate', complaintRate, sent);
  return {
    ...counts,
    bounceRate,
    complaintRate,
    bounceLevel,
    complaintLevel,
    level: worst(bounceLevel, complaintLevel),
  };
}

function levelOf(kind: keyof typeof thresholds, rate: number, mails: number): Level {
  if (mails < MINIMUM_MAILS || rate < thresholds[kind].warning) return 'healthy';
  return rate < thresholds[kind].critical ? 'warning' : 'critical';
}

export const worst = (...given: Level[]): Level => levels.findLast((level) => given.includes(level)) ?? 'healthy';

type Window = 'last24h' | 'last7d' | 'allTime';
const starts: Record<Window, string> = {
  last24h: "now() - interval '24 hours'",
  last7d: "now() - interval '7 days'",
  allTime: "'-infinity'",
};
const windows = Object.keys(starts) as Window[];

type Sums = Record<`${Window}${Capitalize<keyof ReputationCounts>}`, string>;
const column = (window: Window, count: keyof ReputationCounts) =>
  `coalesce(sum(${count}) filter (where hour >= date_trunc('hour', ${starts[window]}, 'UTC')), 0) as "${window}_${count}"`;
const columns = windows.flatMap((window) => [
  column(window, 'sent'),
  column(window, 'refused'),
  column(window, 'bounced'),
  column(window, 'complained'),
]);

const sums = statement<Sums>('security-sums', `select ${columns.join(', ')} from ${rateHours('$1')} h`);

export interface Suspension {
  reason: string;
  automatic: boolean;
  disabledAt: Date;
  enabledAt: Date | null;
}

export interface SecurityState {
  level: Level;
  disabled: boolean;
  disabledReason: string | null;
  rates: Record<Window, Rates>;
  suspensions: Suspension[];
}

const MAX_SUSPENSIONS = 20;

export async function securityState(db: Db, projectId: string): Promise<SecurityState> {
  const project = await Project.query(db).findById(projectId);
  if (!project) throw noProject();
  const rates = await readRates(db, projectId);
  const suspensions = await ProjectSuspension.query(db)
    .where({ projectId })
    .orderBy('disabledAt', 'desc')
    .limit(MAX_SUSPENSIONS)
    .select('reason', 'automatic', 'disabledAt', 'enabledAt');
  const { disabled, disabledReason } = project;
  return { level: worst(...windows.map((name) => rates[name].level)), disabled, disabledReason, rates, suspensions };
}

export async function readRates(db: Db, projectId: string): Promise<Record<Window, Rates>> {
  const [row] = await sums(db, [projectId]);
  const of = (window: Window): Rates =>
    ratesOf({
      sent: Number(row?.[`${window}Sent`] ?? 0),
      refused: Number(row?.[`${window}Refused`] ?? 0),
      bounced: Number(row?.[`${window}Bounced`] ?? 0),
      complained: Number(row?.[`${window}Complained`] ?? 0),
    });
  return { last24h: of('last24h'), last7d: of('last7d'), allTime: of('allTime') };
}

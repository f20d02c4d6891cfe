import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
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

type Sums = Record<`${Window}_${keyof ReputationCounts}`, string>;
const column = (window: Window, count: keyof ReputationCounts) =>
  `coalesce(sum(${count}) filter (where hour >= date_trunc('hour', ${starts[window]}, 'UTC')), 0) as "${window}_${count}"`;
const columns = windows.flatMap((window) => [
  column(window, 'sent'),
  column(window, 'refused'),
  column(window, 'bounced'),
  column(window, 'complained'),
]);

// Reads hourly counts and deltas, no mail.
const sums = statement<Sums>(
  'security-sums',
  `select ${columns.join(', ')} from (
     select hour, sent, refused, bounced, complained from activity_hours where project_id = $1
     union all
     select hour, sent, refused, bounced, complained from past_rate_hours where project_id = $1
     union all
     select date_trunc('hour', at, 'UTC'), case when kind = 'sent' then delta else 0 end,
       case when kind = 'refused' then delta else 0 end, case when kind = 'bounced' then delta else 0 end, case when kind = 'complained' then delta else 0 end
     from activity_deltas where project_id = $1
   ) counted`,
);

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
  const suspensions = await db('projectSuspensions')
    .where({ projectId })
    .orderBy('disabledAt', 'desc')
    .limit(MAX_SUSPENSIONS)
    .select<Suspension[]>('reason', 'automatic', 'disabledAt', 'enabledAt');
  const { disabled, disabledReason } = project;
  return { level: worst(...windows.map((name) => rates[name].level)), disabled, disabledReason, rates, suspensions };
}

export async function readRates(db: Db, projectId: string): Promise<Record<Window, Rates>> {
  const [row] = await sums(db, [projectId]);
  const of = (window: Window): Rates =>
    ratesOf({
      sent: Number(row?.[`${window}_sent`] ?? 0),
      refused: Number(row?.[`${window}_refused`] ?? 0),
      bounced: Number(row?.[`${window}_bounced`] ?? 0),
      complained: Number(row?.[`${window}_complained`] ?? 0),
    });
  return { last24h: of('last24h'), last7d: of('last7d'), allTime: of('allTime') };
}

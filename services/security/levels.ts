export const levels = ['healthy', 'warning', 'critical'] as const;
export type Level = (typeof levels)[number];

/** Rates of fewer mails are not meaningful. */
export const MINIMUM_MAILS = 100;

/** The limits of large mailbox providers, which reject senders from `critical` on. */
export const thresholds = {
  bounceRate: { warning: 0.05, critical: 0.1 },
  complaintRate: { warning: 0.001, critical: 0.005 },
} as const;

export interface ReputationCounts {
  sent: number;
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
  const { sent, bounced, complained } = counts;
  const bounceRate = sent > 0 ? bounced / sent : 0;
  const complaintRate = sent > 0 ? complained / sent : 0;
  const bounceLevel = levelOf('bounceRate', bounceRate, sent);
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

function levelOf(kind: keyof typeof thresholds, rate: number, sent: number): Level {
  if (sent < MINIMUM_MAILS || rate < thresholds[kind].warning) return 'healthy';
  return rate < thresholds[kind].critical ? 'warning' : 'critical';
}

export const worst = (...given: Level[]): Level => levels.findLast((level) => given.includes(level)) ?? 'healthy';

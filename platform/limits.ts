/** Storage limits of a project or a user. Each has a setting. */
export interface Limits {
  /** Keys in one `data` object. */
  dataKeys: number;
  /** Per project. */
  customFields: number;
  eventNames: number;
  segments: number;
  templates: number;
  topics: number;
  forms: number;
  workflows: number;
  webhookEndpoints: number;
  scopedKeys: number;
  openJobs: number;
  runningJobs: number;
  uploadBytes: number;
  projectsPerUser: number;
}

/** Fits a Postgres integer, which has no infinity. */
const NO_LIMIT = 2_000_000_000;

/** For callers inside the service, such as the CLI and the demo. */
export const UNLIMITED: Limits = {
  dataKeys: NO_LIMIT,
  customFields: NO_LIMIT,
  eventNames: NO_LIMIT,
  segments: NO_LIMIT,
  templates: NO_LIMIT,
  topics: NO_LIMIT,
  forms: NO_LIMIT,
  workflows: NO_LIMIT,
  webhookEndpoints: NO_LIMIT,
  scopedKeys: NO_LIMIT,
  openJobs: NO_LIMIT,
  runningJobs: NO_LIMIT,
  uploadBytes: Number.MAX_SAFE_INTEGER,
  projectsPerUser: NO_LIMIT,
};

/** The public key may create at most half of the custom fields and event names: every visitor of a page can read it. */
export const publicKeyLimits = (limits: Limits): Limits => ({
  ...limits,
  customFields: Math.floor(limits.customFields / 2),
  eventNames: Math.floor(limits.eventNames / 2),
});

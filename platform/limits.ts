/** How much one project, or one user, may store. Each has a setting. */
export interface Limits {
  /** Keys in one `data` object. */
  dataKeys: number;
  /** Per project. */
  customFields: number;
  eventNames: number;
  segments: number;
  templates: number;
  workflows: number;
  openJobs: number;
  runningJobs: number;
  uploadBytes: number;
  projectsPerUser: number;
}

/** Fits an integer parameter of Postgres, which has no infinity. */
const NONE = 2_000_000_000;

/** For callers inside the service, such as the CLI and the demo. */
export const UNLIMITED: Limits = {
  dataKeys: NONE,
  customFields: NONE,
  eventNames: NONE,
  segments: NONE,
  templates: NONE,
  workflows: NONE,
  openJobs: NONE,
  runningJobs: NONE,
  uploadBytes: Number.MAX_SAFE_INTEGER,
  projectsPerUser: NONE,
};

/** Of custom fields and event names, the public key may create at most half: everyone who sees a page has it. */
export const publicShareOf = (limits: Limits): Limits => ({
  ...limits,
  customFields: Math.floor(limits.customFields / 2),
  eventNames: Math.floor(limits.eventNames / 2),
});

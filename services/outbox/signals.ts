// The names under which Temporal knows our signals and updates. This file imports nothing and is the only one that defines
// them: `workflows/` and `temporal/`, which may not import services, check their literals against these types. The values
// are part of recorded histories and must not change.

export const signalNames = {
  /** Asks a campaign or an execution to read its row again. Carries no state. */
  refresh: 'lookAgain',
} as const;
export type SignalNames = typeof signalNames;

export const updateNames = {
  /** Asks a domain's loop for a check, and returns when it is done. */
  checkDomain: 'checkNow',
} as const;
export type UpdateNames = typeof updateNames;

// The messages between the test runner and its mocha children.

/** Servers that all children share, started when the first of them asks. */
export type SharedServer = 'postgres' | 'temporal';

export interface FileResult {
  file: string;
  passed: number;
  failed: number;
  /** The full titles of the failed tests, with the reason. */
  failures: string[];
  seconds: number;
  /** Processor seconds of the child and of the processes that it started. */
  cpu: number;
  /** What mocha printed. */
  output: string;
}

/** What only a run of all API tests can judge: each list is complete after the last file of a child. */
export interface Leftovers {
  /** Undefined when the child has started no API. */
  unusedStatements: string[] | undefined;
  unseenAnswers: string[] | undefined;
}

export type ToChild =
  | { kind: 'run'; file: string; grep: string | undefined }
  | { kind: 'server'; server: SharedServer; address?: string; error?: string }
  | { kind: 'end' };

export type FromChild =
  | { kind: 'ready' }
  | { kind: 'server'; server: SharedServer }
  | { kind: 'failure'; file: string; failure: string }
  | { kind: 'result'; result: FileResult }
  | { kind: 'leftovers'; leftovers: Leftovers };

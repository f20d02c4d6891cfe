import type { Db } from '../../db/connect.ts';
import type { AnswerRecorder } from '../recorder.ts';
import type { ProofRow } from '../report.ts';
import type { ProofSetup } from './setup.ts';
import type { ProofStack } from './stack.ts';

export interface CheckContext {
  db: Db;
  stack: ProofStack;
  setup: ProofSetup;
  recorder: AnswerRecorder;
}

export type CheckRow = Omit<ProofRow, 'part'>;

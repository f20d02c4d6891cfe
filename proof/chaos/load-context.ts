import type { ProofClient } from '../client.ts';
import type { SeededRandom } from '../random.ts';
import type { AnswerRecorder } from '../recorder.ts';
import type { ProofSetup } from './setup.ts';
import type { ProofStack } from './stack.ts';

export interface LoadContext {
  stack: ProofStack;
  setup: ProofSetup;
  recorder: AnswerRecorder;
  random: SeededRandom;
  client: ProofClient;
  /** Unique within the run. */
  next(): number;
  isOver(): boolean;
}

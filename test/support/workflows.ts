// The product's workflows, and one that returns what happened to it.
import { condition, defineSignal, isCancellation, setHandler } from '@temporalio/workflow';

export * from '../../workflows/index.ts';

export const note = defineSignal<[string]>('note');

/** Collects signals until it gets the text `end`, or is cancelled. */
export async function probe(first: string): Promise<string[]> {
  const received = [first];
  setHandler(note, (text) => void received.push(text));
  try {
    await condition(() => received.includes('end'));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    received.push('cancelled');
  }
  return received;
}

// The product's workflows, and one more that tells what was done to it.
import { condition, defineSignal, isCancellation, setHandler } from '@temporalio/workflow';

export * from '../../workflows/index.ts';

export const note = defineSignal<[string]>('note');

/** Collects notes until it gets the note `end`, or is cancelled. */
export async function probe(first: string): Promise<string[]> {
  const notes = [first];
  setHandler(note, (text) => void notes.push(text));
  try {
    await condition(() => notes.includes('end'));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    notes.push('cancelled');
  }
  return notes;
}

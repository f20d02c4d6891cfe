// Another version of the workflow `execution`, whose history does not match the real one.
import { sleep } from '@temporalio/workflow';

export async function execution(): Promise<string> {
  await sleep('1 second');
  await sleep('1 day');
  return 'COMPLETED';
}

import { join } from 'node:path';
import { LimitedProcess, type ProcessLimits } from '../limited-process.ts';
import { restrictedProcessFlags, sourceExtension } from '../process-flags.ts';
import type { EncodedResults, RenderBatch } from './protocol.ts';

export type RendererProcess = LimitedProcess<RenderBatch, EncodedResults>;

/** What the process may read of this program. */
const folders = [import.meta.dirname, join(import.meta.dirname, '..', 'conditions')];
const entry = join(import.meta.dirname, `child${sourceExtension}`);

export const startRendererProcess = (limits: ProcessLimits): RendererProcess =>
  new LimitedProcess({ name: 'renderer', entry, execArgv: restrictedProcessFlags(folders), limits });

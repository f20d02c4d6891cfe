// A real compose process, except that words in the subject of a mail make it hang, fill its memory or be killed.
import { serveParent } from '../../services/sending/compose-worker.ts';

const kept: unknown[] = [];

serveParent(({ subject }) => {
  // Waits for ever, without taking processor time from others.
  if (subject.includes('HANG')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (subject.includes('FILL HEAP')) for (;;) kept.push(new Array(100_000).fill(kept.length));
  if (subject.includes('FILL BUFFERS')) for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
  // As V8 does when its heap is full.
  if (subject.includes('ABORT')) process.abort();
  if (subject.includes('KILL')) process.kill(process.pid, 'SIGKILL');
});

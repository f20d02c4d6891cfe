// Temporal's development server has one shard in one SQLite file. A transaction that is interrupted (a full disk, too little
// CPU) can leave it unable to write for good: it then answers "shard status unknown" to everything until it is started again.
// A server with a database of its own does not get into this state. This is the supervisor that starts it again.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const LOST_SHARD = 'shard status unknown';
const LOOK_MS = 5_000;
/** After a full disk the server needs some seconds to get its shard back by itself. */
const LOOKS = 6;

export interface TemporalWatch {
  stop(): void;
}

/** Calls `restart` when the log has named the lost shard for half a minute, without a pause. */
export function watchTemporal(logFile: string, restart: () => Promise<void>, lookMs = LOOK_MS): TemporalWatch {
  let position = 0;
  let looks = 0;
  let isRestarting = false;
  const look = () => {
    const text = readFrom(logFile, position);
    position += text.length;
    looks = text.includes(LOST_SHARD) ? looks + 1 : 0;
    if (looks < LOOKS || isRestarting) return;
    looks = 0;
    isRestarting = true;
    void restart().finally(() => {
      isRestarting = false;
    });
  };
  const timer = setInterval(look, lookMs);
  return { stop: () => clearInterval(timer) };
}

/** The log is ASCII or close to it: a byte more or less does not matter. */
function readFrom(file: string, position: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - position));
    return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, position));
  } finally {
    closeSync(descriptor);
  }
}

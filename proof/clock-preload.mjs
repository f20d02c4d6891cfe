// Loaded with `node --import` into one process under test: its wall clock is off by the milliseconds that stand in the
// file `PROOF_CLOCK_FILE`. The monotonic clock and timers are untouched, as with a real step of the clock.
import { readFileSync } from 'node:fs';

const file = process.env.PROOF_CLOCK_FILE;
const RealDate = Date;
let offset = 0;

class SteppedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset);
    else super(...args);
  }
  static now() {
    return RealDate.now() + offset;
  }
}

if (file) {
  globalThis.Date = SteppedDate;
  setInterval(() => {
    try {
      offset = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      offset = 0;
    }
  }, 100).unref();
}

// Imported before everything else: the parts of the product in this process, and the processes that it starts, use the short
// timings. `EVERPOST_TIMINGS=production npm test` runs with those of production.
process.env.NODE_ENV = 'test';
process.env.EVERPOST_TIMINGS ??= 'test';

// Tests import workflow code for the names of workflows, without the bundle that has the timings in front.
const { timingsOf } = await import('../../platform/timings.ts');
globalThis.activityTimings = timingsOf(process.env).activity;

// How the minutes of a run are divided between the parts whose length can be chosen.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The minutes of a run of thirty. Two outages take three minutes each. */
const SHARES = { chaos: 7, fuzz: 2, flood: 3, overload: 10, outages: 6 };
/** What is left is for starting, and for waiting until everything is done. */
const USED = 28 / 30;

export interface PartLengths {
  chaosMs: number;
  fuzzMs: number;
  floodMs: number;
  overloadMs: number;
  /** Of each outage. */
  outageMs: number;
}

/** The parts of `wanted` together take the minutes. From three hours on, each outage takes one. */
export function lengthsOf(minutes: number, wanted: readonly string[]): PartLengths {
  const isWanted = (name: string) => wanted.includes(name === 'flood' || name === 'outages' ? 'overload' : name);
  const total = minutes * MINUTE_MS * USED;
  const isLong = minutes >= 180 && isWanted('outages');
  const weights = { ...SHARES, outages: isLong ? 0 : SHARES.outages };
  const left = isLong ? total - 2 * HOUR_MS : total;
  const sum = Object.entries(weights).reduce((all, [name, weight]) => all + (isWanted(name) ? weight : 0), 0);
  const share = (weight: number) => (sum > 0 ? (left * weight) / sum : 0);
  return {
    chaosMs: share(weights.chaos),
    fuzzMs: share(weights.fuzz),
    floodMs: share(weights.flood),
    overloadMs: share(weights.overload),
    outageMs: isLong ? HOUR_MS : share(weights.outages) / 2,
  };
}

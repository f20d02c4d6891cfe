/** Four steps of the axis are whole and short numbers. */
const MAXIMA = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12];

/** The end of the axis: not far above the largest value. */
export function niceMaximum(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const found = MAXIMA.map((factor) => Math.round(factor * power)).find((end) => end >= value && end % 4 === 0);
  return found ?? 12 * power;
}

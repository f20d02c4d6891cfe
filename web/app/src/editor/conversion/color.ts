/** Browsers write colours of styles as `rgb(…)`. */
export function hexOf(color: string): string | null {
  const [, red, green, blue] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color) ?? [];
  if (blue === undefined) return /^#[0-9a-f]{6}$/i.test(color) ? color : null;
  return `#${[red, green, blue].map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
}

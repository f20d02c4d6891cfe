// Colors of the pages that recipients see, made of one color. The web application imports this file too.
import { contrastOf, MIN_CONTRAST } from './mail-document/contrast.ts';

/** Colors are #rrggbb. */
export interface PageColors {
  button: string;
  buttonText: string;
  link: string;
}

/** Backgrounds of the pages. */
export const LIGHT_PAGE = '#f6f7fb';
export const DARK_PAGE = '#1b1e26';

/** Buttons have the color itself with readable text on it; links a shade of it that is readable on the background. */
export function pageColorsOf(color: string, background: string): PageColors {
  const buttonText = contrastOf(color, '#ffffff') >= MIN_CONTRAST ? '#ffffff' : '#000000';
  return { button: color, buttonText, link: readableOn(background, color) };
}

const STEPS = 20;

function readableOn(background: string, color: string): string {
  const target = background === DARK_PAGE ? 255 : 0;
  for (let step = 0; step < STEPS; step++) {
    const shade = mixed(color, target, step / STEPS);
    if (contrastOf(shade, background) >= MIN_CONTRAST) return shade;
  }
  return target === 0 ? '#000000' : '#ffffff';
}

function mixed(color: string, target: number, share: number): string {
  const parts = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16);
    return Math.round(value + (target - value) * share)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${parts.join('')}`;
}

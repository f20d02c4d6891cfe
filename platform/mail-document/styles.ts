import type { BrandColors } from './types.ts';

// The only styles that are not inline: what depends on the screen. Mail programs without media queries show columns below
// each other where there is no room for them.

export function phoneStyles(columnWidths: number[]): string {
  const side = columnWidths
    .sort((a, b) => a - b)
    .map((width) => `.ep-col${width}{width:${width}%!important}`)
    .join('');
  return (
    (side && `@media (min-width:480px){${side}}\n`) +
    '@media (max-width:479px){.ep-col{max-width:100%!important}.ep-full{width:100%!important}' +
    '.ep-full a{display:block!important;text-align:center!important}}'
  );
}

export function darkStyles({ background, surface, text, link, button, buttonText }: BrandColors): string {
  const colors = [
    `.ep-text{color:${text}!important}`,
    `.ep-link{color:${link}!important}`,
    `.ep-button a{color:${buttonText}!important}`,
    `.ep-footer,.ep-footer a{color:${text}!important}`,
  ];
  const backgrounds = [
    `.ep-page{background-color:${background}!important}`,
    `.ep-surface{background-color:${surface}!important}`,
    `.ep-button{background-color:${button}!important}`,
  ];
  const within = (prefix: string, rules: string[]) =>
    rules.map((rule) => rule.replace(/(^|,)\./g, `$1${prefix} .`)).join('');
  return (
    `@media (prefers-color-scheme:dark){${colors.join('')}${backgrounds.join('')}.ep-line{border-color:#4b5563!important}}\n` +
    // Outlook.com and the Outlook apps mark what they recolor.
    `${within('[data-ogsc]', colors)}\n${within('[data-ogsb]', backgrounds)}`
  );
}

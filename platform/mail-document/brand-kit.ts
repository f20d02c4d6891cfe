import type { BrandColors, BrandKit, MailDocument } from './types.ts';

/** The fonts that mail programs have, with what to use in their place. */
export const fontStacks: Record<string, string> = {
  system: "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif",
  Arial: 'Arial,Helvetica,sans-serif',
  Georgia: "Georgia,'Times New Roman',serif",
  Helvetica: 'Helvetica,Arial,sans-serif',
  Tahoma: 'Tahoma,Verdana,sans-serif',
  'Times New Roman': "'Times New Roman',Times,serif",
  'Trebuchet MS': "'Trebuchet MS',Tahoma,sans-serif",
  Verdana: 'Verdana,Geneva,sans-serif',
};

export const fonts: string[] = Object.keys(fontStacks);

/** The networks of social links, with their names. */
export const socialNetworks = new Map([
  ['bluesky', 'Bluesky'],
  ['discord', 'Discord'],
  ['facebook', 'Facebook'],
  ['github', 'GitHub'],
  ['instagram', 'Instagram'],
  ['linkedin', 'LinkedIn'],
  ['mastodon', 'Mastodon'],
  ['pinterest', 'Pinterest'],
  ['reddit', 'Reddit'],
  ['telegram', 'Telegram'],
  ['threads', 'Threads'],
  ['tiktok', 'TikTok'],
  ['whatsapp', 'WhatsApp'],
  ['x', 'X'],
  ['youtube', 'YouTube'],
  ['website', 'Website'],
]);

export const defaultBrandKit: BrandKit = {
  logoUrl: null,
  colors: {
    background: '#f4f5f9',
    surface: '#ffffff',
    text: '#1b1e26',
    link: '#4338ca',
    button: '#4338ca',
    buttonText: '#ffffff',
  },
  darkColors: {
    background: '#0f1116',
    surface: '#1b1e26',
    text: '#d8dce5',
    link: '#9aa3f5',
    button: '#5159dc',
    buttonText: '#ffffff',
  },
  font: 'Arial',
  headingFont: 'Arial',
  radius: 6,
  address: null,
  socialLinks: [],
};

/** The colors of the kit, and those of the document's theme in their place. */
export function colorsOf({ theme }: MailDocument, { colors }: BrandKit): BrandColors {
  const { background, surface, text, link, button } = theme;
  return {
    background: background ?? colors.background,
    surface: surface ?? colors.surface,
    text: text ?? colors.text,
    link: link ?? colors.link,
    button: button ?? colors.button,
    buttonText: colors.buttonText,
  };
}

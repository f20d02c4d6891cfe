// The colours of the canvas: those of the document, or of the brand kit.
import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import type { BrandKit } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { MailDocument } from '../schema/document.ts';

export const THEME_COLORS = ['background', 'surface', 'text', 'link', 'button'] as const;

export const FONTS = [
  'system',
  'Arial',
  'Georgia',
  'Helvetica',
  'Tahoma',
  'Times New Roman',
  'Trebuchet MS',
  'Verdana',
];

/** The look of emails whose theme says nothing else; undefined while it loads. */
export function useBrandKit(): BrandKit | undefined {
  const { client, key } = useApi();
  const kit = useQuery({
    queryKey: key('brand-kit'),
    queryFn: () => unwrap(client.GET('/brand-kit')),
    staleTime: 60_000,
  });
  return kit.data;
}

/** As custom properties, which the styles of the canvas read. */
export function canvasColors(theme: MailDocument['theme'], kit: BrandKit | undefined): CSSProperties {
  const colors = THEME_COLORS.map((name) => [`--mail-${name}`, theme?.[name] ?? kit?.colors[name]]);
  const family = (font: unknown) =>
    typeof font === 'string' && font !== 'system' ? `"${font}", sans-serif` : undefined;
  return {
    ...Object.fromEntries(colors.filter(([, value]) => value !== undefined)),
    '--mail-button-text': kit?.colors.buttonText,
    '--mail-font': family(theme?.font ?? kit?.font),
    '--mail-heading-font': family(theme?.font ?? kit?.headingFont),
    '--mail-radius': kit && `${kit.radius}px`,
  } as CSSProperties;
}

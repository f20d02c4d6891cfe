// The starting documents of the editor. Only data, so that the web application can import it.
import type { GalleryEntry } from './builders.ts';
import { announcement, passwordReset, plainLetter, receipt, welcome } from './messages.ts';
import { eventInvitation, monthlyNews, productNews, winBack } from './newsletters.ts';

export type { GalleryEntry, GalleryLanguage } from './builders.ts';

export const gallery: GalleryEntry[] = [
  welcome,
  monthlyNews,
  productNews,
  announcement,
  eventInvitation,
  winBack,
  receipt,
  passwordReset,
  plainLetter,
];

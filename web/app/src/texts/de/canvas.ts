import type { Texts } from '../index.ts';

export const canvas: Texts['canvas'] = {
  zoom: 'Vergrößerung',
  minimap: 'Übersicht des Workflows',
  hasFaults: 'Hier fehlt etwas',
  addAfter: (step: string) => `Schritt nach ${step} hinzufügen`,
  addAtExit: (step: string, branch: string) => `Schritt nach ${step} hinzufügen: ${branch}`,
  insertBetween: (from: string, to: string) => `Schritt zwischen ${from} und ${to} einfügen`,
};

import { lazy } from 'react';
import { partTexts } from '../texts/index.ts';

/** The visual editor, loaded with its texts when a page shows it. */
export const VisualEditor = lazy(async () => {
  const [{ VisualEditor }] = await Promise.all([import('./visual-editor.tsx'), partTexts('editor')]);
  return { default: VisualEditor };
});

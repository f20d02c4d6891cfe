import './mantine.css';
import './styles.css';
// Nearly every page has a table.
import './ui/table.css';
import { loadTexts } from './texts/index.ts';
import { currentLanguage } from './texts/language.ts';

async function load(root: HTMLElement): Promise<void> {
  const language = currentLanguage();
  // Formats of numbers and dates follow it.
  document.documentElement.lang = language;
  await loadTexts(language);
  const { start } = await import('./app.tsx');
  start(root);
}

const root = document.getElementById('root');
if (root) void load(root);

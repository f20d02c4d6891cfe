import { Kbd } from '@mantine/core';
import { t } from '../../../texts/index.ts';
import { Dialog } from '../../../ui/dialog.tsx';

const keyNames = [
  ['tab', 'Tab'],
  ['arrows', '↑ ↓ ← →'],
  ['add', 'A, +'],
  ['connect', 'C'],
  ['enter', 'Enter'],
  ['escape', 'Esc'],
  ['delete', 'Delete'],
  ['copy', 'Ctrl+C, X, V'],
  ['undo', 'Ctrl+Z, Ctrl+Shift+Z'],
  ['all', 'Ctrl+A'],
  ['help', '?'],
] as const;

/** The keys of the canvas, for people. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog opened onClose={onClose} title={t.canvas.keysTitle}>
      <dl className="facts">
        {keyNames.map(([name, keys]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>
              <Kbd>{keys}</Kbd>
            </dt>
            <dd>{t.canvas.keyTexts[name]}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

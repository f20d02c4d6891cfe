import { ActionIcon } from '@mantine/core';
import { IconHelpCircle } from '@tabler/icons-react';
import { useId, useRef, useState } from 'react';
import { t } from '../texts/index.ts';

interface TermProps {
  name: keyof typeof t.glossary.words;
  /** The word as the page shows it. */
  word: string;
}

const WIDTH = 280;
const MARGIN = 8;

/** Explains a word of the page, with the one that the API has for it. Mantine's tooltip would be half as large as a page. */
export function Term({ name, word }: TermProps) {
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const [place, setPlace] = useState<{ left: number; top: number }>();
  const show = () => {
    if (!box.current) return;
    const { left, bottom } = box.current.getBoundingClientRect();
    setPlace({ left: Math.max(MARGIN, Math.min(left, innerWidth - WIDTH - MARGIN)), top: bottom });
  };
  const hide = () => setPlace(undefined);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside has the focus; the pointer may rest on the text
    <span
      ref={box}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={({ key }) => key === 'Escape' && hide()}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label={t.glossary.whatIs(word)}
        aria-describedby={place && id}
        onClick={show}
      >
        <IconHelpCircle size={18} />
      </ActionIcon>
      {place && (
        <span role="tooltip" id={id} className="term-text" style={{ ...place, width: WIDTH }}>
          {t.glossary.words[name]}
        </span>
      )}
    </span>
  );
}

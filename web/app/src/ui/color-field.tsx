import './color-field.css';
import { ActionIcon, Group, Input } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useId, useState } from 'react';
import { t } from '../texts/index.ts';
import { ColorButton } from './color-button.tsx';

export interface ColorFieldProps {
  label: string;
  value: string | null;
  /** Null only where there is an inherited color. */
  onChange(value: string | null): void;
  /** What counts while there is no color, and where it comes from; without it a color is required. */
  inherited?: { color: string; source: string };
  disabled?: boolean;
  maw?: number;
}

const COLOR = /^#[0-9a-f]{6}$/i;

/** A color to pick or to type. Passes on only what the API accepts. */
export function ColorField({ label, value, onChange, inherited, disabled, maw }: ColorFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value ?? '');
  useEffect(() => setTyped(value ?? ''), [value]);
  const isValid = COLOR.test(typed) || (typed === '' && inherited !== undefined);
  const shown = value ?? inherited?.color ?? '#ffffff';
  return (
    <Input.Wrapper label={label} id={id} error={isValid ? undefined : t.pickers.colorInvalid} maw={maw}>
      <Group gap={6} wrap="nowrap">
        <ColorButton value={shown} onChange={onChange}>
          {(props) => (
            <button
              type="button"
              className="color-well"
              aria-label={t.pickers.chooseColor(label)}
              title={t.pickers.chooseColor(label)}
              disabled={disabled}
              {...props}
            >
              <span style={{ background: shown }} />
            </button>
          )}
        </ColorButton>
        <Input
          id={id}
          placeholder={inherited?.source}
          value={typed}
          maxLength={7}
          spellCheck={false}
          disabled={disabled}
          error={!isValid}
          onChange={(event) => {
            const text = event.currentTarget.value.trim();
            setTyped(text);
            if (COLOR.test(text)) onChange(text.toLowerCase());
            if (text === '' && inherited) onChange(null);
          }}
          flex={1}
          miw={0}
        />
        {inherited && value !== null && !disabled && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`${label}: ${inherited.source}`}
            title={inherited.source}
            onClick={() => onChange(null)}
          >
            <IconX size={16} />
          </ActionIcon>
        )}
      </Group>
    </Input.Wrapper>
  );
}

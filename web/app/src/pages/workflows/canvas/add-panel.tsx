import { Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import type { StepTypeInfo } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import type { StepTypes } from './model.ts';
import { StepIcon } from './step-icon.tsx';

interface AddPanelProps {
  types: StepTypes;
  onChoose(type: StepTypeInfo): void;
  onCancel(): void;
}

/** Chooses the type of a new step: by mouse, or by its first letters and Enter. */
export function AddPanel({ types, onChoose, onCancel }: AddPanelProps) {
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(0);
  const found = [...types.values()].filter((type) => nameOf(type).toLowerCase().includes(text.trim().toLowerCase()));
  const at = Math.min(marked, found.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'ArrowDown') setMarked(Math.min(at + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setMarked(Math.max(at - 1, 0));
    else if (event.key === 'Enter') {
      const chosen = found[at];
      if (chosen) onChoose(chosen);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Stack gap="sm">
      <TextInput
        label={t.canvas.findType}
        description={t.canvas.findTypeHint}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setMarked(0);
        }}
        onKeyDown={onKeyDown}
        // The user has just asked for it.
        autoFocus
        data-autofocus
      />
      <ul className="plain-list type-list">
        {found.map((type, index) => (
          <li key={type.type}>
            <UnstyledButton
              className="type-choice"
              data-marked={index === at || undefined}
              onClick={() => onChoose(type)}
              aria-label={nameOf(type)}
            >
              <StepIcon type={type.type} size={20} />
              <span>
                <Text span size="sm" fw={600} display="block">
                  {nameOf(type)}
                </Text>
                <Text span size="xs" c="dimmed" display="block">
                  {describe(type)}
                </Text>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {found.length === 0 && <Text c="dimmed">{t.canvas.noType}</Text>}
    </Stack>
  );
}

/** The name of a type in the user's language; of a type that the application does not know, the one of the API. */
export const nameOf = ({ type, label }: Pick<StepTypeInfo, 'type' | 'label'>): string =>
  (t.workflows.types as Record<string, string>)[type] ?? label;

export const describe = ({ type, description }: StepTypeInfo): string =>
  (t.canvas.typeTexts as Record<string, string>)[type] ?? description;

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConditionBuilder } from '../../../conditions/builder.tsx';
import { type Condition, type Filter, newCondition } from '../../../conditions/model.ts';
import { t } from '../../../texts/index.ts';
import type { Config } from './schema.ts';

interface ConditionFieldProps {
  value: Config;
  onChange(value: Config): void;
  readOnly: boolean;
}

/** Edits the condition of a step: one filter, or a tree as in segments. */
export function ConditionField({ value, onChange, readOnly }: ConditionFieldProps) {
  const [key, setKey] = useState('');
  const condition = treeOf(value);
  const set = (next: Condition) => onChange({ logic: next.logic, groups: next.groups });
  const addContextValue = () => {
    const filter: Filter = { field: `event.${key.trim()}`, operator: 'equals', value: '' };
    const groups = condition.groups.map((group, index) =>
      index === 0 ? { ...group, filters: [...(isUntouched(value) ? [] : group.filters), filter] } : group,
    );
    set({ ...condition, groups });
    setKey('');
  };
  return (
    <Stack gap="sm">
      <ConditionBuilder value={condition} onChange={set} readOnly={readOnly} />
      {!readOnly && (
        <Group gap="xs" align="flex-end">
          <TextInput
            label={t.canvas.contextKey}
            description={t.canvas.contextKeyHint}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            flex="1 1 10rem"
          />
          <Button variant="default" onClick={addContextValue} disabled={key.trim() === ''}>
            {t.canvas.addContextFilter}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const isUntouched = (value: Config): boolean => !Array.isArray(value.groups) && typeof value.field !== 'string';

function treeOf(value: Config): Condition {
  if (Array.isArray(value.groups)) return { logic: value.logic === 'OR' ? 'OR' : 'AND', groups: value.groups };
  if (typeof value.field === 'string') return { logic: 'AND', groups: [{ filters: [value as unknown as Filter] }] };
  return newCondition();
}

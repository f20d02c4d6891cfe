import { Button, Stack, Switch, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ConditionBuilder } from '../../conditions/builder.tsx';
import { type Condition, type Filter, isComplete, isCondition, newCondition } from '../../conditions/model.ts';
import { t } from '../../texts/index.ts';
import { toggleOtherwise } from '../schema/commands.ts';
import { useEditorTools } from '../view/context.ts';
import type { FieldsProps } from './block-fields.tsx';

type Test = Condition | Filter | { expression: string } | null;

const treeOf = (test: Test): Condition => {
  if (isCondition(test)) return test;
  return test && 'field' in test ? { logic: 'AND', groups: [{ filters: [test] }] } : newCondition();
};

/** One filter is stored as such. */
function testOf(condition: Condition): Condition | Filter {
  const [group, ...others] = condition.groups;
  const [filter, ...more] = group?.filters ?? [];
  return filter && others.length === 0 && more.length === 0 && !group?.conditions ? filter : condition;
}

/** Edits the condition of a frame. An unfinished one stays here; the document keeps the last complete one. */
export function ConditionFields({ place, set }: FieldsProps) {
  const { editor } = useEditorTools();
  const test = place.node.attrs.test as Test;
  const [draft, setDraft] = useState(() => treeOf(test));
  const [expression, setExpression] = useState(test && 'expression' in test ? test.expression : undefined);
  const hasOtherwise = place.node.lastChild?.type.name === 'otherwise';
  const change = (condition: Condition) => {
    setDraft(condition);
    if (isComplete(condition)) set({ test: testOf(condition) }, true);
  };
  return (
    <Stack gap="md">
      {expression === undefined ? (
        <>
          <ConditionBuilder value={draft} onChange={change} contactOnly />
          {!isComplete(draft) && (
            <Text size="sm" c="dimmed" role="status">
              {t.editor.conditionIncomplete}
            </Text>
          )}
        </>
      ) : (
        <Textarea
          label={t.editor.expression}
          description={t.editor.expressionHint}
          autosize
          value={expression}
          onChange={(event) => {
            const typed = event.currentTarget.value;
            setExpression(typed);
            if (typed.trim() !== '') set({ test: { expression: typed.trim() } }, true);
          }}
        />
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={() => {
          if (expression === undefined) return setExpression('');
          setExpression(undefined);
          change(draft);
        }}
      >
        {expression === undefined ? t.editor.useExpression : t.editor.useBuilder}
      </Button>
      <Switch
        label={t.editor.withOtherwise}
        checked={hasOtherwise}
        onChange={() => editor.view.dispatch(toggleOtherwise(editor.state, place))}
      />
    </Stack>
  );
}

import { Stack, Switch, Text } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { setColumnCount, setColumnWidths } from '../schema/commands.ts';
import { useEditorTools } from '../view/context.ts';
import type { FieldsProps } from './block-fields.tsx';
import { Segments } from './fields.tsx';

const LEAST = 10;

export function ColumnsFields({ place, set }: FieldsProps) {
  const { editor } = useEditorTools();
  const { attrs, children } = place.node;
  const widths = children.map((column) => Number(column.attrs.width));
  /** The column after it gives or takes the difference. */
  const resize = (index: number, width: number) => {
    const both = (widths[index] ?? 0) + (widths[index + 1] ?? 0);
    const own = Math.max(LEAST, Math.min(width, both - LEAST));
    const next = widths.map((old, at) => (at === index ? own : at === index + 1 ? both - own : old));
    editor.view.dispatch(setColumnWidths(editor.state, place, next));
  };
  return (
    <>
      <Segments
        label={t.editor.columnCount}
        value={String(children.length)}
        onChange={(count) => editor.view.dispatch(setColumnCount(editor.state, place, Number(count)))}
        data={[2, 3, 4].map((count) => ({ value: String(count), label: String(count) }))}
      />
      <Stack gap={6}>
        {widths.slice(0, -1).map((width, index) => (
          // Columns have no identity.
          <label key={index} className="range-field">
            <Text size="sm" fw={500} component="span">
              {t.editor.columnWidth(index + 1, width)}
            </Text>
            <input
              type="range"
              min={LEAST}
              max={100 - LEAST}
              value={width}
              onChange={(event) => resize(index, Number(event.currentTarget.value))}
            />
          </label>
        ))}
      </Stack>
      <Segments
        label={t.editor.valign}
        value={String(attrs.valign)}
        onChange={(valign) => set({ valign })}
        data={Object.entries(t.editor.valigns).map(([value, label]) => ({ value, label }))}
      />
      <Switch
        label={t.editor.stack}
        checked={Boolean(attrs.stack)}
        onChange={(event) => set({ stack: event.currentTarget.checked })}
      />
    </>
  );
}

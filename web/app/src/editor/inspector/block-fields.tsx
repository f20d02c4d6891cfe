import { Button, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { lazy, Suspense } from 'react';
import { t } from '../../texts/index.ts';
import { Placeholder } from '../../ui/page.tsx';
import { setAttributes } from '../schema/commands.ts';
import type { Place } from '../schema/places.ts';
import { useEditorTools } from '../view/context.ts';
import { useBrandKit } from '../view/theme.ts';
import { ColumnsFields } from './columns-fields.tsx';
import { ConditionFields } from './condition-fields.tsx';
import { AddressField, AlignField, ColorField, imageAddress, NumberField, Segments } from './fields.tsx';
import { SavedFields } from './saved-fields.tsx';
import { SocialFields } from './social-fields.tsx';

const CodeEditor = lazy(() => import('../../ui/code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })));

export interface FieldsProps {
  place: Place;
  /** Changes attributes; letters typed in a row are one step of undo. */
  set(attrs: Record<string, unknown>, joined?: boolean): void;
}

/** The settings of a block. */
export function BlockFields({ place }: { place: Place }) {
  const { editor, openDialog } = useEditorTools();
  const { attrs, type } = place.node;
  const colors = useBrandKit()?.colors;
  const set: FieldsProps['set'] = (changed, joined = false) => {
    const transaction = setAttributes(editor.state, place.pos, changed, { joined });
    if (transaction) editor.view.dispatch(transaction);
  };
  const align = <AlignField value={String(attrs.align)} onChange={(value) => set({ align: value })} />;
  const forms: Record<string, () => ReactNode> = {
    paragraph: () => (
      <>
        {align}
        <Segments
          label={t.editor.size}
          value={String(attrs.size)}
          onChange={(size) => set({ size })}
          data={Object.entries(t.editor.sizes).map(([value, label]) => ({ value, label }))}
        />
      </>
    ),
    heading: () => (
      <>
        <Segments
          label={t.editor.level}
          value={String(attrs.level)}
          onChange={(level) => set({ level: Number(level) })}
          data={[1, 2, 3].map((level) => ({ value: String(level), label: String(level) }))}
        />
        {align}
      </>
    ),
    image: () => (
      <>
        <Button variant="default" onClick={() => openDialog('image')}>
          {t.editor.replaceImage}
        </Button>
        <Textarea
          label={t.editor.alt}
          description={t.editor.altHint}
          autosize
          minRows={2}
          maxLength={1000}
          disabled={Boolean(attrs.decorative)}
          value={String(attrs.alt)}
          onChange={(event) => set({ alt: event.currentTarget.value }, true)}
        />
        <Switch
          label={t.editor.decorative}
          checked={Boolean(attrs.decorative)}
          onChange={(event) => set({ decorative: event.currentTarget.checked })}
        />
        <AddressField
          label={t.editor.imageAddress}
          error={t.editor.imageInvalid}
          read={imageAddress}
          value={String(attrs.src)}
          onChange={(src) => set({ src })}
        />
        <AddressField
          label={t.editor.link}
          description={t.editor.optional}
          value={String(attrs.href ?? '')}
          onChange={(href) => set({ href: href || null })}
        />
        <NumberField
          label={t.editor.width}
          min={1}
          max={600}
          suffix=" px"
          disabled={Boolean(attrs.full)}
          value={Number(attrs.width)}
          onChange={(width) => set({ width }, true)}
        />
        <Switch
          label={t.editor.fullWidth}
          checked={Boolean(attrs.full)}
          onChange={(event) => set({ full: event.currentTarget.checked })}
        />
        {align}
      </>
    ),
    button: () => (
      <>
        <AddressField label={t.editor.link} value={String(attrs.href)} onChange={(href) => set({ href })} />
        {align}
        <ColorField
          label={t.editor.background}
          inherited={colors?.button ?? '#ffffff'}
          value={attrs.background as string | null}
          onChange={(background) => set({ background })}
        />
        <ColorField
          label={t.editor.textColor}
          inherited={colors?.buttonText ?? '#ffffff'}
          value={attrs.color as string | null}
          onChange={(color) => set({ color })}
        />
        <Switch
          label={t.editor.fullOnPhone}
          checked={Boolean(attrs.fullOnPhone)}
          onChange={(event) => set({ fullOnPhone: event.currentTarget.checked })}
        />
      </>
    ),
    divider: () => (
      <ColorField
        label={t.editor.color}
        inherited="#d1d5db"
        value={attrs.color as string | null}
        onChange={(color) => set({ color })}
      />
    ),
    spacer: () => (
      <NumberField
        label={t.editor.height}
        min={1}
        max={200}
        suffix=" px"
        value={Number(attrs.height)}
        onChange={(height) => set({ height }, true)}
      />
    ),
    section: () => (
      <>
        <ColorField
          label={t.editor.background}
          inherited={colors?.surface ?? '#ffffff'}
          value={attrs.background as string | null}
          onChange={(background) => set({ background })}
        />
        <NumberField
          label={t.editor.padding}
          min={0}
          max={64}
          suffix=" px"
          value={Number(attrs.padding)}
          onChange={(padding) => set({ padding }, true)}
        />
      </>
    ),
    columns: () => <ColumnsFields place={place} set={set} />,
    social: () => <SocialFields place={place} set={set} align={align} />,
    condition: () => <ConditionFields key={place.pos} place={place} set={set} />,
    repeat: () => <RepeatFields place={place} set={set} />,
    footer: () => <Text size="sm">{t.editor.footerHint}</Text>,
    saved: () => <SavedFields key={String(attrs.blockId)} place={place} set={set} />,
    html: () => (
      <>
        <Text size="sm" c="dimmed">
          {t.editor.htmlHint}
        </Text>
        <div className="editor-box html-field">
          <Suspense fallback={<Placeholder lines={4} />}>
            <CodeEditor
              value={String(attrs.html)}
              onChange={(html) => set({ html }, true)}
              label={t.editor.blocks.html}
              variables={[]}
              faults={[]}
            />
          </Suspense>
        </div>
      </>
    ),
  };
  return <Stack gap="md">{forms[type.name]?.()}</Stack>;
}

const NAME = /^[A-Za-z_]\w{0,99}$/;
/** The template language and conditions need these names. */
const RESERVED = new Set(['data', 'email', 'subscribed', 'loop']);
const PATH = /^[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*$/;

function RepeatFields({ place, set }: FieldsProps) {
  const { list, item, limit } = place.node.attrs;
  return (
    <>
      <TextInput
        label={t.editor.list}
        description={t.editor.listHint}
        key={`list ${place.pos}`}
        defaultValue={String(list)}
        maxLength={100}
        onChange={(event) => {
          const typed = event.currentTarget.value.trim();
          if (PATH.test(typed)) set({ list: typed }, true);
        }}
      />
      <TextInput
        label={t.editor.item}
        description={t.editor.itemHint(String(item))}
        key={`item ${place.pos}`}
        defaultValue={String(item)}
        maxLength={100}
        onChange={(event) => {
          const typed = event.currentTarget.value.trim();
          if (NAME.test(typed) && !RESERVED.has(typed)) set({ item: typed }, true);
        }}
      />
      <NumberField
        label={t.editor.limit}
        min={1}
        max={100}
        value={Number(limit)}
        onChange={(value) => set({ limit: value }, true)}
      />
    </>
  );
}

import { NativeSelect, Title } from '@mantine/core';
import { t } from '../texts/index.ts';
import { ColorField } from './inspector/fields.tsx';
import type { MailDocument } from './schema/document.ts';
import { FONTS, THEME_COLORS, useBrandKit } from './view/theme.ts';

interface ThemeFieldsProps {
  document: MailDocument;
  onChange(document: MailDocument): void;
  readOnly: boolean;
}

/** Colours and font of the whole email, where it differs from the brand. */
export function ThemeFields({ document, onChange, readOnly }: ThemeFieldsProps) {
  const kit = useBrandKit();
  const theme = document.theme ?? {};
  const set = (name: string, value: string | null) => onChange({ ...document, theme: { ...theme, [name]: value } });
  return (
    <fieldset className="theme-fields" disabled={readOnly}>
      <Title order={3} size="h5">
        {t.editor.theme}
      </Title>
      {THEME_COLORS.map((name) => (
        <ColorField
          key={name}
          label={t.editor.themeColors[name]}
          inherited={kit?.colors[name] ?? '#ffffff'}
          value={(theme[name] as string | null | undefined) ?? null}
          onChange={(color) => set(name, color)}
        />
      ))}
      <NativeSelect
        label={t.editor.font}
        data={[
          { value: '', label: t.editor.fromBrand },
          ...FONTS.map((font) => ({ value: font, label: font === 'system' ? t.editor.systemFont : font })),
        ]}
        value={typeof theme.font === 'string' ? theme.font : ''}
        onChange={(event) => set('font', event.currentTarget.value || null)}
      />
    </fieldset>
  );
}

import { Box, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { contrastOf, MIN_CONTRAST } from '../../../../../platform/mail-document/contrast.ts';
import type { BrandKit } from '../../api/api-types.ts';
import { decimal } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ColorField } from '../../ui/color-field.tsx';

type Colors = BrandKit['colors'];
type ColorName = keyof Colors;

const names: ColorName[] = ['background', 'surface', 'text', 'link', 'button', 'buttonText'];

/** What each color of a text is read on. */
const behind: Partial<Record<ColorName, ColorName>> = { text: 'surface', link: 'surface', buttonText: 'button' };

interface ColorFieldsProps {
  title: string;
  colors: Colors;
  onChange(colors: Colors): void;
}

/** The colors of one mode, with the contrast of what is read. */
export function ColorFields({ title, colors, onChange }: ColorFieldsProps) {
  return (
    <Stack gap="sm" role="group" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      {names.map((name) => {
        const background = behind[name];
        return (
          <Box key={name}>
            <ColorField
              label={t.brand.colors[name]}
              value={colors[name]}
              onChange={(value) => value && onChange({ ...colors, [name]: value })}
            />
            {background && <ContrastHint ratio={contrastOf(colors[name], colors[background])} />}
          </Box>
        );
      })}
    </Stack>
  );
}

function ContrastHint({ ratio }: { ratio: number }) {
  const isLow = ratio < MIN_CONTRAST;
  const shown = decimal(Math.floor(ratio * 10) / 10);
  return (
    <Text size="xs" mt={4} {...(isLow ? { className: 'error-text' } : { c: 'dimmed' })} aria-live="polite">
      <span className="with-icon">
        {isLow && <IconAlertTriangle size={14} aria-hidden />}
        {isLow ? t.brand.contrastLow(shown, decimal(MIN_CONTRAST)) : t.brand.contrast(shown)}
      </span>
    </Text>
  );
}

import './mail-frame.css';
import { Box, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconDeviceDesktop, IconDeviceMobile, IconFileText, IconMoon, IconSun } from '@tabler/icons-react';
import { useState } from 'react';
import { t } from '../texts/index.ts';

interface MailFrameProps {
  /** A preview address of the API; the page behind it runs no script and loads no tracking. */
  previewUrl: string | undefined;
  text: string | undefined;
  subject?: string | undefined;
  height?: number;
}

const widths = { desktop: '100%', phone: 375 };

/** Shows an email on a desktop, on a phone, light, dark, and as plain text. It never becomes part of our own page. */
export function MailFrame({ previewUrl, text, subject, height = 520 }: MailFrameProps) {
  const [view, setView] = useState<'desktop' | 'phone' | 'text'>('desktop');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const option = (value: string, label: string, Icon: typeof IconFileText) => ({
    value,
    label: (
      <span className="with-icon">
        <Icon size={16} aria-hidden /> {label}
      </span>
    ),
  });
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <SegmentedControl
          aria-label={t.templates.previewAs}
          value={view}
          onChange={(value) => setView(value as typeof view)}
          data={[
            option('desktop', t.templates.desktop, IconDeviceDesktop),
            option('phone', t.templates.phone, IconDeviceMobile),
            option('text', t.templates.textPart, IconFileText),
          ]}
        />
        {view !== 'text' && (
          <SegmentedControl
            aria-label={t.templates.scheme}
            value={scheme}
            onChange={(value) => setScheme(value as typeof scheme)}
            data={[
              option('light', t.templates.schemes.light, IconSun),
              option('dark', t.templates.schemes.dark, IconMoon),
            ]}
          />
        )}
      </Group>
      {subject !== undefined && (
        <Text fw={600} className="breakable">
          {subject}
        </Text>
      )}
      {view === 'text' ? (
        <Box component="pre" className="mail-text" mah={height} tabIndex={0}>
          {text}
        </Box>
      ) : (
        previewUrl && (
          <Box maw={widths[view]} w="100%" mx="auto">
            <iframe
              className="mail-frame"
              data-scheme={scheme}
              sandbox=""
              src={previewUrl}
              title={t.templates.previewFrame}
              height={height}
              referrerPolicy="no-referrer"
            />
          </Box>
        )
      )}
    </Stack>
  );
}

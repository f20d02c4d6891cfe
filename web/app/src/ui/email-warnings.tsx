import './email-warnings.css';
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import type { EmailWarning } from '../api/api-types.ts';
import { t } from '../texts/index.ts';

const ORDER = ['ERROR', 'WARNING', 'INFO'];
const COLORS: Record<string, string> = { ERROR: 'red', WARNING: 'yellow', INFO: 'gray' };

interface EmailWarningsProps {
  warnings: EmailWarning[];
  /** Leads to what a warning with a path is about. */
  onShow?(path: string): void;
}

/** What may be wrong with an email, the worst first. */
export function EmailWarnings({ warnings, onShow }: EmailWarningsProps) {
  if (warnings.length === 0) return null;
  const sorted = warnings.toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
  return (
    <Stack gap={6} component="section" aria-label={t.templates.warnings} className="email-warnings">
      <Text fw={600} size="sm">
        {t.templates.warnings}
      </Text>
      <ul>
        {sorted.map(({ code, message, level, path, line, detail = '' }) => (
          <li key={`${code} ${path} ${line} ${message}`}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <Badge color={COLORS[level]} flex="none">
                {t.templates.warningLevels[level]}
              </Badge>
              <Text size="sm" className="breakable" flex={1}>
                {line !== undefined && `${t.templates.lineOf(line)}: `}
                {t.templates.warningTexts[code]?.(detail, level) ?? message}
              </Text>
              {onShow && path !== undefined && (
                <Button size="compact-xs" variant="default" flex="none" onClick={() => onShow(path)}>
                  {t.templates.showPlace}
                </Button>
              )}
            </Group>
          </li>
        ))}
      </ul>
    </Stack>
  );
}

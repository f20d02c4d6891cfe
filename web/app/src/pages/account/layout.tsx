import './account.css';
import { Box, List, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { Logo } from '../../frame/logo.tsx';
import { t } from '../../texts/index.ts';

interface AccountLayoutProps {
  title: string;
  children: ReactNode;
  footer?: ReactNode;
}

/** The frame of pages without a project: a card beside what Everpost is. */
export function AccountLayout({ title, children, footer }: AccountLayoutProps) {
  useEffect(() => {
    document.title = `${title} · ${t.appName}`;
  }, [title]);
  return (
    <Box className="account-page">
      <Box className="account-aside" component="aside" visibleFrom="md" aria-label={t.appName}>
        <Stack gap="xl" maw={440}>
          <Text className="account-tagline">{t.account.tagline}</Text>
          <List
            spacing="md"
            icon={
              <ThemeIcon size={22} radius="xl" color="iris.5" aria-hidden>
                <IconCheck size={14} />
              </ThemeIcon>
            }
          >
            {t.account.points.map((point) => (
              <List.Item key={point}>{point}</List.Item>
            ))}
          </List>
        </Stack>
      </Box>
      <Box component="main" className="account-main">
        <Stack w="100%" maw={400} gap="lg">
          <Logo />
          <Paper withBorder p={{ base: 'lg', sm: 'xl' }} shadow="sm">
            <Stack gap="md">
              <Title order={1}>{title}</Title>
              {children}
            </Stack>
          </Paper>
          {footer && (
            <Text ta="center" size="sm">
              {footer}
            </Text>
          )}
        </Stack>
      </Box>
    </Box>
  );
}

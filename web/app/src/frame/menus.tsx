import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { IconLogout, IconMoon, IconShieldLock, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accountApi, unwrap } from '../api/client.ts';
import { useApi, useLanguageChoice, useMe } from '../api/hooks.ts';
import { session } from '../query-client.ts';
import { t } from '../texts/index.ts';
import { chosenLanguage, type Language, languages } from '../texts/language.ts';
import { MenuButton } from '../ui/menu-button.tsx';

/** Light or dark, and the language. */
export function AppearanceMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const language = useLanguageChoice();
  const options = [
    ['light', t.frame.light],
    ['dark', t.frame.dark],
    ['auto', t.frame.system],
  ] as const;
  const languageOptions: [Language | undefined, string][] = [
    ...Object.entries(languages).map(([language, name]): [Language, string] => [language as Language, name]),
    [undefined, t.frame.browserLanguage],
  ];
  return (
    <MenuButton
      items={[
        { kind: 'label', key: 'appearance', label: t.frame.theme },
        ...options.map(([value, label]) => ({
          key: value,
          label,
          current: colorScheme === value,
          onClick: () => setColorScheme(value),
        })),
        { kind: 'label', key: 'language', label: t.frame.language },
        ...languageOptions.map(([value, label]) => ({
          key: value ?? 'browser',
          label,
          current: chosenLanguage() === value,
          onClick: () => language.mutate(value),
        })),
      ]}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.themeAndLanguage} {...props}>
          {colorScheme === 'dark' ? <IconMoon size={20} /> : <IconSun size={20} />}
        </ActionIcon>
      )}
    </MenuButton>
  );
}

export function AccountMenu() {
  const { data: user } = useMe();
  const { projectId } = useApi();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const signOut = async () => {
    await unwrap(accountApi.POST('/auth/logout'));
    session.absent = true;
    cache.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <MenuButton
      width={240}
      items={[
        { kind: 'label', key: 'email', label: user?.email ?? '' },
        ...(projectId
          ? [
              {
                key: 'security',
                label: t.nav.security,
                icon: <IconShieldLock size={16} />,
                onClick: () => void navigate({ to: '/p/$projectId/security', params: { projectId } }),
              },
            ]
          : []),
        {
          key: 'sign-out',
          label: t.frame.signOut,
          icon: <IconLogout size={16} />,
          onClick: () => void signOut(),
        },
      ]}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.frame.account} {...props}>
          <IconUserCircle size={22} />
        </ActionIcon>
      )}
    </MenuButton>
  );
}

import { ActionIcon, Button, Group, NativeSelect, Stack, Switch } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { t } from '../../texts/index.ts';
import type { FieldsProps } from './block-fields.tsx';
import { AddressField } from './fields.tsx';

interface SocialLink {
  network: string;
  href: string;
}

const MOST = 20;

/** The links of the brand kit, or those of this block. */
export function SocialFields({ place, set, align }: FieldsProps & { align: ReactNode }) {
  const links = place.node.attrs.links as SocialLink[] | null;
  return (
    <>
      <Switch
        label={t.editor.brandNetworks}
        checked={links === null}
        onChange={(event) => set({ links: event.currentTarget.checked ? null : [] })}
      />
      {links !== null && <SocialLinks links={links} onChange={(changed) => set({ links: changed })} />}
      {align}
    </>
  );
}

interface SocialLinksProps {
  links: SocialLink[];
  onChange(links: SocialLink[]): void;
  /** Which addresses are accepted; those of links by default. */
  read?: (typed: string) => string | undefined;
}

/** A list of networks with their addresses. */
export function SocialLinks({ links, onChange, read }: SocialLinksProps) {
  const change = (index: number, part: Partial<SocialLink>) =>
    onChange(links.map((link, at) => (at === index ? { ...link, ...part } : link)));
  return (
    <Stack gap="sm">
      {links.map(({ network, href }, index) => (
        // Links have no identity.
        <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
          <Stack gap={6} flex={1} miw={0}>
            <NativeSelect
              aria-label={t.editor.network(index + 1)}
              data={Object.entries(t.editor.networks).map(([value, label]) => ({ value, label }))}
              value={network}
              onChange={(event) => change(index, { network: event.currentTarget.value })}
            />
            <AddressField
              label={t.editor.linkOf(t.editor.networks[network] ?? network)}
              value={href}
              onChange={(address) => change(index, { href: address })}
              {...(read && { read })}
            />
          </Stack>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.editor.removeLink(t.editor.networks[network] ?? network)}
            onClick={() => onChange(links.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {links.length < MOST && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...links, { network: 'website', href: '' }])}
        >
          {t.editor.addLink}
        </Button>
      )}
    </Stack>
  );
}

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { linkAddress } from '../inspector/fields.tsx';

interface LinkDialogProps {
  opened: boolean;
  onClose(): void;
  href: string;
  onSave(href: string): void;
  onRemove(): void;
}

export function LinkDialog({ opened, onClose, href, onSave, onRemove }: LinkDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={t.editor.marks.link}>
      <LinkForm key={href} href={href} onSave={onSave} onRemove={onRemove} onClose={onClose} />
    </Dialog>
  );
}

function LinkForm({ href, onSave, onRemove, onClose }: Omit<LinkDialogProps, 'opened'>) {
  const [typed, setTyped] = useState(href);
  const address = linkAddress(typed);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (address) onSave(address);
      }}
    >
      <Stack>
        <TextInput
          label={t.editor.linkAddress}
          description={t.editor.linkHint}
          placeholder="https://"
          inputMode="url"
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={address === undefined ? t.editor.linkInvalid : undefined}
        />
        <Group justify="space-between">
          {href ? (
            <Button variant="subtle" color="red" onClick={onRemove}>
              {t.editor.removeThisLink}
            </Button>
          ) : (
            <span />
          )}
          <Group>
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" disabled={!address}>
              {t.editor.apply}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

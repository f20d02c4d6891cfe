import { Button, Checkbox, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { ScopedKey } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { DateField } from '../../ui/date-field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

type Resource = keyof typeof t.developers.resources;
type Right = keyof typeof t.developers.rights;
type Scope = ScopedKey['scopes'][number];

/** Resources that can only be read. */
const READ_ONLY: readonly Resource[] = ['analytics'];

const resources = Object.keys(t.developers.resources) as Resource[];

interface Preset {
  all: boolean;
  rights: Partial<Record<Resource, Right>>;
}

const presets: Record<keyof typeof t.developers.presetNames, Preset> = {
  sending: { all: false, rights: { send: 'write' } },
  reading: { all: false, rights: Object.fromEntries(resources.map((resource) => [resource, 'read'])) },
  full: { all: true, rights: {} },
};

function isPreset(name: keyof typeof presets, chosen: Preset): boolean {
  const { all, rights } = presets[name];
  return all === chosen.all && scopesOf(all, rights).join() === scopesOf(chosen.all, chosen.rights).join();
}

interface CreateKeyDialogProps {
  onCreated(key: ScopedKey): void;
  onClose(): void;
}

/** Creates a key, then shows it. */
export function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps) {
  const { client, key, projectId } = useApi();
  const form = useForm({
    initialValues: {
      name: '',
      all: false,
      rights: {} as Partial<Record<Resource, Right>>,
      expires: '',
      allowedIps: '',
    },
    validate: {
      rights: (rights, { all }) => (scopesOf(all, rights).length === 0 ? t.developers.scopesNeeded : null),
    },
  });
  const { confirmed, dialog } = useReauthentication();
  const create = useAction({
    run: ({ name, all, rights, expires, allowedIps }: typeof form.values) =>
      confirmed(() =>
        unwrap(
          client.POST('/projects/{id}/keys', {
            params: { path: { id: projectId } },
            body: {
              name: name.trim(),
              scopes: scopesOf(all, rights),
              // The end of the chosen day, where the user is.
              expiresAt: expires ? new Date(`${expires}T23:59:59`).toISOString() : null,
              allowedIps: allowedIps.split(/[\s,]+/).filter(Boolean),
            },
          }),
        ),
      ),
    changes: [key('keys')],
    onDone: onCreated,
    quiet: true,
  });
  if (create.data)
    return (
      <ShownOnceDialog
        title={t.developers.createdTitle}
        text={t.developers.createdText}
        label={t.developers.key}
        value={create.data.key ?? ''}
        confirm={t.developers.stored}
        onClose={onClose}
      />
    );
  return (
    <>
      <FormDialog
        opened
        onClose={onClose}
        title={t.developers.createTitle}
        error={create.error}
        busy={create.isPending}
        submit={t.developers.create}
        onSubmit={form.onSubmit((values) => create.mutate(values))}
      >
        <TextInput
          label={t.developers.name}
          description={t.developers.nameHint}
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Stack gap="xs" role="group" aria-label={t.developers.scopes}>
          <Text size="sm" fw={500}>
            {t.developers.scopes}
          </Text>
          <Group gap="xs" role="group" aria-label={t.developers.presets}>
            {(Object.keys(presets) as (keyof typeof presets)[]).map((name) => (
              <Button
                key={name}
                size="xs"
                variant="default"
                aria-pressed={isPreset(name, form.values)}
                onClick={() => form.setValues(presets[name])}
              >
                {t.developers.presetNames[name]}
              </Button>
            ))}
          </Group>
          <Checkbox label={t.developers.all} {...form.getInputProps('all', { type: 'checkbox' })} />
          {!form.values.all && (
            <Rights rights={form.values.rights} onChange={(next) => form.setFieldValue('rights', next)} />
          )}
          {form.errors.rights && (
            <Text size="sm" c="red" role="alert">
              {form.errors.rights}
            </Text>
          )}
        </Stack>
        <DateField
          label={t.developers.expires}
          description={t.developers.expiresHint}
          {...form.getInputProps('expires')}
        />
        <Textarea
          label={t.developers.ips}
          description={t.developers.ipsHint}
          autosize
          minRows={2}
          {...form.getInputProps('allowedIps')}
        />
      </FormDialog>
      {dialog}
    </>
  );
}

interface RightsProps {
  rights: Partial<Record<Resource, Right>>;
  onChange(rights: Partial<Record<Resource, Right>>): void;
}

const Rights = ({ rights, onChange }: RightsProps) => (
  <>
    {resources.map((resource) => (
      <Group key={resource} justify="space-between" wrap="nowrap">
        <Text size="sm" aria-hidden>
          {t.developers.resources[resource]}
        </Text>
        <Choice<Right>
          label={t.developers.resources[resource]}
          w={170}
          value={rights[resource] ?? 'none'}
          onChange={(right) => onChange({ ...rights, [resource]: right })}
          data={(Object.keys(t.developers.rights) as Right[])
            .filter((right) => right !== 'write' || !READ_ONLY.includes(resource))
            .map((value) => ({ value, label: t.developers.rights[value] }))}
        />
      </Group>
    ))}
  </>
);

const scopesOf = (all: boolean, rights: Partial<Record<Resource, Right>>): Scope[] =>
  all
    ? ['all']
    : resources.flatMap((resource): Scope[] => {
        const { [resource]: right = 'none' } = rights;
        return right === 'none' ? [] : [`${resource}:${right}`];
      });

import { NumberInput, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { WebhookEndpoint } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FormBody } from '../../ui/form-dialog.tsx';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';

interface EndpointBody {
  url: string;
  types: string[];
  description: string | null;
  ratePerSecond: number | null;
  headers?: Record<string, string>;
}

/** Adds an endpoint, then shows its secret. */
export function NewEndpointDialog({ onClose }: { onClose(): void }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const create = useAction({
    run: (body: EndpointBody) => unwrap(client.POST('/webhook-endpoints', { body })),
    done: () => t.webhooks.created,
    changes: [key('webhooks')],
    quiet: true,
  });
  if (create.data)
    return (
      <ShownOnceDialog
        title={t.webhooks.secretTitle}
        text={t.webhooks.secretText}
        label={t.webhooks.secret}
        value={create.data.secret}
        confirm={t.webhooks.secretStored}
        onClose={() =>
          void navigate({ to: '/p/$projectId/webhooks/$id', params: { projectId, id: create.data?.id ?? '' } })
        }
      />
    );
  return (
    <Dialog opened onClose={onClose} title={t.webhooks.addTitle}>
      <EndpointForm
        error={create.error}
        busy={create.isPending}
        submit={t.webhooks.add}
        onSubmit={create.mutate}
        onCancel={onClose}
      />
    </Dialog>
  );
}

export function EditEndpointDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose(): void }) {
  const { client, key } = useApi();
  const change = useAction({
    run: (body: EndpointBody) =>
      unwrap(client.PATCH('/webhook-endpoints/{id}', { params: { path: { id: endpoint.id } }, body })),
    done: () => t.webhooks.saved,
    changes: [key('webhooks')],
    onDone: onClose,
    quiet: true,
  });
  return (
    <Dialog opened onClose={onClose} title={t.webhooks.editTitle}>
      <EndpointForm
        endpoint={endpoint}
        error={change.error}
        busy={change.isPending}
        submit={t.common.save}
        onSubmit={change.mutate}
        onCancel={onClose}
      />
    </Dialog>
  );
}

interface EndpointFormProps {
  endpoint?: WebhookEndpoint;
  error: Error | null;
  busy: boolean;
  submit: string;
  onSubmit(body: EndpointBody): void;
  onCancel(): void;
}

function EndpointForm({ endpoint, error, busy, submit, onSubmit, onCancel }: EndpointFormProps) {
  const known = useWebhookTypes();
  const form = useForm({
    initialValues: {
      url: endpoint?.url ?? '',
      types: endpoint?.types ?? ['email.*'],
      description: endpoint?.description ?? '',
      ratePerSecond: endpoint?.ratePerSecond ?? ('' as number | ''),
      headers: '',
    },
    validate: {
      types: (types) => (types.length === 0 ? t.webhooks.typesNeeded : null),
      headers: (text) => {
        const bad = linesOf(text).find((line) => !/^[^:\s]+:/.test(line));
        return bad ? t.webhooks.headerFault(bad) : null;
      },
    },
  });
  const stored = Object.keys(endpoint?.headers ?? {});
  const send = form.onSubmit(({ url, types, description, ratePerSecond, headers }) =>
    onSubmit({
      url: url.trim(),
      types,
      description: description.trim() || null,
      ratePerSecond: ratePerSecond === '' ? null : ratePerSecond,
      // Stored values are never shown: no line means no change.
      ...(headers.trim() && { headers: headersOf(headers) }),
    }),
  );
  return (
    <FormBody error={error} busy={busy} submit={submit} onSubmit={send} onCancel={onCancel}>
      <TextInput
        label={t.webhooks.url}
        description={t.webhooks.urlHint}
        type="url"
        required
        data-autofocus
        maxLength={2000}
        {...form.getInputProps('url')}
      />
      <TagsInput
        label={t.webhooks.types}
        description={t.webhooks.typesHint}
        required
        data={known.map(({ type }) => type)}
        renderOption={({ option }) => (
          <div>
            <Text size="sm">{option.value}</Text>
            <Text size="xs" c="dimmed">
              {known.find(({ type }) => type === option.value)?.description}
            </Text>
          </div>
        )}
        maxTags={50}
        acceptValueOnBlur
        {...form.getInputProps('types')}
      />
      <TextInput label={t.webhooks.descriptionField} maxLength={500} {...form.getInputProps('description')} />
      <NumberInput
        label={t.webhooks.rate}
        description={t.webhooks.rateHint}
        min={1}
        max={1000}
        allowDecimal={false}
        hideControls
        {...form.getInputProps('ratePerSecond')}
      />
      <Textarea
        label={t.webhooks.headers}
        description={
          stored.length > 0
            ? `${t.webhooks.headersHint} ${t.webhooks.headersKept(stored.join(', '))}`
            : t.webhooks.headersHint
        }
        autosize
        minRows={2}
        {...form.getInputProps('headers')}
      />
    </FormBody>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );

/** What an endpoint can receive: single types, and whole families of them. */
function useWebhookTypes(): { type: string; description: string }[] {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('webhook-types'),
    queryFn: () => unwrap(client.GET('/webhook-endpoints/types')),
    staleTime: 600_000,
  });
  const types = (data?.types ?? []).filter(({ type }) => !type.includes('<'));
  const families = [...new Set((data?.types ?? []).map(({ type }) => type.split('.')[0] ?? ''))];
  return [
    { type: '*', description: t.webhooks.everything },
    ...families.map((family) => ({ type: `${family}.*`, description: t.webhooks.wholeFamily(family) })),
    ...types,
  ];
}

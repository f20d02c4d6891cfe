import { Group, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';

export interface ConfirmationValues {
  templateId: string;
  from: string;
  fromName: string;
  reminderAfterHours: number | '';
  expiresAfterHours: number | '';
}

interface ConfirmationFieldsProps {
  values: ConfirmationValues;
  onChange(part: Partial<ConfirmationValues>): void;
  readOnly: boolean;
  senderHint?: string;
}

const MAX_HOURS = 2_160;

/** The confirmation email: template, sender and hours. */
export function ConfirmationFields({ values, onChange, readOnly, senderHint }: ConfirmationFieldsProps) {
  const { client, key } = useApi();
  const templates = useQuery({
    queryKey: key('templates', 'transactional'),
    queryFn: () => unwrap(client.GET('/templates', { params: { query: { pageSize: 100, type: 'TRANSACTIONAL' } } })),
  });
  const hours = (name: 'reminderAfterHours' | 'expiresAfterHours') => ({
    min: 1,
    max: MAX_HOURS,
    allowDecimal: false,
    readOnly,
    value: values[name],
    onChange: (value: string | number) => onChange({ [name]: value === '' ? '' : Number(value) }),
  });
  return (
    <Stack role="group" aria-label={t.topics.confirmation}>
      <Select
        label={t.topics.template}
        description={t.topics.templateHint}
        data={[
          { value: '', label: t.topics.builtIn },
          ...(templates.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={values.templateId}
        onChange={(templateId) => onChange({ templateId: templateId ?? '' })}
        allowDeselect={false}
        searchable
        disabled={readOnly}
      />
      <Group grow align="flex-start">
        <TextInput
          label={t.topics.from}
          description={senderHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          type="email"
          readOnly={readOnly}
          value={values.from}
          onChange={(event) => onChange({ from: event.currentTarget.value })}
        />
        <TextInput
          label={t.topics.fromName}
          maxLength={255}
          readOnly={readOnly}
          value={values.fromName}
          onChange={(event) => onChange({ fromName: event.currentTarget.value })}
        />
      </Group>
      <Group grow align="flex-start">
        <NumberInput
          label={t.topics.reminder}
          description={t.topics.reminderHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...hours('reminderAfterHours')}
        />
        <NumberInput label={t.topics.expires} {...hours('expiresAfterHours')} />
      </Group>
    </Stack>
  );
}

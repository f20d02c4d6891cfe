import { Button, TagsInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconMailForward } from '@tabler/icons-react';
import { useState } from 'react';
import type { SendTestEmailRequest } from '../api/api-types.ts';
import { useAction, useMe } from '../api/hooks.ts';
import { messageOf } from '../api/problem.ts';
import { t } from '../texts/index.ts';
import { ContactSelect } from './contact-select.tsx';
import { FormDialog } from './form-dialog.tsx';

const MAX_ADDRESSES = 10;
const BETWEEN = [',', ';', ' '];

/** Pasted addresses may be one text. */
const addressesIn = (texts: string[]): string[] => [
  ...new Set(texts.flatMap((text) => text.split(/[\s,;]+/)).filter((address) => address !== '')),
];

interface TestMailProps {
  send(test: SendTestEmailRequest): Promise<unknown>;
  disabled?: boolean;
}

/** Sends the saved mail once to each of a few addresses, with the data of a contact. */
export function TestMailButton({ send, disabled }: TestMailProps) {
  const [opened, { open, close }] = useDisclosure();
  const { data: user } = useMe();
  const [typed, setTyped] = useState('');
  const form = useForm({
    initialValues: { emails: [] as string[], contactId: null as string | null },
    validate: { emails: (emails) => (emails.length === 0 ? t.testMail.addressNeeded : null) },
  });
  const test = useAction({
    run: async ({ emails: texts, contactId }: typeof form.values) => {
      const emails = addressesIn(texts);
      for (const [at, email] of emails.entries())
        try {
          await send({ email, ...(contactId !== null && { contactId }) });
        } catch (error) {
          // Those before it have been sent, and must not be sent twice.
          form.setFieldValue('emails', emails.slice(at));
          throw new Error(t.testMail.refused(email, messageOf(error)));
        }
    },
    done: (_, { emails }) => t.testMail.sent(addressesIn(emails).join(', ')),
    onDone: close,
    quiet: true,
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconMailForward size={16} />}
        onClick={() => {
          test.reset();
          if (user && form.values.emails.length === 0) form.setFieldValue('emails', [user.email]);
          open();
        }}
        disabled={disabled}
        title={disabled ? t.templates.unsavedTest : undefined}
      >
        {t.templates.test}
      </Button>
      <FormDialog
        opened={opened}
        onClose={close}
        title={t.templates.testTitle}
        intro={<Text size="sm">{t.testMail.text}</Text>}
        error={test.error}
        busy={test.isPending}
        submit={t.templates.test}
        onSubmit={form.onSubmit((values) => test.mutate(values))}
      >
        <TagsInput
          label={t.templates.testAddress}
          description={t.testMail.addressesHint(MAX_ADDRESSES)}
          inputMode="email"
          splitChars={BETWEEN}
          maxTags={MAX_ADDRESSES}
          acceptValueOnBlur
          data-autofocus
          searchValue={typed}
          onSearchChange={setTyped}
          {...form.getInputProps('emails')}
        />
        <ContactSelect
          label={t.testMail.withDataOf}
          description={t.testMail.withDataHint}
          value={form.values.contactId}
          onChange={(contactId) => form.setFieldValue('contactId', contactId)}
        />
      </FormDialog>
    </>
  );
}

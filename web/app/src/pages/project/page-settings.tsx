import '../brand/brand.css';
import { Alert, Button, FileButton, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconExternalLink, IconTrash, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import type { PageSettings } from '../../api/api-types.ts';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { IMAGE_TYPES, useUploadImage } from '../../editor/upload.ts';
import { t } from '../../texts/index.ts';
import { ColorField } from '../../ui/color-field.tsx';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import { usePageLook, usePageSettings } from '../forms/look.ts';

type Values = Record<'from' | 'senderName' | 'css' | 'imprint' | 'privacyUrl', string> &
  Pick<PageSettings, 'logoUrl' | 'color'>;

const valuesOf = (settings: PageSettings): Values => ({
  from: settings.from ?? '',
  senderName: settings.senderName ?? '',
  logoUrl: settings.logoUrl,
  color: settings.color,
  css: settings.css ?? '',
  imprint: settings.imprint ?? '',
  privacyUrl: settings.privacyUrl ?? '',
});

const textOrNull = (text: string): string | null => text.trim() || null;

const requestOf = ({ logoUrl, color, ...texts }: Values): PageSettings => ({
  from: textOrNull(texts.from),
  senderName: textOrNull(texts.senderName),
  logoUrl,
  color,
  css: textOrNull(texts.css),
  imprint: textOrNull(texts.imprint),
  privacyUrl: textOrNull(texts.privacyUrl),
});

/** Sender and look of the pages that recipients see. */
export function PageSettingsTab() {
  const settings = usePageSettings();
  return <Loaded query={settings}>{(stored) => <PageSettingsForm settings={stored} />}</Loaded>;
}

/** The color of a project that has chosen none. */
const OWN_COLOR = '#4338ca';

function PageSettingsForm({ settings }: { settings: PageSettings }) {
  const { key, projectId } = useApi();
  const { admin } = useRights();
  const look = usePageLook();
  const form = useForm<Values>({ initialValues: valuesOf(settings) });
  const isDirty = form.isDirty();
  useWarnBeforeLeaving(isDirty);
  const save = useAction<Values, PageSettings>({
    run: (values) =>
      unwrap(
        accountApi.PATCH('/projects/{id}/pages', { params: { path: { id: projectId } }, body: requestOf(values) }),
      ),
    done: () => t.hostedPages.saved,
    changes: [key('pages')],
    quiet: true,
    onDone: (saved) => {
      form.setInitialValues(valuesOf(saved));
      form.setValues(valuesOf(saved));
    },
  });
  const text = (name: 'from' | 'senderName' | 'css' | 'imprint' | 'privacyUrl') => ({
    readOnly: !admin,
    ...form.getInputProps(name),
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack gap="lg">
        <Group justify="space-between" align="flex-start">
          <Text c="dimmed" flex="1 1 16rem">
            {admin ? t.hostedPages.description : t.hostedPages.adminOnly}
          </Text>
          <Preview hasSender={settings.from !== null} isDirty={isDirty} />
        </Group>
        {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
        <Panel title={t.hostedPages.sender} description={t.hostedPages.senderHint}>
          <Stack maw={520}>
            <TextInput
              label={t.hostedPages.from}
              description={t.hostedPages.fromHint}
              type="email"
              maxLength={254}
              {...text('from')}
            />
            <TextInput
              label={t.hostedPages.senderName}
              description={t.hostedPages.senderNameHint}
              maxLength={100}
              {...text('senderName')}
            />
          </Stack>
        </Panel>
        <Panel title={t.hostedPages.look}>
          <Stack maw={520}>
            <LogoField
              value={form.values.logoUrl}
              onChange={(logoUrl) => form.setFieldValue('logoUrl', logoUrl)}
              readOnly={!admin}
            />
            <ColorField
              label={t.hostedPages.color}
              value={form.values.color}
              inherited={{ color: look?.light.button ?? OWN_COLOR, source: t.hostedPages.ofBrand }}
              onChange={(color) => form.setFieldValue('color', color)}
              disabled={!admin}
              maw={320}
            />
            <Textarea
              label={t.hostedPages.css}
              description={t.hostedPages.cssHint}
              classNames={{ input: 'monospace' }}
              autosize
              minRows={3}
              maxRows={16}
              maxLength={20_000}
              spellCheck={false}
              {...text('css')}
            />
          </Stack>
        </Panel>
        <Panel title={t.hostedPages.legal}>
          <Stack maw={520}>
            <Textarea
              label={t.hostedPages.imprint}
              description={t.hostedPages.imprintHint}
              autosize
              minRows={2}
              maxRows={8}
              maxLength={2_000}
              {...text('imprint')}
            />
            <TextInput
              label={t.hostedPages.privacyUrl}
              type="url"
              placeholder="https://"
              maxLength={2_000}
              {...text('privacyUrl')}
            />
          </Stack>
        </Panel>
        {admin && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!isDirty}>
              {t.common.save}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

/** Leads to a page that needs no link from an email. */
function Preview({ hasSender, isDirty }: { hasSender: boolean; isDirty: boolean }) {
  const { projectId } = useApi();
  if (!hasSender)
    return (
      <Text size="sm" c="dimmed">
        {t.hostedPages.previewNoSender}
      </Text>
    );
  return (
    <Stack gap={4} align="flex-end">
      <Button
        component="a"
        variant="default"
        leftSection={<IconExternalLink size={16} />}
        href={`/preferences/${projectId}`}
        target="_blank"
        rel="noopener"
      >
        {t.hostedPages.preview}
      </Button>
      {isDirty && (
        <Text size="xs" c="dimmed">
          {t.hostedPages.previewUnsaved}
        </Text>
      )}
    </Stack>
  );
}

interface LogoFieldProps {
  value: string | null;
  onChange(url: string | null): void;
  readOnly: boolean;
}

/** An uploaded image. */
function LogoField({ value, onChange, readOnly }: LogoFieldProps) {
  const uploadImage = useUploadImage();
  const [uploading, setUploading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const load = async (file: File | null) => {
    if (!file) return;
    setUploading(true);
    setProblem(undefined);
    try {
      onChange(await uploadImage(file));
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setUploading(false);
    }
  };
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t.hostedPages.logo}
      </Text>
      {value && <img src={value} alt={t.hostedPages.logo} className="brand-logo" />}
      {problem && <Alert color="red">{problem}</Alert>}
      {!readOnly && (
        <Group gap="xs">
          <FileButton accept={IMAGE_TYPES.join()} onChange={(file) => void load(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={uploading} leftSection={<IconUpload size={16} />}>
                {t.hostedPages.upload}
              </Button>
            )}
          </FileButton>
          {value && (
            <Button variant="subtle" color="gray" leftSection={<IconTrash size={16} />} onClick={() => onChange(null)}>
              {t.hostedPages.removeLogo}
            </Button>
          )}
        </Group>
      )}
      <Text size="xs" c="dimmed">
        {t.hostedPages.logoHint}
      </Text>
    </Stack>
  );
}

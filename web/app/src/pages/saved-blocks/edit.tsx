import { Alert, Badge, Button, Group, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDeviceFloppy, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import type { SavedBlock } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { VisualEditor } from '../../editor/lazy.tsx';
import { type DocumentNode, emptyDocument, type MailDocument } from '../../editor/schema/document.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { useWarnBeforeLeaving } from '../../ui/leaving.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel, Placeholder } from '../../ui/page.tsx';
import { ApplyPanel } from '../jobs/apply-panel.tsx';
import { BlockUsage } from './usage.tsx';

type Kind = SavedBlock['kind'];

interface BlockForm {
  name: string;
  kind: Kind;
  document: MailDocument;
}

const kinds: Kind[] = ['HEADER', 'SECTION', 'FOOTER'];

const isFooter = ({ type }: DocumentNode): boolean => type === 'footer';

/** A footer is the one of an empty email; other blocks begin with a paragraph. */
function startOf(kind: Kind): MailDocument {
  const document = emptyDocument(window.document.documentElement.lang);
  return { ...document, content: document.content.filter((node) => isFooter(node) === (kind === 'FOOTER')) };
}

/** Says what the API would refuse about the content as a whole. */
function faultOf({ kind, document: { content } }: BlockForm): string | undefined {
  if (kind !== 'FOOTER') return content.some(isFooter) ? t.savedBlocks.noFooter : undefined;
  if (!content.some(isFooter)) return t.savedBlocks.footerMissing;
  return content.length > 1 ? t.savedBlocks.footerOnly : undefined;
}

const bodyOf = ({ name, kind, document }: BlockForm) => ({ name: name.trim(), kind, document: document as never });

function useBackLink(): ReactNode {
  const { projectId } = useApi();
  return (
    <BackLink to="/p/$projectId/saved-blocks" params={{ projectId }}>
      {t.savedBlocks.title}
    </BackLink>
  );
}

export function NewSavedBlockPage() {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const [form, setForm] = useState<BlockForm>({ name: '', kind: 'SECTION', document: startOf('SECTION') });
  const [touched, setTouched] = useState(false);
  const create = useAction<BlockForm, SavedBlock>({
    run: (values) => unwrap(client.POST('/saved-blocks', { body: bodyOf(values) })),
    done: () => t.savedBlocks.createdDone,
    changes: [key('saved-blocks')],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({ to: '/p/$projectId/saved-blocks/$id', params: { projectId, id }, ignoreBlocker: true }),
  });
  useWarnBeforeLeaving(touched);
  const change = (part: Partial<BlockForm>) => {
    setTouched(true);
    setForm((old) => ({ ...old, ...part }));
  };
  return (
    <Page
      title={t.savedBlocks.new}
      back={useBackLink()}
      actions={<SaveButton form={form} busy={create.isPending} onSave={() => create.mutate(form)} />}
    >
      {create.error && <Alert color="red">{messageOf(create.error)}</Alert>}
      <Panel>
        <Group align="flex-start">
          <NameField form={form} onChange={change} />
          <div>
            <Choice
              label={t.savedBlocks.kind}
              visibleLabel
              value={form.kind}
              onChange={(kind) => change({ kind, document: startOf(kind) })}
              data={kinds.map((value) => ({ value, label: t.editor.savedKinds[value] }))}
            />
          </div>
        </Group>
      </Panel>
      {/* Another kind begins with another content. */}
      <ContentPanel key={form.kind} form={form} onChange={change} />
    </Page>
  );
}

export function SavedBlockPage() {
  const { client, key } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/saved-blocks/$id' });
  const back = useBackLink();
  const block = useQuery({
    queryKey: key('saved-block', id),
    queryFn: () => unwrap(client.GET('/saved-blocks/{id}', { params: { path: { id } } })),
  });
  if (block.data) return <ExistingBlock key={id} block={block.data} />;
  return (
    <Page title={t.savedBlocks.title} back={back}>
      <Loaded query={block}>{() => null}</Loaded>
    </Page>
  );
}

function ExistingBlock({ block }: { block: SavedBlock }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const [stored, setStored] = useState<BlockForm>({ ...block, document: block.document as MailDocument });
  const [form, setForm] = useState(stored);
  const [deleting, { open, close }] = useDisclosure();
  const { id, usedBy } = block;
  const params = { params: { path: { id } } };
  const isDirty = form !== stored;
  useWarnBeforeLeaving(isDirty);
  const save = useAction<BlockForm, SavedBlock>({
    run: (values) => unwrap(client.PATCH('/saved-blocks/{id}', { ...params, body: bodyOf(values) })),
    done: () => t.savedBlocks.saved,
    changes: [key('saved-blocks'), key('saved-block', id)],
    quiet: true,
    onDone: (_, sent) => setStored(sent),
  });
  const remove = useAction({
    run: () => unwrap(client.DELETE('/saved-blocks/{id}', params)),
    done: () => t.savedBlocks.deleted(block.name),
    changes: [key('saved-blocks')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/saved-blocks', params: { projectId }, ignoreBlocker: true }),
  });
  const change = (part: Partial<BlockForm>) => setForm((old) => ({ ...old, ...part }));
  const isUsed = usedBy.templates + usedBy.campaigns > 0;
  return (
    <Page
      title={block.name}
      back={useBackLink()}
      badge={
        <>
          <Badge variant="default">{t.editor.savedKinds[block.kind]}</Badge>
          {isDirty && <Badge color="yellow">{t.common.unsaved}</Badge>}
        </>
      }
      actions={
        write && (
          <>
            <SaveButton form={form} busy={save.isPending} isSaved={!isDirty} onSave={() => save.mutate(form)} />
            <Button variant="default" leftSection={<IconTrash size={16} />} onClick={open}>
              {t.common.delete}
            </Button>
          </>
        )
      }
    >
      {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
      <Panel>
        <NameField form={form} onChange={change} readOnly={!write} />
      </Panel>
      <ContentPanel form={form} onChange={change} readOnly={!write} />
      <Panel title={t.savedBlocks.usedBy}>
        <BlockUsage block={block} />
      </Panel>
      {write && isUsed && (
        <ApplyPanel
          title={t.savedBlocks.apply}
          text={isDirty ? t.savedBlocks.applyAfterSave : t.savedBlocks.applyText}
          disabled={isDirty}
          start={() => unwrap(client.POST('/saved-blocks/{id}/apply', params))}
        />
      )}
      {isUsed ? (
        <Dialog opened={deleting} onClose={close} title={t.savedBlocks.usedTitle(block.name)}>
          <Stack>
            {t.savedBlocks.usedText}
            <BlockUsage block={block} />
          </Stack>
        </Dialog>
      ) : (
        <ConfirmDialog
          danger
          opened={deleting}
          onClose={close}
          title={t.savedBlocks.deleteTitle(block.name)}
          confirm={t.common.delete}
          onConfirm={() => remove.mutateAsync()}
        >
          {t.savedBlocks.deleteText}
        </ConfirmDialog>
      )}
    </Page>
  );
}

interface SaveButtonProps {
  form: BlockForm;
  busy: boolean;
  isSaved?: boolean;
  onSave(): void;
}

const SaveButton = ({ form, busy, isSaved = false, onSave }: SaveButtonProps) => (
  <Button
    leftSection={<IconDeviceFloppy size={16} />}
    loading={busy}
    disabled={isSaved || form.name.trim() === '' || faultOf(form) !== undefined}
    onClick={onSave}
  >
    {t.common.save}
  </Button>
);

interface FieldsProps {
  form: BlockForm;
  onChange(part: Partial<BlockForm>): void;
  readOnly?: boolean;
}

const NameField = ({ form, onChange, readOnly = false }: FieldsProps) => (
  <TextInput
    label={t.savedBlocks.name}
    required
    maxLength={255}
    readOnly={readOnly}
    value={form.name}
    onChange={(event) => onChange({ name: event.currentTarget.value })}
    maw={420}
    flex="1 1 14rem"
  />
);

function ContentPanel({ form, onChange, readOnly = false }: FieldsProps) {
  const fault = faultOf(form);
  return (
    <Panel title={t.savedBlocks.content} description={t.savedBlocks.kindHints[form.kind]}>
      <Stack>
        {fault && <Alert color="yellow">{fault}</Alert>}
        <Suspense fallback={<Placeholder lines={8} />}>
          <VisualEditor
            role={form.kind}
            document={form.document}
            onChange={(document) => onChange({ document })}
            subject=""
            onSubject={() => {}}
            type="TRANSACTIONAL"
            readOnly={readOnly}
          />
        </Suspense>
      </Stack>
    </Panel>
  );
}

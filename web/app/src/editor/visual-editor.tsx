import { ActionIcon, Alert, Box, Button, Group, Modal, SegmentedControl, Stack } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconAdjustments } from '@tabler/icons-react';
import { EditorContent } from '@tiptap/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Violation } from '../api/api-types.ts';
import type { Contact, Template } from '../api/types.ts';
import { t } from '../texts/index.ts';
import { showProblem } from '../ui/notify.ts';
import { ImageDialog } from './dialogs/image-dialog.tsx';
import { LinkDialog } from './dialogs/link-dialog.tsx';
import { removeVariable, VariableDialog, writeVariable } from './dialogs/variable-dialog.tsx';
import { EmailFields } from './email-fields.tsx';
import { Inspector } from './inspector/inspector.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { ChooseSavedDialog } from './saved/choose-dialog.tsx';
import { SaveBlockDialog } from './saved/save-dialog.tsx';
import { useSavedBlocks } from './saved/use-saved-blocks.ts';
import { insertBlock, selectBlock, setAttributes } from './schema/commands.ts';
import type { MailDocument } from './schema/document.ts';
import { positionOfPath } from './schema/paths.ts';
import { currentBlock, selectedVariable } from './schema/places.ts';
import { documentOfBlock, insertSaved, replaceBySaved } from './schema/saved-commands.ts';
import { setSavedNames } from './schema/saved-names.ts';
import type { VariableAttributes } from './schema/variable.ts';
import { ThemeFields } from './theme-fields.tsx';
import { useUploadImage } from './upload.ts';
import { BlockHandle } from './view/block-handle.tsx';
import { type BlockChoice, blockChoices, type DocumentRole } from './view/block-kinds.tsx';
import { type DialogName, type EditorTools, EditorToolsProvider } from './view/context.ts';
import { EditorBar } from './view/editor-bar.tsx';
import { SelectionToolbar } from './view/selection-toolbar.tsx';
import { SlashMenu } from './view/slash-menu.tsx';
import { canvasColors, useBrandKit } from './view/theme.ts';
import { useEmailEditor } from './view/use-email-editor.ts';
import './canvas.css';

export interface VisualEditorProps {
  /** The content to begin with; for another one, mount another editor with another key. */
  document: MailDocument;
  onChange(document: MailDocument): void;
  subject: string;
  onSubject(subject: string): void;
  type: Template['type'];
  /** The topic that the footer of the preview names. */
  topicId?: string | null | undefined;
  /** People to preview as; without them any contact can be searched for. */
  people?: Contact[] | undefined;
  readOnly?: boolean;
  /** A saved block has no subject, no preheader and no own look. */
  role?: DocumentRole;
  subjectError?: string | undefined;
  /** Why the API refuses the document, with places in it. */
  violations?: Violation[] | undefined;
  /** A place of the document to begin at. */
  showPath?: string | undefined;
}

interface DialogState {
  name: DialogName;
  /** Present for a new image, or a saved block: where it goes. */
  after?: number | undefined;
}

/** Subject, preheader and content of an email, with a preview in their place. */
export function VisualEditor(props: VisualEditorProps) {
  const { document, onChange, readOnly = false, role = 'EMAIL', violations = [], showPath } = props;
  const uploadImage = useUploadImage();
  const kit = useBrandKit();
  const savedBlocks = useSavedBlocks({ enabled: role === 'EMAIL' });
  const [mode, setMode] = useState<'write' | 'preview'>('write');
  const [dialog, setDialog] = useState<DialogState>();
  const [settingsOpened, settings] = useDisclosure();
  const narrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const keys = useRef<(event: KeyboardEvent) => boolean>(undefined);
  const openDialog = (name: DialogName) => setDialog({ name });

  const addImages = (files: File[], at?: number) => {
    // What is typed meanwhile moves the place.
    let place = at ?? currentBlock(editor.state)?.pos;
    const follow = ({ transaction }: { transaction: { mapping: { map(pos: number): number } } }) => {
      if (place !== undefined) place = transaction.mapping.map(place);
    };
    editor.on('transaction', follow);
    const run = async () => {
      for (const file of files) {
        const url = await uploadImage(file);
        const transaction = insertBlock(editor.state, { type: 'image', attrs: { src: url } }, place);
        if (transaction) editor.view.dispatch(transaction);
        // What it shows is asked for at once.
        openDialog('image');
      }
    };
    void run()
      .catch(showProblem)
      .finally(() => editor.off('transaction', follow));
  };
  const editor = useEmailEditor({ document, onChange, readOnly, keys, onImages: addImages, openDialog });

  // The dialog gives the focus back to where it was; writing continues in the text.
  const focusText = () => setTimeout(() => editor.view.focus(), 50);
  const close = () => {
    setDialog(undefined);
    focusText();
  };
  const insert = (choice: BlockChoice, after = currentBlock(editor.state)?.pos) => {
    if (choice.kind === 'variable') return openDialog('variable');
    // Documents have no image without an address.
    if (choice.kind === 'image') return setDialog({ name: 'image', after });
    if (choice.kind === 'saved') return setDialog({ name: 'saved', after });
    const transaction = insertBlock(editor.state, choice.create(), after);
    if (transaction) editor.view.dispatch(transaction);
    focusText();
  };
  const choices = useMemo(() => blockChoices(role), [role]);
  const tools: EditorTools = useMemo(
    () => ({ editor, readOnly, choices, insert, openDialog, addImages }),
    [editor, readOnly, choices],
  );
  useEffect(() => {
    if (savedBlocks)
      editor.view.dispatch(setSavedNames(editor.state.tr, new Map(savedBlocks.map(({ id, name }) => [id, name]))));
  }, [editor, savedBlocks]);

  const current = currentBlock(editor.state);
  const isNew = dialog !== undefined && 'after' in dialog;
  const image = dialog?.name === 'image' && !isNew && current?.node.type.name === 'image' ? current : undefined;
  const saveImage = (value: { src: string; alt: string; decorative: boolean }) => {
    const transaction = image
      ? setAttributes(editor.state, image.pos, value)
      : insertBlock(editor.state, { type: 'image', attrs: value }, dialog?.after);
    if (transaction) editor.view.dispatch(transaction);
    close();
  };
  const chip = dialog?.name === 'variable' ? selectedVariable(editor.state) : undefined;
  const href = dialog?.name === 'link' ? String(editor.getAttributes('link').href ?? '') : '';
  const setLink = (address: string) => {
    const chain = editor.chain().focus().extendMarkRange('link');
    if (editor.state.selection.empty && href === '') {
      chain.insertContent({ type: 'text', text: address, marks: [{ type: 'link', attrs: { href: address } }] }).run();
    } else chain.setMark('link', { href: address }).run();
    close();
  };
  const showPlace = (path: string) => {
    setMode('write');
    const position = positionOfPath(editor.state.doc, path);
    if (position === undefined) {
      if (path.includes('preheader')) root.current?.querySelector<HTMLElement>('.preheader .chip-line')?.focus();
      return;
    }
    editor.view.dispatch(selectBlock(editor.state, position));
    // The canvas is hidden until the mode has changed.
    setTimeout(() => {
      editor.view.focus();
      editor.commands.scrollIntoView();
    }, 50);
  };
  // The place that a page opens the editor at.
  useEffect(() => {
    if (showPath !== undefined) showPlace(showPath);
  }, [editor, showPath]);
  const theme = role === 'EMAIL' && <ThemeFields document={document} onChange={onChange} readOnly={readOnly} />;
  const inspector = <Inspector around={theme} />;
  const savable = dialog?.name === 'save' ? current : undefined;
  return (
    <EditorToolsProvider value={tools}>
      <Stack gap="md" className="visual-editor" ref={root}>
        {violations.length > 0 && (
          <Alert color="red" title={t.editor.refused}>
            <Stack gap="xs">
              {violations.map(({ field, message }) => (
                <Group key={`${field} ${message}`} gap="xs">
                  <span className="breakable">{message}</span>
                  {field.startsWith('document.') && (
                    <Button size="compact-xs" variant="default" onClick={() => showPlace(field)}>
                      {t.templates.showPlace}
                    </Button>
                  )}
                </Group>
              ))}
            </Stack>
          </Alert>
        )}
        {role === 'EMAIL' && <EmailFields {...props} />}
        <Group justify="space-between" gap="sm" className="editor-head">
          <SegmentedControl
            aria-label={t.editor.mode}
            value={mode}
            onChange={(value) => setMode(value === 'preview' ? 'preview' : 'write')}
            data={[
              { value: 'write', label: t.editor.write },
              { value: 'preview', label: t.editor.preview },
            ]}
          />
          {mode === 'write' && !readOnly && <EditorBar />}
          {mode === 'write' && narrow && !readOnly && (
            <ActionIcon
              variant="default"
              size={36}
              aria-label={t.editor.settings}
              title={t.editor.settings}
              onClick={settings.open}
            >
              <IconAdjustments size={18} />
            </ActionIcon>
          )}
        </Group>
        {mode === 'preview' && <PreviewPane {...props} onShow={showPlace} />}
        {/* Stays mounted: its history and selection live in it. */}
        <div className="editor-main" hidden={mode !== 'write'}>
          <div className="email-canvas" ref={canvas} style={canvasColors(document.theme, kit)}>
            <EditorContent editor={editor} className="email-paper" />
            {!readOnly && (
              <>
                {!narrow && <BlockHandle canvas={canvas} />}
                <SelectionToolbar canvas={canvas} />
                <SlashMenu keys={keys} canvas={canvas} />
              </>
            )}
          </div>
          {!narrow && (
            <Box component="aside" className="editor-side" aria-label={t.editor.settings}>
              {inspector}
            </Box>
          )}
        </div>
        {narrow && (
          <Modal
            opened={settingsOpened}
            onClose={settings.close}
            title={t.editor.settings}
            classNames={{ inner: 'sheet-inner', content: 'sheet-content' }}
            transitionProps={{ transition: 'slide-up' }}
            attributes={{ header: { role: 'presentation' } }}
          >
            {inspector}
          </Modal>
        )}
      </Stack>
      <VariableDialog
        opened={dialog?.name === 'variable'}
        onClose={close}
        value={chip?.node.attrs as VariableAttributes | undefined}
        onSave={(value) => {
          writeVariable(editor, value);
          close();
        }}
        onRemove={() => {
          removeVariable(editor);
          close();
        }}
      />
      <LinkDialog
        opened={dialog?.name === 'link'}
        onClose={close}
        href={href}
        onSave={setLink}
        onRemove={() => {
          editor.chain().focus().extendMarkRange('link').unsetMark('link').run();
          close();
        }}
      />
      <ImageDialog
        opened={dialog?.name === 'image'}
        onClose={close}
        value={image?.node.attrs as { src: string; alt: string; decorative: boolean } | undefined}
        used={[...new Set([...(kit?.logoUrl ? [kit.logoUrl] : []), ...imagesOf(document)])]}
        onSave={saveImage}
      />
      <ChooseSavedDialog
        opened={dialog?.name === 'saved'}
        onClose={close}
        onChoose={(block) => {
          const transaction = insertSaved(editor.state, block, dialog?.after);
          if (transaction) editor.view.dispatch(transaction);
          close();
        }}
      />
      <SaveBlockDialog
        opened={dialog?.name === 'save'}
        onClose={close}
        document={savable && documentOfBlock(savable)}
        isFooter={savable?.node.type.name === 'footer'}
        onSaved={({ id }) => {
          if (savable) editor.view.dispatch(replaceBySaved(editor.state, savable, id));
          close();
        }}
      />
    </EditorToolsProvider>
  );
}

/** The images of a document, each once. */
function imagesOf({ content }: MailDocument): string[] {
  const found = new Set<string>();
  const visit = (nodes: MailDocument['content']) => {
    for (const { type, attrs, content: inner } of nodes) {
      if (type === 'image' && typeof attrs?.src === 'string' && /^https?:/.test(attrs.src)) found.add(attrs.src);
      if (inner) visit(inner);
    }
  };
  visit(content);
  return [...found].slice(0, 24);
}

import { ActionIcon, Alert, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconClipboard,
  IconCopy,
  IconKeyboard,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useAction, useApi, useRights } from '../../../api/hooks.ts';
import type { StepTypeInfo, WorkflowDetail, WorkflowDraft } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { triggerText } from '../list.tsx';
import { AddPanel, nameOf } from './add-panel.tsx';
import { Conflict } from './conflict.tsx';
import {
  type Faults,
  useClipboard,
  useExistingSelection,
  useFaults,
  useFocus,
  usePhonePanel,
  useStableEditing,
} from './editor-hooks.ts';
import { START } from './graph.ts';
import { GraphView } from './graph-view.tsx';
import { KeysDialog, onCanvasKey } from './keys.tsx';
import { type DraftStep, exitsOf, type StepTypes } from './model.ts';
import { sharesOf, useBadges, useStats, type WorkflowStats } from './numbers.tsx';
import { OverviewPanel } from './overview-panel.tsx';
import { SaveStatus } from './save-status.tsx';
import type { FormContext } from './schema-form.tsx';
import type { StepTone } from './step-node.tsx';
import { StepPanel } from './step-panel.tsx';
import { TriggerPanel } from './trigger-panel.tsx';
import { type DraftEditing, useDraft } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';

interface CanvasEditorProps {
  workflow: WorkflowDetail;
  draft: WorkflowDraft;
  types: StepTypeInfo[];
  /** Gets the draft for what stands outside the canvas, such as the button that publishes it. */
  actions(draft: DraftEditing): ReactNode;
}

/** The editor of a workflow: the graph, and beside it the form of what is selected. */
export default function CanvasEditor({ workflow, draft: latest, types: list, actions }: CanvasEditorProps) {
  const types: StepTypes = useMemo(() => new Map(list.map((type) => [type.type, type])), [list]);
  const draft = useDraft(latest);
  const editor = useEditor(draft, types);
  const { write } = useRights();
  const [isTheirsShown, showTheirs] = useState(false);
  const [keysOpened, keysDialog] = useDisclosure();
  const panel = useRef<HTMLElement>(null);
  const graph = useRef<HTMLDivElement>(null);
  const stats = useStats(workflow.id);
  const { conflict, content, save } = draft;
  const isComparing = isTheirsShown && conflict !== undefined;
  const readOnly = !write || isComparing;
  const shown = isComparing ? conflict : content;
  const faults = useFaults(draft.server, save, content.graph.steps);
  const badges = useBadges(workflow.id, stats);
  const shares = useMemo(() => sharesOf(shown.graph.transitions, stats), [shown.graph.transitions, stats]);
  const editing = useStableEditing(editor, readOnly);
  useFocus(editor.focused);
  useExistingSelection(editor, content.graph.steps);
  useClipboard(graph, readOnly ? undefined : editor.paste);
  usePhonePanel(panel, [...editor.selected].join(), editor.adding !== undefined);
  const tones = useMemo(() => {
    const found = new Map<string, StepTone>([...faults.byStep.keys()].map((id) => [id, 'fault']));
    if (editor.connecting) found.set(editor.connecting.fromStepId, 'path');
    return found;
  }, [faults, editor.connecting]);
  const openPanel = () =>
    panel.current?.querySelector<HTMLElement>('input:not([disabled]), select, textarea, button')?.focus();
  return (
    <Stack gap="sm">
      {conflict && (
        <Conflict
          theirs={conflict}
          isShown={isComparing}
          onShow={showTheirs}
          onResolve={(choice) => {
            showTheirs(false);
            draft.resolve(choice);
          }}
        />
      )}
      {!conflict && workflow.version > draft.server.baseVersion && draft.server.changed && write && (
        <Rebase workflow={workflow} draft={draft} />
      )}
      <Group justify="space-between" gap="xs">
        {write ? <Toolbar editor={editor} draft={draft} onKeys={keysDialog.open} /> : <Text>{t.canvas.readOnly}</Text>}
        <Group gap="sm">
          {write && <SaveStatus save={save} hasConflict={conflict !== undefined} onRetry={draft.flush} />}
          {actions(draft)}
        </Group>
      </Group>
      <Box className="canvas">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the steps inside have the focus, this collects their keys */}
        <div
          className="canvas-graph"
          ref={graph}
          onKeyDown={(event) => onCanvasKey(event, { editor, draft, readOnly, openPanel, showKeys: keysDialog.open })}
          onFocus={({ target }) => {
            // By the keyboard; a click selects by itself.
            const id = target.matches('.react-flow__node:focus-visible') ? target.getAttribute('data-id') : null;
            if (id !== null && !editor.selected.has(id) && !editor.adding) editor.select([id]);
          }}
        >
          <GraphView
            label={t.canvas.graphOf(workflow.name)}
            steps={shown.graph.steps}
            transitions={shown.graph.transitions}
            start={triggerText(shown)}
            exitsOf={(step) => exitsOf(types, step as DraftStep)}
            typeLabel={(type) => typeLabelOf(types, type)}
            selected={editor.selected}
            onSelect={editor.selectFromCanvas}
            tones={tones}
            badges={badges}
            edgeLabels={shares}
            follow={editor.focused?.id}
            minimap
            {...(editing && { editing })}
          />
          <div className="canvas-status" role="status">
            {editor.connectingText}
          </div>
        </div>
        <section
          className="canvas-panel"
          aria-label={t.canvas.panel}
          ref={panel}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !event.defaultPrevented) editor.refocus();
          }}
        >
          <PanelContent {...{ workflow, draft, editor, types, faults, stats, readOnly }} />
        </section>
      </Box>
      <KeysDialog opened={keysOpened} onClose={keysDialog.close} />
    </Stack>
  );
}

interface PanelContentProps {
  workflow: WorkflowDetail;
  draft: DraftEditing;
  editor: Editor;
  types: StepTypes;
  faults: Faults;
  stats: WorkflowStats | undefined;
  readOnly: boolean;
}

function PanelContent({ workflow, draft, editor, types, faults, stats, readOnly }: PanelContentProps) {
  const { content, save } = draft;
  const { step } = editor;
  const index = step ? content.graph.steps.indexOf(step) : -1;
  const prefix = step ? `graph.steps.${index}.` : '';
  const violations = save.kind === 'refused' ? save.violations : [];
  const form: FormContext = {
    readOnly,
    errorAt: (path) => violations.find(({ field }) => field === `${prefix}${path}`)?.message,
  };
  if (editor.adding)
    return (
      <Stack gap="md">
        <Title order={2} size="h4">
          {t.canvas.addStep}
        </Title>
        <AddPanel types={types} onChoose={editor.add} onCancel={editor.cancelAdding} />
        <Button variant="default" onClick={editor.cancelAdding}>
          {t.common.cancel}
        </Button>
      </Stack>
    );
  if (step)
    return (
      <StepPanel
        key={step.id}
        workflowId={workflow.id}
        graph={content.graph}
        types={types}
        step={step}
        faults={faults.byStep.get(step.id) ?? []}
        stats={stats?.steps[step.id]}
        form={form}
        onChange={(change, name) => editor.changeStep(step.id, change, name)}
        onConnect={editor.connectExit}
        onAdd={editor.startAdding}
        onCopy={editor.copy}
        onDelete={editor.remove}
      />
    );
  if (editor.isStartSelected) return <TriggerPanel content={content} onChange={draft.change} form={form} />;
  if (editor.selected.size > 1)
    return (
      <Stack gap="md">
        <Title order={2} size="h4">
          {t.canvas.selectedCount(editor.selected.size)}
        </Title>
        {!readOnly && (
          <Group gap="xs">
            <Button variant="default" leftSection={<IconCopy size={16} />} onClick={editor.copy}>
              {t.canvas.copy}
            </Button>
            <Button variant="light" color="red" leftSection={<IconTrash size={16} />} onClick={editor.remove}>
              {t.canvas.deleteSteps}
            </Button>
          </Group>
        )}
      </Stack>
    );
  return (
    <OverviewPanel
      graph={content.graph}
      faults={draft.server.faults}
      stats={stats}
      onSelect={(id) => editor.select([id ?? START], true)}
    />
  );
}

function Toolbar({ editor, draft, onKeys }: { editor: Editor; draft: DraftEditing; onKeys(): void }) {
  const icon = (label: string, image: ReactNode, onClick: () => void, disabled = false) => (
    <ActionIcon variant="default" size={36} aria-label={label} title={label} onClick={onClick} disabled={disabled}>
      {image}
    </ActionIcon>
  );
  const hasSteps = [...editor.selected].some((id) => id !== START);
  return (
    <Group gap="xs" role="toolbar" aria-label={t.canvas.toolbar}>
      <Button leftSection={<IconPlus size={16} />} onClick={() => editor.startAdding()}>
        {t.canvas.addStep}
      </Button>
      {icon(t.canvas.undo, <IconArrowBackUp size={18} />, draft.undo, !draft.canUndo)}
      {icon(t.canvas.redo, <IconArrowForwardUp size={18} />, draft.redo, !draft.canRedo)}
      {icon(t.canvas.copySelected, <IconCopy size={18} />, editor.copy, !hasSteps)}
      {icon(t.canvas.paste, <IconClipboard size={18} />, () => editor.paste())}
      {icon(t.canvas.deleteSelected, <IconTrash size={18} />, editor.remove, !hasSteps)}
      {icon(t.canvas.keysTitle, <IconKeyboard size={18} />, onKeys)}
    </Group>
  );
}

/** The live workflow was changed by single steps since the draft began. */
function Rebase({ workflow, draft }: { workflow: WorkflowDetail; draft: DraftEditing }) {
  const { client } = useApi();
  const rebase = useAction({
    run: async () => {
      const { revision: expectedRevision } = await draft.flush();
      const path = { params: { path: { id: workflow.id } } };
      return unwrap(client.POST('/workflows/{id}/draft/rebase', { ...path, body: { expectedRevision } }));
    },
    done: () => t.canvas.rebased,
    onDone: draft.load,
  });
  return (
    <Alert color="yellow" title={t.canvas.rebaseTitle}>
      <Stack gap="sm" align="flex-start">
        {t.canvas.rebaseText}
        <Button size="xs" onClick={() => rebase.mutate()} loading={rebase.isPending}>
          {t.canvas.rebase}
        </Button>
      </Stack>
    </Alert>
  );
}

const typeLabelOf = (types: StepTypes, type: string): string => {
  const known = types.get(type);
  return known ? nameOf(known) : type;
};

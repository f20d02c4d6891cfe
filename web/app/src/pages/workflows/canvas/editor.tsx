import { ActionIcon, Alert, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconClipboard,
  IconCopy,
  IconKeyboard,
  IconMaximize,
  IconMinimize,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useAction, useApi, useRights } from '../../../api/hooks.ts';
import type { StepTypeInfo, WorkflowDetail, WorkflowDraft } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';
import { Placeholder } from '../../../ui/page.tsx';
import { triggerText } from '../trigger.ts';
import { AddPanel, nameOf } from './add-panel.tsx';
import {
  type Faults,
  useClipboard,
  useExistingSelection,
  useFaults,
  useFirstSelection,
  useFocus,
  usePhonePanel,
  useStableEditing,
} from './editor-hooks.ts';
import { Elsewhere } from './elsewhere.tsx';
import { START } from './graph.ts';
import { GraphView } from './graph-view.tsx';
import { onCanvasKey } from './keys.ts';
import { type DraftContent, type DraftStep, exitsOf, type StepTypes } from './model.ts';
import { useSummaries } from './names.ts';
import { sharesOf, useBadges, useProblems, useStats, type WorkflowStats } from './numbers.tsx';
import { OverviewPanel } from './overview-panel.tsx';
import { SaveStatus } from './save-status.tsx';
import type { FormContext } from './schema-form.tsx';
import type { StepProblem, StepTone } from './step-node.tsx';
import { StepPanel } from './step-panel.tsx';
import { type DraftEditing, useDraft } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';
import { type CanvasView, ViewSwitch } from './view-switch.tsx';

const Conflict = lazy(() => import('./conflict.tsx').then(({ Conflict }) => ({ default: Conflict })));
const KeysDialog = lazy(() => import('./keys-dialog.tsx').then(({ KeysDialog }) => ({ default: KeysDialog })));
const TriggerPanel = lazy(async () => ({ default: (await import('./trigger-panel.tsx')).TriggerPanel }));

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
  const [chosenView, setView] = useState<CanvasView>('draft');
  const [isFull, fullScreen] = useDisclosure();
  const { write } = useRights();
  const [isTheirsShown, showTheirs] = useState(false);
  const [keysOpened, keysDialog] = useDisclosure();
  const panel = useRef<HTMLElement>(null);
  const graph = useRef<HTMLDivElement>(null);
  const stats = useStats(workflow.id);
  const { conflict, content, save } = draft;
  const hasDraft = draft.server.changed || save.kind !== 'saved';
  const live = useMemo(() => liveOf(workflow), [workflow]);
  const isLive = chosenView === 'live' && hasDraft && live.graph.steps.length > 0;
  const isComparing = isTheirsShown && conflict !== undefined && !isLive;
  const readOnly = !write || isComparing || isLive;
  const shown = isLive ? live : isComparing ? conflict : content;
  const editor = useEditor(draft, types, shown.graph);
  const faults = useFaults(draft.server, save, content.graph.steps, isLive);
  const badges = useBadges(workflow.id, stats);
  const problems = useProblems(workflow.id);
  const summaries = useSummaries(shown.graph.steps);
  const shares = useMemo(() => sharesOf(shown.graph.transitions, stats), [shown.graph.transitions, stats]);
  const editing = useStableEditing(editor, readOnly);
  useFocus(editor.focused);
  useExistingSelection(editor, shown.graph.steps);
  useFirstSelection(editor, shown.graph.steps);
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
    <Stack gap="sm" className="canvas-area" data-full={isFull || undefined}>
      {conflict && (
        <Suspense>
          <Conflict
            theirs={conflict}
            isShown={isComparing}
            onShow={showTheirs}
            onResolve={(choice) => {
              showTheirs(false);
              draft.resolve(choice);
            }}
          />
        </Suspense>
      )}
      {!conflict && workflow.version > draft.server.baseVersion && draft.server.changed && write && (
        <Rebase workflow={workflow} draft={draft} />
      )}
      <ViewSwitch
        workflow={workflow}
        hasDraft={hasDraft}
        view={isLive ? 'live' : 'draft'}
        onChange={(view) => {
          editor.select([]);
          setView(view);
        }}
      />
      <Elsewhere
        workflowId={workflow.id}
        stats={stats}
        shown={shown.graph.steps}
        live={live.graph.steps}
        onShowLive={hasDraft && !isLive && live.graph.steps.length > 0 ? () => setView('live') : undefined}
      />
      <Group justify="space-between" gap="xs">
        {write ? (
          <Toolbar editor={editor} draft={draft} readOnly={readOnly} onKeys={keysDialog.open}>
            <ToolButton
              label={isFull ? t.canvas.leaveFullScreen : t.canvas.fullScreen}
              onClick={fullScreen.toggle}
              pressed={isFull}
            >
              {isFull ? <IconMinimize size={18} /> : <IconMaximize size={18} />}
            </ToolButton>
          </Toolbar>
        ) : (
          <Text>{t.canvas.readOnly}</Text>
        )}
        <Group gap="sm">
          {write && (
            <SaveStatus save={save} hasDraft={hasDraft} hasConflict={conflict !== undefined} onRetry={draft.flush} />
          )}
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
            // By the keyboard; a click selects anyway.
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
            summaries={summaries}
            problems={problems}
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
          <PanelContent
            workflow={workflow}
            draft={draft}
            shown={shown}
            editor={editor}
            types={types}
            faults={faults}
            stats={stats}
            problems={problems}
            readOnly={readOnly}
          />
        </section>
      </Box>
      {keysOpened && (
        <Suspense>
          <KeysDialog onClose={keysDialog.close} />
        </Suspense>
      )}
    </Stack>
  );
}

/** The newest version, as a draft has its content. */
const liveOf = ({ steps, transitions, triggerType, triggerConfig, allowReentry }: WorkflowDetail): DraftContent => ({
  graph: { steps, transitions } as DraftContent['graph'],
  triggerType,
  triggerConfig,
  allowReentry,
});

interface PanelContentProps {
  workflow: WorkflowDetail;
  draft: DraftEditing;
  /** What the canvas shows: the draft, or the newest version. */
  shown: DraftContent;
  editor: Editor;
  types: StepTypes;
  faults: Faults;
  stats: WorkflowStats | undefined;
  problems: ReadonlyMap<string, StepProblem>;
  readOnly: boolean;
}

function PanelContent(props: PanelContentProps) {
  const { workflow, draft, shown: content, editor, types, faults, stats, problems, readOnly } = props;
  const { save } = draft;
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
        problem={problems.get(step.id)}
        form={form}
        onChange={(change, name) => editor.changeStep(step.id, change, name)}
        onConnect={editor.connectExit}
        onAdd={editor.startAdding}
        onCopy={editor.copy}
        onDelete={editor.remove}
      />
    );
  if (editor.isStartSelected)
    return (
      <Suspense fallback={<Placeholder lines={4} />}>
        <TriggerPanel content={content} onChange={draft.change} form={form} />
      </Suspense>
    );
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
            <Button variant="subtle" color="red" leftSection={<IconTrash size={16} />} onClick={editor.remove}>
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

interface ToolButtonProps {
  label: string;
  onClick(): void;
  disabled?: boolean;
  pressed?: boolean;
  children: ReactNode;
}

const ToolButton = ({ label, onClick, disabled, pressed, children }: ToolButtonProps) => (
  <ActionIcon
    variant="default"
    size={36}
    aria-label={label}
    aria-pressed={pressed}
    title={label}
    onClick={onClick}
    disabled={disabled}
  >
    {children}
  </ActionIcon>
);

interface ToolbarProps {
  editor: Editor;
  draft: DraftEditing;
  readOnly: boolean;
  onKeys(): void;
  children: ReactNode;
}

function Toolbar({ editor, draft, readOnly, onKeys, children }: ToolbarProps) {
  const icon = (label: string, image: ReactNode, onClick: () => void, disabled = false) => (
    <ToolButton label={label} onClick={onClick} disabled={disabled}>
      {image}
    </ToolButton>
  );
  const hasSteps = [...editor.selected].some((id) => id !== START);
  return (
    <Group gap="xs" role="toolbar" aria-label={t.canvas.toolbar}>
      <Button leftSection={<IconPlus size={16} />} onClick={() => editor.startAdding()} disabled={readOnly}>
        {t.canvas.addStep}
      </Button>
      {icon(t.canvas.undo, <IconArrowBackUp size={18} />, draft.undo, readOnly || !draft.canUndo)}
      {icon(t.canvas.redo, <IconArrowForwardUp size={18} />, draft.redo, readOnly || !draft.canRedo)}
      {icon(t.canvas.copySelected, <IconCopy size={18} />, editor.copy, !hasSteps)}
      {icon(t.canvas.paste, <IconClipboard size={18} />, () => editor.paste(), readOnly)}
      {icon(t.canvas.deleteSelected, <IconTrash size={18} />, editor.remove, readOnly || !hasSteps)}
      {icon(t.canvas.keysTitle, <IconKeyboard size={18} />, onKeys)}
      {children}
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

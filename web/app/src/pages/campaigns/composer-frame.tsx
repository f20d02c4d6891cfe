import { Button, Group, Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { BackLink } from '../../ui/links.tsx';
import { Page } from '../../ui/page.tsx';
import { type Draft, type Faults, faultsOf, type StepName, stepNames } from './draft.ts';

/** The first step with something missing or wrong; -1 for none. */
export const firstFaultyStep = (draft: Draft): number =>
  stepNames.findIndex((step) => Object.keys(faultsOf(draft, step)).length > 0);

/** The step that a wanted one leads to: never past one that is not complete. */
export function reachableStep(draft: Draft, wanted: number): number {
  const faulty = firstFaultyStep(draft);
  return faulty >= 0 ? Math.min(wanted, faulty) : wanted;
}

interface ComposerFrameProps {
  title: string;
  draft: Draft;
  step: number;
  /** Goes to a step whose predecessors are complete. */
  onStep(step: number): Promise<void>;
  busy: boolean;
  description?: ReactNode;
  actions?: ReactNode;
  /** Above the step. */
  notices?: ReactNode;
  children(step: StepName, faults: Faults): ReactNode;
}

/** The steps of a campaign. What is wrong in a step is shown when it is to be left. */
export function ComposerFrame(props: ComposerFrameProps) {
  const { title, draft, step, onStep, busy, description, actions, notices, children } = props;
  const { projectId } = useApi();
  const narrow = useMediaQuery('(max-width: 47.99em)');
  const fields = useRef<HTMLDivElement>(null);
  const [touched, setTouched] = useState(false);
  const name = stepNames[step] ?? 'audience';
  const faults = faultsOf(draft, name);
  const go = (target: number) => {
    if (target > step && Object.keys(faults).length > 0) {
      flushSync(() => setTouched(true));
      const fault = fields.current?.querySelector<HTMLElement>('[aria-invalid=true], [data-fault]');
      fault?.scrollIntoView({ block: 'center' });
      fault?.focus({ preventScroll: true });
      return;
    }
    setTouched(false);
    window.scrollTo({ top: 0 });
    void onStep(target > step ? reachableStep(draft, target) : target).catch(() => {});
  };
  return (
    <Page
      title={title}
      back={
        <BackLink to="/p/$projectId/campaigns" params={{ projectId }}>
          {t.campaigns.title}
        </BackLink>
      }
      description={
        <Group gap="md">
          <span>{t.campaigns.stepLabel(step + 1, stepNames.length, t.campaigns.steps[name])}</span>
          {description}
        </Group>
      }
      actions={actions}
    >
      <Stepper
        active={step}
        onStepClick={go}
        size={narrow ? 'xs' : 'sm'}
        allowNextStepsSelect
        iconSize={narrow ? 28 : 34}
        className="steps"
      >
        {stepNames.map((stepName, index) => (
          <Stepper.Step
            key={stepName}
            {...(narrow
              ? { 'aria-label': `${index + 1} ${t.campaigns.steps[stepName]}` }
              : { label: t.campaigns.steps[stepName] })}
          />
        ))}
      </Stepper>
      {notices}
      <div ref={fields}>{children(name, touched ? faults : {})}</div>
      {name !== 'review' && (
        <Group justify={step > 0 ? 'space-between' : 'flex-end'}>
          {step > 0 && (
            <Button variant="default" leftSection={<IconArrowLeft size={16} />} onClick={() => go(step - 1)}>
              {t.common.back}
            </Button>
          )}
          <Button rightSection={<IconArrowRight size={16} />} onClick={() => go(step + 1)} loading={busy}>
            {t.common.next}
          </Button>
        </Group>
      )}
    </Page>
  );
}

import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { TextLink } from '../../ui/links.tsx';

/** Campaigns and steps of workflows have different fields. */
export interface UpcomingItem {
  type: string;
  scheduledFor: string;
  campaignId?: string;
  name?: string;
  workflowName?: string | null;
  contactEmail?: string | null;
  workflowId?: string;
  executionId?: string;
}

/** Leads to the campaign or the execution that is going to send. */
export function UpcomingLink({ item, children }: { item: UpcomingItem; children: ReactNode }) {
  const { projectId } = useApi();
  const { campaignId, workflowId: id = '', executionId = '' } = item;
  if (campaignId)
    return (
      <TextLink to="/p/$projectId/campaigns/$id" params={{ projectId, id: campaignId }} className="breakable">
        {children}
      </TextLink>
    );
  return (
    <TextLink
      to="/p/$projectId/workflows/$id/executions/$executionId"
      params={{ projectId, id, executionId }}
      className="breakable"
    >
      {children}
    </TextLink>
  );
}

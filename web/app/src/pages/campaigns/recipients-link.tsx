import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { TextLink } from '../../ui/links.tsx';
import type { CampaignSearch } from './search.ts';

interface RecipientsLinkProps {
  filter: Omit<CampaignSearch, 'tab'>;
  /** Shows the figure alone: it stands for no recipient, or for some that no filter selects. */
  disabled?: boolean;
  children: ReactNode;
}

/** Leads from a figure of a campaign to its recipients. */
export function RecipientsLink({ filter, disabled, children }: RecipientsLinkProps) {
  const { projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/campaigns/$id' });
  if (disabled) return children;
  return (
    <TextLink
      to="/p/$projectId/campaigns/$id"
      params={{ projectId, id }}
      search={{ tab: 'recipients', ...filter }}
      hash="recipients"
      inherit
    >
      {children}
    </TextLink>
  );
}

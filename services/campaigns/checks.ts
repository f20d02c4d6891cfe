import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Domain } from '../../db/models/domain.ts';
import { joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import type { OutboundHttp } from '../../platform/http/outbound-http.ts';
import type { Settings } from '../../platform/settings.ts';
import { usedVariables } from '../../platform/templates/index.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { findDomain } from '../domains/find.ts';
import { senderDomain } from '../domains/name.ts';
import { presentDomain } from '../domains/present.ts';
import { guarded } from '../segments/guard.ts';
import { emailWarnings } from '../templates/email-warnings.ts';
import { type EmailWarning, isBuiltIn } from '../templates/warnings.ts';
import { audienceOf } from './audience.ts';
import { type CheckedLink, checkLinks } from './check-links.ts';
import { findCampaign } from './find.ts';

/** What is known about a campaign before it is sent. */
export interface CampaignChecks {
  warnings: EmailWarning[];
  variables: CountedVariable[];
  domain: Pick<ReturnType<typeof presentDomain>, 'domain' | 'verified' | 'records'>;
  /** Undefined unless asked for. */
  links?: CheckedLink[];
}

/** A variable, and how many recipients have no value for it. */
export interface CountedVariable {
  name: string;
  empty: number;
  total: number;
  hasFallback: boolean;
}

export interface CampaignCheckDeps {
  db: Db;
  settings: Pick<Settings, 'baseUrl' | 'mailFrom'>;
  /** Calls links, with the address rules of webhooks. */
  call: OutboundHttp;
}

const MAX_VARIABLES = 100;

export async function runCampaignChecks(
  { db, settings, call }: CampaignCheckDeps,
  projectId: string,
  id: string,
  { links = false }: { links?: boolean | undefined },
): Promise<CampaignChecks> {
  const campaign = await findCampaign(db, projectId, id);
  const { body, document, type } = campaign;
  const { baseUrl } = settings;
  const [warnings, variables, domain, checkedLinks] = await Promise.all([
    emailWarnings(db, projectId, { body, document, type, rendered: body, values: {}, baseUrl }),
    countVariables(db, campaign),
    domainOf(db, campaign, settings),
    links ? checkLinks(call, { projectId, body, baseUrl }) : undefined,
  ]);
  return { warnings, variables, domain, ...(checkedLinks && { links: checkedLinks }) };
}

/** Counts the recipients without a value, in one pass over the audience. */
async function countVariables(db: Db, campaign: Campaign): Promise<CountedVariable[]> {
  const variables = writtenVariables(campaign).slice(0, MAX_VARIABLES);
  if (variables.length === 0) return [];
  const [counts] = await guarded(db, campaign.projectId, async (trx) => {
    const empty = variables.map(
      ({ path }) => sql`count(*) filter (where coalesce(c.data #>> ${path}::text[], '') = '')`,
    );
    return queryRows<{ total: number; empty: number[] }>(
      trx,
      sql`select count(*)::integer as total, array[${joined(empty, ', ')}]::integer[] as empty
        ${contactsWhere(await audienceOf(trx, campaign))}`,
    );
  });
  return variables.map(({ path, hasFallback }, index) => ({
    name: path.join('.'),
    empty: counts?.empty[index] ?? 0,
    total: counts?.total ?? 0,
    hasFallback,
  }));
}

/** Returns the custom fields that recipients see, each once. It has a fallback if it has one wherever it is written. */
function writtenVariables({ subject, body }: Campaign): { path: string[]; hasFallback: boolean }[] {
  const byName = new Map<string, { path: string[]; hasFallback: boolean }>();
  for (const { path, isWritten, hasFallback } of [...usedVariables(subject), ...usedVariables(body)]) {
    const [root = ''] = path;
    if (!isWritten || isBuiltIn(root)) continue;
    const name = path.join('.');
    byName.set(name, { path, hasFallback: hasFallback && (byName.get(name)?.hasFallback ?? true) });
  }
  return [...byName.values()];
}

async function domainOf(
  db: Db,
  { projectId, fromEmail }: Campaign,
  settings: Pick<Settings, 'mailFrom'>,
): Promise<CampaignChecks['domain']> {
  const name = senderDomain(fromEmail);
  const row = await Domain.query(db).findOne({ projectId, domain: name }).select('id');
  if (!row) return { domain: name, verified: false, records: [] };
  const { domain, verified, records } = presentDomain(await findDomain(db, projectId, row.id, settings));
  return { domain, verified, records };
}

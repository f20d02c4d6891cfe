import type { Knex } from 'knex';
import * as frame from './001-frame.ts';
import * as contacts from './002-contacts.ts';
import * as templates from './003-templates.ts';
import * as segments from './004-segments.ts';
import * as idempotency from './005-idempotency.ts';
import * as jobs from './006-jobs.ts';
import * as send from './007-send.ts';
import * as lifecycle from './008-lifecycle.ts';
import * as sources from './009-sources.ts';
import * as tracking from './010-tracking.ts';
import * as delivery from './011-delivery.ts';
import * as events from './012-events.ts';
import * as workflows from './013-workflows.ts';
import * as reconciler from './014-reconciler.ts';
import * as campaigns from './015-campaigns.ts';
import * as domains from './016-domains.ts';
import * as accounts from './017-accounts.ts';
import * as activity from './018-activity.ts';
import * as webhookSecrets from './019-webhook-secrets.ts';
import * as senders from './020-senders.ts';
import * as leanLedger from './021-lean-ledger.ts';
import * as oneStatementSteps from './022-one-statement-steps.ts';
import * as currentAddress from './024-current-address.ts';
import * as campaignWire from './025-campaign-wire.ts';
import * as notesInHandfuls from './026-notes-in-handfuls.ts';
import * as composingMarks from './027-composing-marks.ts';
import * as segmentReferences from './028-segment-references.ts';
import * as rateLimitByCaller from './029-rate-limit-by-caller.ts';
import * as limits from './030-limits.ts';
import * as accountLimits from './031-account-limits.ts';
import * as domainNames from './032-domain-names.ts';
import * as resetAndHeaders from './033-reset-and-headers.ts';

/** By name, in order. Listed and not looked up in the folder, so that source and compiled program agree on the names. */
export const migrations: Record<string, Knex.Migration> = {
  '001-frame': frame,
  '002-contacts': contacts,
  '003-templates': templates,
  '004-segments': segments,
  '005-idempotency': idempotency,
  '006-jobs': jobs,
  '007-send': send,
  '008-lifecycle': lifecycle,
  '009-sources': sources,
  '010-tracking': tracking,
  '011-delivery': delivery,
  '012-events': events,
  '013-workflows': workflows,
  '014-reconciler': reconciler,
  '015-campaigns': campaigns,
  '016-domains': domains,
  '017-accounts': accounts,
  '018-activity': activity,
  '019-webhook-secrets': webhookSecrets,
  '020-senders': senders,
  '021-lean-ledger': leanLedger,
  '022-one-statement-steps': oneStatementSteps,
  '024-current-address': currentAddress,
  '025-campaign-wire': campaignWire,
  '026-notes-in-handfuls': notesInHandfuls,
  '027-composing-marks': composingMarks,
  '028-segment-references': segmentReferences,
  '030-limits': limits,
  '031-account-limits': accountLimits,
  '032-domain-names': domainNames,
  '033-reset-and-headers': resetAndHeaders,
  '029-rate-limit-by-caller': rateLimitByCaller,
};

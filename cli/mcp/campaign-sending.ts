// Sending a campaign takes two calls: a preview of its audience, which makes a token, and the sending with that token.
import { createHash, randomBytes } from 'node:crypto';
import type { EverpostClient } from '../../client/src/client.ts';
import { EverpostError } from '../../client/src/errors.ts';
import { items } from '../../client/src/pages.ts';
import type { AnswerOf, BodyOf, OperationOf } from '../../client/src/types.ts';

const TOKEN_LIFETIME_MS = 10 * 60_000;
const MAX_TOKENS = 100;
const SAMPLE_SIZE = 5;
/** Contacts come and go; a larger change means that the preview no longer shows who gets the mail. */
const ALLOWED_CHANGE = 0.01;

type Campaign = AnswerOf<OperationOf<'/campaigns/{id}', 'get'>>;
/** When to send; now if it is empty. */
export type CampaignSchedule = BodyOf<OperationOf<'/campaigns/{id}/send', 'post'>>;
/** What happens to recipients whose clocks have shown the local time already. */
export const lateChoices = ['NOW', 'NEXT_DAY', 'SKIP'] as const;

type Segment = AnswerOf<OperationOf<'/segments/{id}', 'get'>>;

const DECISIVE = [
  'subject',
  'body',
  'from',
  'fromName',
  'replyTo',
  'type',
  'audienceType',
  'segmentId',
  'audienceCondition',
] as const;
const CHANGEABLE = [
  ...DECISIVE,
  'document',
  'name',
  'description',
  'templateId',
  'topicId',
  'ratePerMinute',
  'sendUntil',
] as const;

interface Preview {
  campaignId: string;
  name: string;
  subject: string;
  from: string;
  type: string;
  status: string;
  audience: { type: string; count: number; sample: string[]; sampleError?: string };
}

interface Confirmation {
  campaignId: string;
  content: string;
  count: number;
  expiresAt: number;
}

/** Holds the tokens of one process, so that they end with it. */
export class CampaignSending {
  readonly #everpost: EverpostClient;
  readonly #confirmations = new Map<string, Confirmation>();

  constructor(everpost: EverpostClient) {
    this.#everpost = everpost;
  }

  async preview(campaignId: string): Promise<Preview> {
    return this.#previewOf(await this.#everpost.get('/campaigns/{id}', { path: { id: campaignId } }));
  }

  /** Makes a token that sends what the preview shows, once. */
  async previewWithToken(campaignId: string): Promise<Preview & { confirmationToken: string; expiresAt: string }> {
    const campaign = await this.#everpost.get('/campaigns/{id}', { path: { id: campaignId } });
    const preview = await this.#previewOf(campaign);
    const confirmationToken = randomBytes(12).toString('base64url');
    const expiresAt = Date.now() + TOKEN_LIFETIME_MS;
    const { count } = preview.audience;
    this.#confirmations.set(confirmationToken, {
      campaignId,
      content: await this.#contentOf(campaign),
      count,
      expiresAt,
    });
    for (const token of [...this.#confirmations.keys()].slice(0, -MAX_TOKENS)) this.#confirmations.delete(token);
    return { ...preview, confirmationToken, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** Sends or schedules a campaign, if it and its audience are as the preview of the token showed them. */
  async send(campaignId: string, token: string, schedule: CampaignSchedule): Promise<unknown> {
    const confirmation = this.#confirmations.get(token);
    if (!confirmation || confirmation.campaignId !== campaignId)
      throw new Error('The token does not belong to this campaign, or was already used. Call preview_campaign first.');
    if (confirmation.expiresAt < Date.now())
      throw new Error('The token has expired. Call preview_campaign again and ask for confirmation.');
    const campaign = await this.#everpost.get('/campaigns/{id}', { path: { id: campaignId } });
    if ((await this.#contentOf(campaign)) !== confirmation.content)
      throw new Error('The campaign or its segment has changed since the preview. Call preview_campaign again.');
    const { totalRecipients } = campaign;
    if (Math.abs(totalRecipients - confirmation.count) > ALLOWED_CHANGE * confirmation.count)
      throw new Error(
        `The audience has changed from ${confirmation.count} to ${totalRecipients} contacts since the preview. Call preview_campaign again.`,
      );
    this.#confirmations.delete(token);
    return this.#everpost.post('/campaigns/{id}/send', {
      path: { id: campaignId },
      body: schedule,
    });
  }

  /**
   * Returns the whole campaign with these changes. Refuses those of a scheduled campaign that recipients would notice: it
   * is sent as it was confirmed.
   */
  async updated(campaignId: string, changes: Record<string, unknown>): Promise<Record<string, unknown>> {
    const before = await this.#everpost.get('/campaigns/{id}', { path: { id: campaignId } });
    // A new body replaces the document, and a new document the body.
    const replaced = changes.body == null ? {} : { document: null };
    const after = { ...before, ...replaced, ...changes } as Campaign;
    if (before.status === 'SCHEDULED' && (changes.document != null || textOf(before) !== textOf(after)))
      throw scheduled(before);
    return Object.fromEntries(CHANGEABLE.map((name) => [name, after[name]]));
  }

  /** Refuses the change of a segment that decides who gets a scheduled campaign. */
  async requireUnused(segmentId: string): Promise<void> {
    for await (const campaign of items(this.#everpost, '/campaigns', { query: { status: 'SCHEDULED' } }))
      if ((await this.#segmentsOf(campaign)).some(({ id }) => id === segmentId)) throw scheduled(campaign);
  }

  /** Returns the segments that decide about the audience, directly or through conditions. */
  async #segmentsOf({ audienceType, segmentId, audienceCondition }: Campaign): Promise<Segment[]> {
    if (audienceType === 'ALL') return [];
    const all = await this.#everpost.get('/segments');
    const used = new Set<Segment>();
    const add = (text: string) => {
      for (const segment of all)
        if (!used.has(segment) && text.toLowerCase().includes(segment.id)) {
          used.add(segment);
          add(JSON.stringify(segment.condition ?? null));
        }
    };
    add(JSON.stringify(audienceType === 'SEGMENT' ? segmentId : audienceCondition));
    return [...used];
  }

  /** Returns a checksum of what recipients get and who they are. */
  async #contentOf(campaign: Campaign): Promise<string> {
    const segments = (await this.#segmentsOf(campaign)).map(({ id, type, condition }) => [id, type, condition]);
    return createHash('sha256')
      .update(JSON.stringify([textOf(campaign), segments]))
      .digest('hex');
  }

  async #previewOf(campaign: Campaign): Promise<Preview> {
    const { id, name, subject, from, type, status, audienceType, totalRecipients } = campaign;
    const audience = { type: audienceType, count: totalRecipients, ...(await this.#sampleOf(campaign)) };
    return { campaignId: id, name, subject, from, type, status, audience };
  }

  /** A key without the scope for contacts or segments still sees the count. */
  async #sampleOf(campaign: Campaign): Promise<{ sample: string[]; sampleError?: string }> {
    try {
      return { sample: await this.#addressesOf(campaign) };
    } catch (error) {
      if (!(error instanceof EverpostError)) throw error;
      return { sample: [], sampleError: error.message };
    }
  }

  async #addressesOf({ type, audienceType, segmentId, audienceCondition }: Campaign): Promise<string[]> {
    const reaches = (contact: { subscribed: boolean }) => type === 'TRANSACTIONAL' || contact.subscribed;
    const addresses = (contacts: { email: string; subscribed: boolean }[]) =>
      contacts.filter(reaches).map(({ email }) => email);
    if (audienceType === 'SEGMENT' && segmentId) {
      const page = { path: { id: segmentId }, query: { pageSize: SAMPLE_SIZE } };
      return addresses((await this.#everpost.get('/segments/{id}/contacts', page)).data);
    }
    if (audienceType === 'FILTERED' && audienceCondition)
      return addresses(
        (await this.#everpost.post('/segments/preview', { body: { condition: audienceCondition } })).sample,
      ).slice(0, SAMPLE_SIZE);
    const query = { limit: SAMPLE_SIZE, ...(type !== 'TRANSACTIONAL' && { subscribed: true }) };
    return addresses((await this.#everpost.get('/contacts', { query })).data);
  }
}

/** Returns what recipients get, and who they are. */
const textOf = (campaign: Campaign): string => JSON.stringify(DECISIVE.map((name) => campaign[name]));

const scheduled = ({ id, name }: Campaign) =>
  new Error(
    `The campaign "${name}" (${id}) is scheduled and is sent as it was confirmed. Ask the user to change it in the dashboard, or cancel it and create another.`,
  );

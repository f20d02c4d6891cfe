// What a process remembers of accepted mail, so that the next mail of a template is accepted by one short statement: the
// template, and which shared bodies are stored.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { requireTemplate } from '../templates/find.ts';
import type { MailTemplate } from './send-content.ts';

/** A template as it was read. The statement that accepts a mail compares the version with the current one. */
export type VersionedTemplate = MailTemplate & { version: number; topicRequired: boolean };

interface KnownContent {
  templates: LRUCache<string, VersionedTemplate>;
  /** Ids of shared bodies. These are never removed while mail of their month can be accepted. */
  bodies: LRUCache<string, true>;
}

const TEMPLATE_CHARACTERS = 32 * 1024 * 1024;
const MAX_BODIES = 20_000;

// A transaction shares its pool's config object.
const pools = new WeakMap<object, KnownContent>();

function knownContent(db: Db): KnownContent {
  const pool: object = db.client.config;
  const known = pools.get(pool) ?? {
    templates: new LRUCache({ maxSize: TEMPLATE_CHARACTERS, sizeCalculation: ({ body }) => body.length + 1_000 }),
    bodies: new LRUCache({ max: MAX_BODIES }),
  };
  pools.set(pool, known);
  return known;
}

const findTemplate = statement<VersionedTemplate>(
  'send-template',
  `select id, type, subject, body, from_email, from_name, reply_to, topic_id, version,
     (select p.topic_required from projects p where p.id = $1) as topic_required
   from templates where project_id = $1 and id = $2`,
);

/** Reads a template and remembers it. */
export async function readTemplate(db: Db, projectId: string, id: string): Promise<VersionedTemplate> {
  const template = requireTemplate((await findTemplate(db, [projectId, id]))[0]);
  knownContent(db).templates.set(`${projectId} ${id}`, template);
  return template;
}

/** Returns a template that may be outdated by now. */
export const rememberedTemplate = (db: Db, projectId: string, id: string): VersionedTemplate | undefined =>
  knownContent(db).templates.get(`${projectId} ${id}`);

export const isBodyStored = (db: Db, bodyId: string): boolean => knownContent(db).bodies.has(bodyId);

/** Call it after the commit. */
export function rememberBody(db: Db, bodyId: string): void {
  knownContent(db).bodies.set(bodyId, true);
}

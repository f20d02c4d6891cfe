// The baseline of `accept`: Koa, koa-body and pg with the same inserts in one prepared statement each, and nothing else:
// no keys, no validation, no rate limit.
import { randomUUID } from 'node:crypto';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const projectId = process.env.PROJECT_ID;

const track = {
  name: 'track',
  text: `with contact as (
      insert into contacts (id, project_id, email, subscribed, data) values ($1, $2, $3, true, $4)
      on conflict (project_id, email) do update set data = contacts.data || excluded.data returning id
    )
    insert into events (id, project_id, contact_id, name, data) select $5, $2, contact.id, $6, $4 from contact
    returning contact_id, created_at`,
};

const send = {
  name: 'send',
  text: `with contact as (
      insert into contacts (id, project_id, email, subscribed) values ($1, $2, $3, false)
      on conflict (project_id, email) do update set subscribed = contacts.subscribed returning id
    ), content as (
      insert into email_contents (email_id, project_id, body_id, to_email, from_email, subject)
      values ($4, $2, $4, $3, $5, $6)
    ), body as (
      insert into email_bodies (id, project_id, html) values ($4, $2, $7)
    )
    insert into emails (id, project_id, contact_id) select $4, $2, contact.id from contact
    returning contact_id, created_at`,
};

const app = new Koa();
app.use(koaBody());
app.use(async (ctx) => {
  const { email, event, data, to, from, subject, body } = ctx.request.body as Record<string, string>;
  const id = randomUUID();
  const isTrack = ctx.path === '/v1/track';
  const values = isTrack
    ? [randomUUID(), projectId, email, data ?? {}, id, event]
    : [randomUUID(), projectId, to, id, from, subject, body];
  const { rows } = await pool.query({ ...(isTrack ? track : send), values });
  const [row] = rows;
  ctx.body = isTrack
    ? { success: true, data: { contact: row.contact_id, event: id, timestamp: row.created_at } }
    : {
        success: true,
        data: { emails: [{ contact: { id: row.contact_id, email: to }, email: id }], timestamp: row.created_at },
      };
});
app.listen(Number(process.env.PORT), '127.0.0.1');

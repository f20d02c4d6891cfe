// The baseline of `whole`: Koa and pg insert one row per mail, and nodemailer's pool builds and sends it. Nothing else: no
// keys, no validation, no contacts, no result, and what is in memory at a crash is lost.
import { randomUUID } from 'node:crypto';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { newsletter, plainNewsletter } from './newsletter.ts';

const database = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
await database.query(
  'create table if not exists mails (id uuid primary key, recipient text, data jsonb, created_at timestamptz default now())',
);

const insert = {
  name: 'insert',
  text: 'insert into mails (id, recipient, data) values ($1, $2, $3) returning created_at',
};

const { SMTP, DKIM_KEY } = process.env;
const mailer = createTransport({
  pool: true,
  url: SMTP,
  maxConnections: 10,
  maxMessages: Number.POSITIVE_INFINITY,
  ...(DKIM_KEY && { dkim: { domainName: 'bench.example', keySelector: 'ep1', privateKey: DKIM_KEY } }),
} as Parameters<typeof createTransport>[0]);

const app = new Koa();
app.use(koaBody());
app.use(async (ctx) => {
  if (ctx.path !== '/v1/send') return;
  const { to, data } = ctx.request.body as { to: string; data: { name: string } };
  const id = randomUUID();
  const { rows } = await database.query({ ...insert, values: [id, to, data] });
  mailer
    .sendMail({
      from: { name: 'Shop', address: 'shop@bench.example' },
      to,
      subject: 'News',
      messageId: `<${id}@bench.example>`,
      html: newsletter(data.name),
      text: plainNewsletter(data.name),
    })
    .catch((error: unknown) => console.error(error));
  ctx.body = {
    success: true,
    data: { emails: [{ contact: { email: to }, email: id }], timestamp: rows[0].created_at },
  };
});
app.listen(Number(process.env.PORT), '127.0.0.1');

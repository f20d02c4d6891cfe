import { Alert, Box, Code, Stack, Text } from '@mantine/core';
import { IconMail, IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { t } from '../../../texts/index.ts';
import { TextLink } from '../../../ui/links.tsx';
import { previewPath } from '../../../ui/mail-editor.tsx';
import { MailFrame } from '../../../ui/mail-frame.tsx';
import { Loaded } from '../../../ui/page.tsx';
import type { SimulatedMail, SimulatedRequest, Visit } from './recording.ts';

const FRAME_HEIGHT = 360;

/** Mails and requests that have gone out so far. The newest is open. */
export function SentPanel({ visits, index }: { visits: readonly Visit[]; index: number }) {
  const sent = visits.slice(0, index + 1).filter((visit) => visit.sent);
  const newest = sent.at(-1)?.visit;
  const [chosen, setChosen] = useState<number>();
  useEffect(() => setChosen(newest), [newest]);
  const open = sent.find(({ visit }) => visit === chosen) ?? sent.at(-1);
  if (!open) return null;
  return (
    <Box component="section" aria-label={t.playback.sent}>
      <Text component="h3" fw={600} size="sm" mb={6}>
        {t.playback.sent}
      </Text>
      {sent.length > 1 && (
        <ul className="sent-list">
          {sent.map((visit) => (
            <li key={visit.visit}>
              <button type="button" aria-pressed={visit === open} onClick={() => setChosen(visit.visit)}>
                {visit.sent?.kind === 'request' ? (
                  <IconWebhook size={14} aria-hidden />
                ) : (
                  <IconMail size={14} aria-hidden />
                )}
                <span className="breakable">{titleOf(visit)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <SentItem key={open.visit} visit={open} />
    </Box>
  );
}

const titleOf = ({ visit, name, sent }: Visit): string => {
  if (sent?.kind === 'mail') return `${visit}. ${sent.mail.subject}`;
  return `${visit}. ${sent?.kind === 'request' ? sent.request.url : name}`;
};

function SentItem({ visit: { sent } }: { visit: Visit }) {
  if (sent?.kind === 'mail') return <Mail mail={sent.mail} />;
  if (sent?.kind === 'request') return <Request request={sent.request} />;
  return sent ? <RecordedMail emailId={sent.emailId} /> : null;
}

function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value)
        .map(([label, value]) => (
          <Box key={label} display="contents">
            <dt>{label}</dt>
            <dd className="breakable">{value}</dd>
          </Box>
        ))}
    </dl>
  );
}

function Mail({ mail }: { mail: SimulatedMail }) {
  const { to, from, fromName, replyTo, subject, html, text } = mail;
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [t.playback.to, to],
          [t.playback.from, fromName ? `${fromName} <${from}>` : from],
          [t.playback.replyTo, replyTo],
        ]}
      />
      {html === null ? (
        <>
          <Text fw={600}>{subject}</Text>
          <Alert color="yellow">{t.playback.leftOut}</Alert>
        </>
      ) : (
        <RenderedMail html={html} text={text} subject={subject} />
      )}
    </Stack>
  );
}

/** Shows rendered HTML behind an address of the API: mail never becomes part of our own page. */
function RenderedMail({ html, text, subject }: { html: string; text: string | null; subject: string }) {
  const { client, key } = useApi();
  const preview = useQuery({
    queryKey: key('simulated mail', html),
    queryFn: () => unwrap(client.POST('/render', { body: { body: literal(html), type: 'TRANSACTIONAL' } })),
    staleTime: PREVIEW_MS,
    retry: false,
  });
  return (
    <Loaded query={preview}>
      {({ previewUrl }) => (
        <MailFrame previewUrl={previewPath(previewUrl)} text={text ?? ''} subject={subject} height={FRAME_HEIGHT} />
      )}
    </Loaded>
  );
}

/** The API keeps a preview for an hour. */
const PREVIEW_MS = 50 * 60_000;

/** Writes rendered text as a template that renders to it: its braces are no variables. */
const literal = (html: string): string => html.replace(/\{(?=[{%#])/g, '{{ "{" }}');

function RecordedMail({ emailId }: { emailId: string }) {
  const { client, key, projectId } = useApi();
  const content = useQuery({
    queryKey: key('email-content', emailId),
    queryFn: () => unwrap(client.GET('/emails/{id}/content', { params: { path: { id: emailId } } })),
    staleTime: PREVIEW_MS,
    retry: false,
  });
  return (
    <Stack gap="sm">
      <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id: emailId }} size="sm">
        {t.emails.mail}
      </TextLink>
      <Loaded query={content}>
        {({ previewUrl, text, subject, reproduced }) => (
          <>
            {reproduced && <Alert color="yellow">{t.emails.reproduced}</Alert>}
            <MailFrame
              previewUrl={previewPath(previewUrl)}
              text={text ?? undefined}
              subject={subject ?? ''}
              height={FRAME_HEIGHT}
            />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Request({ request: { method, url, headers, body } }: { request: SimulatedRequest }) {
  return (
    <Stack gap="sm">
      <Text fw={600} className="breakable">
        {method} {url}
      </Text>
      <Facts facts={Object.entries(headers).map(([name, value]) => [name, String(value)])} />
      {body === null ? (
        <Text size="sm" c="dimmed">
          {t.playback.noBody}
        </Text>
      ) : (
        <Code block className="breakable" style={{ whiteSpace: 'pre-wrap' }}>
          {body}
        </Code>
      )}
    </Stack>
  );
}

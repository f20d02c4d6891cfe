import type { Credentials } from './demo.ts';

/** The content of `stack.json`. A URL is null when that part runs elsewhere. */
export interface StackInfo extends Credentials {
  apiUrl: string;
  temporalAddress: string;
  temporalUiUrl: string | null;
  mailUrl: string | null;
  smtpUrl: string;
  databaseUrl: string;
  /** The web application. */
  appUrl: string;
  /** The documentation. */
  docsUrl: string;
}

export interface BannerOptions {
  /** The path of `stack.json`. */
  file: string;
  /** Works once, for ten minutes, so it is printed and not stored. */
  signInUrl?: string | undefined;
  areDocsBuilt: boolean;
}

export function banner(stack: StackInfo, { file, signInUrl, areDocsBuilt }: BannerOptions): string {
  const rows: [string, string | null][] = [
    ['Open', signInUrl ?? stack.appUrl],
    ['Dashboard', stack.appUrl],
    ['Docs', areDocsBuilt ? stack.docsUrl : `${stack.docsUrl} (being built; a line below says when it is ready)`],
    ['API docs', `${stack.docsUrl}/api`],
    ['API', stack.apiUrl],
    ['Mail page', stack.mailUrl],
    ['Temporal UI', stack.temporalUiUrl],
    ['Temporal', stack.temporalAddress],
    ['SMTP', stack.smtpUrl],
    ['Postgres', stack.databaseUrl],
    ['Project', stack.projectId],
    ['Public key', stack.publicKey],
    ['Secret key', stack.secretKey],
    ['Send from', `anything@${stack.senderDomain}`],
    ['Log in as', `${stack.user.email} / ${stack.user.password}`],
  ];
  const lines = rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(12)} ${value}`] : []));
  return [
    '',
    'Everpost is running.',
    '',
    ...lines,
    '',
    ...(signInUrl ? ['  "Open" signs you in to the dashboard, once, within 10 minutes.', ''] : []),
    '  Try it:',
    `  ${curl(stack)}`,
    '',
    `  All of this is in ${file}. Ctrl-C ends everything.`,
    '  Something does not work? npx everpost doctor, in a second terminal.',
    '',
  ].join('\n');
}

function curl({ apiUrl, secretKey, senderDomain }: StackInfo): string {
  const mail = { to: 'you@example.com', from: `hello@${senderDomain}`, subject: 'Hello', body: '<p>It works.</p>' };
  const headers = `-H 'Authorization: Bearer ${secretKey}' -H 'Content-Type: application/json'`;
  return `curl -sS -w '\\n' ${apiUrl}/v1/send ${headers} -d '${JSON.stringify(mail)}'`;
}

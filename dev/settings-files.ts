// `npm run settings`: writes what lists the settings from their declarations (`platform/setting-groups.ts`):
// `docs/settings.md`, `.env.example`, and the settings that `docker-compose.yml` passes on.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type joi from 'joi';
import { settingGroups } from '../platform/setting-groups.ts';
import { root } from './root.ts';

interface Setting {
  name: string;
  /** Empty when there is none, or it depends on something else. */
  fallback: string;
  text: string;
}

const groups = Object.entries(settingGroups).map(([title, settings]) => ({
  title,
  settings: Object.entries<joi.Schema>(settings).map(([name, schema]): Setting => {
    const { flags } = schema.describe() as { flags?: { default?: unknown; description?: string } };
    const { default: fallback, description: text = '' } = flags ?? {};
    return { name, text, fallback: fallback === undefined || Array.isArray(fallback) ? '' : String(fallback) };
  }),
}));

/** Set by the compose file itself, or meant for development and for ports inside containers. */
const NOT_PASSED_ON = [
  'NODE_ENV',
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'SMTP_URL',
  'SECRET_KEY',
  'BASE_URL',
  'TRUST_PROXY',
  'PORT',
  'HOST',
  'WORKER_PORT',
  'METRICS_PORT',
  'DATABASE_DIRECT_URL',
  ...Object.keys(settingGroups.Development),
];

const page = (): string =>
  [
    '# Settings',
    '',
    '<!-- Written by `npm run settings` from platform/setting-groups.ts. -->',
    '',
    'Settings are environment variables, read once at start; all errors are reported in one message. `npm start` needs none of them. It and `docker compose` also read them from a file `.env`; `.env.example` lists them all.',
    ...groups.flatMap(({ title, settings }) => [
      '',
      `## ${title}`,
      '',
      '| Name | Default | Meaning |',
      '|---|---|---|',
      ...settings.map(({ name, fallback, text }) => {
        const shown = name === 'SECRET_KEY' ? 'a development value' : fallback && `\`${fallback}\``;
        return `| \`${name}\` | ${shown ? `${shown} ` : ''}| ${text} |`;
      }),
    ]),
    '',
  ].join('\n');

const withoutMarkup = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

const example = (): string =>
  [
    '# Every setting of Everpost, with its default (empty: unset). Export what you change, or, for npm start and docker',
    '# compose, copy it to .env. `npm start` needs none of them. Written by `npm run settings`.',
    ...groups.flatMap(({ title, settings }) => [
      '',
      `## ${title}`,
      ...settings.flatMap(({ name, fallback, text }) => [`# ${withoutMarkup(text)}`, `${name}=${fallback}`]),
    ]),
    '',
  ].join('\n');

const BEGIN = '    # Written by `npm run settings`:\n';
const END = '    # End of what is written.\n';

function compose(present: string): string {
  const names = groups.flatMap(({ settings }) => settings.map(({ name }) => name));
  const lines = names.filter((name) => !NOT_PASSED_ON.includes(name)).map((name) => `    ${name}: \${${name}:-}\n`);
  const [before = '', rest = ''] = present.split(BEGIN);
  const after = rest.split(END)[1];
  if (after === undefined) throw new Error('docker-compose.yml has no marked list of settings.');
  return before + BEGIN + lines.join('') + END + after;
}

/** Returns the files with the content that they should have. */
export function settingsFiles(): Record<string, string> {
  return {
    'docs/settings.md': page(),
    '.env.example': example(),
    'docker-compose.yml': compose(readFileSync(join(root, 'docker-compose.yml'), 'utf8')),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [file, content] of Object.entries(settingsFiles())) writeFileSync(join(root, file), content);

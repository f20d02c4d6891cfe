import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { pageFiles, sections } from './pages.ts';
import { listedPages } from './reference.ts';

const source = fileURLToPath(new URL('..', import.meta.url));
/** Files for any web server, without an API beside them (`npm run docs:build`): where they will be, such as `/everpost/`. */
const staticBase = process.env.DOCS_STATIC_BASE;
const base = staticBase ?? '/docs/';
const isPage = (file: string): boolean => pageFiles.includes(file.replace(/\.md$/, '')) || file.startsWith('api/');
const otherFiles = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !isPage(file),
);

/** Such as ` ([why](decisions/live-streams.md))`, or several links in one pair of parentheses. */
const DECISIONS = / ?\((?:\[[^\]]*\]\([^)]*decisions\/[^)]*\)(?:, )?)+\)/g;

/** Turns links to pages for maintainers into text: the site does not have them. */
function withoutMaintainerLinks(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'decisions', (state) => {
    state.src = state.src.replace(DECISIONS, '');
  });
  md.core.ruler.push('maintainer-links', ({ tokens, env }) => {
    const folder = dirname((env as { relativePath: string }).relativePath);
    for (const { children } of tokens) {
      let removed = false;
      // The changelog stands beside the folder of the pages.
      for (const token of children ?? [])
        if ((env as { relativePath: string }).relativePath === 'changelog.md' && token.type === 'link_open')
          token.attrSet('href', (token.attrGet('href') ?? '').replace(/^docs\//, ''));
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : undefined;
        if (href) removed = !/^([a-z]+:|#|\/)/.test(href) && !isPage(normalize(join(folder, href.replace(/#.*/, ''))));
        if (removed && token.type.startsWith('link_')) {
          token.type = 'text';
          token.content = '';
        }
        if (token.type === 'link_close') removed = false;
      }
    }
  });
}

/** Shows `{{name}}` of mail templates as it is; Vue would take it for an expression of its own. */
function withoutExpressions(md: MarkdownRenderer): void {
  for (const rule of ['text', 'code_inline'] as const) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
  }
}

/** Puts diagrams into the page itself, so that they follow its colours and not those of the system. */
function withInlineDiagrams(md: MarkdownRenderer): void {
  const image = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const file = join(
      source,
      dirname((env as { relativePath: string }).relativePath),
      tokens[index]?.attrGet('src') ?? '',
    );
    if (!file.endsWith('.svg') || !existsSync(file)) return image?.(tokens, index, options, env, self) ?? '';
    const svg = readFileSync(file, 'utf8').replace(/<style>[\s\S]*?<\/style>/, '');
    const width = /<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1];
    return `<span class="diagram" style="--width:${width}px" tabindex="0" role="group" aria-label="Diagram" v-pre>${svg.trim()}</span>`;
  };
}

export default defineConfig({
  lang: 'en',
  title: 'Everpost',
  description: 'An open, multi-tenant e-mail platform: what the API has accepted happens once, whatever crashes.',
  base,
  // Not every server finds a page without its ending.
  cleanUrls: staticBase === undefined,
  srcExclude: otherFiles,
  head: [
    [
      'link',
      { rel: 'icon', type: 'image/svg+xml', href: staticBase === undefined ? '/app/icon.svg' : `${base}icon.svg` },
    ],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      withoutMaintainerLinks(md);
      withInlineDiagrams(md);
      withoutExpressions(md);
    },
  },
  themeConfig: {
    /** Whether the site is served by an API: it has a dashboard, and operations can be tried. */
    hasApi: staticBase === undefined,
    siteTitle: 'Everpost docs',
    search: {
      provider: 'local',
      // The index has no use for the colours of code, which take ten times as long as the rest of a page.
      options: { _render: (text, env, md) => md.set({ highlight: null }).render(text, env) },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/guides/' },
      { text: 'API reference', link: '/api', activeMatch: '^/api' },
      { text: 'Operations', link: '/operations', activeMatch: '^/operations' },
    ],
    sidebar: {
      '/api': [
        { text: 'All operations', link: '/api' },
        {
          text: 'Resources',
          items: listedPages().map(({ slug, title }) => ({ text: title, link: `/api/${slug}` })),
        },
      ],
      '/': [
        { text: 'All guides', link: '/guides/' },
        ...sections.map(({ text, pages }) => ({
          text,
          items: pages.map((page) => ({ text: page.text, link: `/${page.file}` })),
        })),
        { text: 'API reference', link: '/api' },
      ],
    },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});

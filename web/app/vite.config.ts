import react from '@vitejs/plugin-react';
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite';

/** The application is imported after its texts; browsers load both at once because the page names its files and styles. */
const preloadApplication: Plugin = {
  name: 'preload-application',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) => {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const application = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/src/app.tsx'));
      const files = application ? [application.fileName, ...application.imports] : [];
      const loaded = chunks.filter(({ fileName, isEntry }) => files.includes(fileName) && !isEntry);
      const styles = new Set(loaded.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]));
      const link = (attrs: HtmlTagDescriptor['attrs']): HtmlTagDescriptor => ({ tag: 'link', attrs, injectTo: 'head' });
      return [
        ...files.map((file) => link({ rel: 'modulepreload', crossorigin: true, href: `/app/${file}` })),
        ...[...styles].map((file) => link({ rel: 'stylesheet', crossorigin: true, href: `/app/${file}` })),
      ];
    },
  },
};

export default defineConfig({
  base: '/app/',
  plugins: [react(), preloadApplication],
  build: {
    target: 'es2022',
    // Browsers with light-dark(). For older ones Vite writes variables in its place that Mantine's colour scheme never sets.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The entry lists the files of all pages. Their names would be more than a kilobyte of every first visit.
    rollupOptions: { output: { chunkFileNames: 'assets/[hash].js' } },
  },
});

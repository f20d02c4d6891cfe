import { defineConfig } from 'vite';

// Builds `track.min.js` for a script element. It defines `everpost.createTracker`.
export default defineConfig({
  logLevel: 'warn',
  build: {
    lib: {
      entry: `${import.meta.dirname}/src/browser.ts`,
      name: 'everpost',
      formats: ['iife'],
      fileName: () => 'track.min.js',
    },
    emptyOutDir: false,
    minify: true,
    target: 'es2020',
  },
});

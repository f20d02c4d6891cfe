// The default theme with the fonts of the system: nothing to download, and the same look as the dashboard.
import { type EnhanceAppContext, inBrowser, onContentUpdated } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { rememberLanguage, showRememberedLanguage } from './code-groups.ts';
import { restoreCredentials } from './credentials.ts';
import OperationList from './OperationList.vue';
import TryOperation from './TryOperation.vue';
import './style.css';
import './reference.css';

export default {
  ...theme,
  // Outside the base of the site, so that the menu of the theme cannot link to it.
  Layout: () =>
    h(theme.Layout, null, {
      'nav-bar-content-after': () => h('a', { class: 'dashboard', href: '/app/', target: '_self' }, 'Dashboard'),
    }),
  enhanceApp({ app }: EnhanceAppContext): void {
    app.component('OperationList', OperationList);
    app.component('TryOperation', TryOperation);
    if (!inBrowser) return;
    restoreCredentials();
    rememberLanguage();
  },
  setup(): void {
    onContentUpdated(showRememberedLanguage);
  },
};

// The default theme with the fonts of the system: nothing to download, and the same look as the dashboard.
import { type EnhanceAppContext, inBrowser, onContentUpdated, useData } from 'vitepress';
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
      'nav-bar-content-after': () =>
        useData().theme.value.hasApi && h('a', { class: 'dashboard', href: '/app/', target: '_self' }, 'Dashboard'),
    }),
  enhanceApp({ app, siteData }: EnhanceAppContext): void {
    app.component('OperationList', OperationList);
    app.component('TryOperation', siteData.value.themeConfig.hasApi ? TryOperation : { render: () => null });
    if (!inBrowser) return;
    restoreCredentials();
    rememberLanguage();
  },
  setup(): void {
    onContentUpdated(showRememberedLanguage);
  },
};

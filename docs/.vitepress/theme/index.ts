// The default theme with the fonts of the system: nothing to download, and the same look as the dashboard.
import theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

export default {
  ...theme,
  // Outside the base of the site, so that the menu of the theme cannot link to it.
  Layout: () =>
    h(theme.Layout, null, {
      'nav-bar-content-after': () => h('a', { class: 'dashboard', href: '/app/', target: '_self' }, 'Dashboard'),
    }),
};

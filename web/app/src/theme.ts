import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { t } from './texts/index.ts';

const iris: MantineColorsTuple = [
  '#eef0ff',
  '#dfe3ff',
  '#bec5fb',
  '#9aa3f5',
  '#7a84ee',
  '#656fe6',
  '#5159dc',
  '#4338ca',
  '#372fa6',
  '#2b2585',
];

/** Mantine's own is a warm grey; ours fits the surfaces. */
const dark: MantineColorsTuple = [
  '#d8dce5',
  '#b9bfcc',
  '#a6adbb',
  '#7f8798',
  '#454c5c',
  '#353b49',
  '#262b36',
  '#1b1e26',
  '#14161c',
  '#0f1116',
];

/** A closed list is not in the page: it would have the same label as its field. */
const lists = { defaultProps: { comboboxProps: { keepMounted: false } } };
const controls = { defaultProps: { radius: 'md' } };

export const theme = createTheme({
  primaryColor: 'iris',
  colors: { iris, dark },
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.34,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily:
    '"Inter Variable", Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.3' } } },
  respectReducedMotion: true,
  components: {
    Button: controls,
    Select: lists,
    Autocomplete: lists,
    TagsInput: lists,
    Paper: { defaultProps: { radius: 'lg' } },
    Modal: { defaultProps: { radius: 'lg', centered: true, closeButtonProps: { 'aria-label': t.common.close } } },
    Badge: { defaultProps: { variant: 'dot', radius: 'sm', tt: 'none', fw: 500, size: 'lg' } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
  },
});

/** Some of Mantine's colours have less contrast than WCAG AA asks for. */
export const cssVariables: CSSVariablesResolver = (base) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b6472',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': base.colors.red[9],
    '--mantine-color-teal-light-color': '#05583f',
    '--mantine-color-green-light-color': '#1b5e28',
    '--mantine-color-yellow-light-color': '#6b3f00',
    '--mantine-color-orange-light-color': '#8a2f06',
    '--mantine-color-red-light-color': '#a01c1c',
    '--mantine-color-anchor': base.colors.iris?.[7] ?? '#4338ca',
    '--app-background': '#f6f7fb',
    '--app-surface': '#ffffff',
    '--app-border': '#e3e6ee',
    '--plot-1': '#4f46c8',
    '--plot-2': '#0b7285',
    '--plot-3': '#c2410c',
  },
  dark: {
    '--mantine-color-dimmed': '#a6adbb',
    '--mantine-color-placeholder': '#949cab',
    '--mantine-color-error': base.colors.red[4],
    '--mantine-color-red-light-color': base.colors.red[4],
    '--mantine-color-iris-light-color': base.colors.iris?.[3] ?? '#9aa3f5',
    '--mantine-color-anchor': base.colors.iris?.[3] ?? '#9aa3f5',
    '--app-background': '#14161c',
    '--app-surface': '#1b1e26',
    '--app-border': '#2d323e',
    '--plot-1': '#8f97f5',
    '--plot-2': '#3bc9db',
    '--plot-3': '#ff922b',
  },
});

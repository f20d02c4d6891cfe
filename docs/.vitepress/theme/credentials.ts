// The key and the project with which the API reference calls the API. They stay in the tab.
import { reactive, watch } from 'vue';

const NAMES = ['key', 'project'] as const;
const storageName = (name: string): string => `everpost-reference-${name}`;

export const credentials = reactive({ key: '', project: '' });

/** Reads what the tab holds, and the project with which the dashboard links here. */
export function restoreCredentials(): void {
  for (const name of NAMES) credentials[name] = sessionStorage.getItem(storageName(name)) ?? '';
  credentials.project = new URLSearchParams(location.search).get('project') ?? credentials.project;
  watch(
    credentials,
    () => {
      for (const name of NAMES) sessionStorage.setItem(storageName(name), credentials[name]);
    },
    { immediate: true },
  );
}

import { useQuery } from '@tanstack/react-query';
import { DARK_PAGE, LIGHT_PAGE, type PageColors, pageColorsOf } from '../../../../../platform/page-colors.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useProject } from '../../api/hooks.ts';

export interface PageLook {
  name: string;
  logoUrl: string | null;
  light: PageColors;
  dark: PageColors;
  css: string;
  imprint: string | null;
}

/** The settings of the hosted pages. */
export function usePageSettings() {
  const { client, key, projectId } = useApi();
  return useQuery({
    queryKey: key('pages'),
    queryFn: () => unwrap(client.GET('/projects/{id}/pages', { params: { path: { id: projectId } } })),
  });
}

/** The look of the hosted pages, as `services/pages/look.ts` has it; undefined until it is loaded. */
export function usePageLook(): PageLook | undefined {
  const { client, key } = useApi();
  const project = useProject();
  const { data: pages } = usePageSettings();
  const { data: kit } = useQuery({ queryKey: key('brand-kit'), queryFn: () => unwrap(client.GET('/brand-kit')) });
  if (!project || !pages || !kit) return undefined;
  const { color } = pages;
  return {
    name: pages.senderName ?? project.name,
    logoUrl: pages.logoUrl ?? kit.logoUrl,
    light: color ? pageColorsOf(color, LIGHT_PAGE) : kit.colors,
    dark: color ? pageColorsOf(color, DARK_PAGE) : kit.darkColors,
    css: pages.css ?? '',
    imprint: pages.imprint,
  };
}

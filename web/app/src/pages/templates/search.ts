import type { Template } from '../../api/types.ts';
import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export interface TemplatesSearch {
  search?: string | undefined;
  type?: Template['type'] | undefined;
}

/** The workflow step that the page was opened from. */
interface TemplateSearch {
  workflow?: string | undefined;
  step?: string | undefined;
}

export const templateSearch = (raw: RawSearch): TemplateSearch =>
  compact({ workflow: textOf(raw.workflow), step: textOf(raw.step) });

export const templatesSearch = (raw: RawSearch): TemplatesSearch =>
  compact({ search: textOf(raw.search), type: oneOf(raw.type, 'TRANSACTIONAL', 'MARKETING', 'HEADLESS') });

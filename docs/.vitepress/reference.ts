// The pages of the API reference, without their content. `dev/docs-site.ts` writes them and names the OpenAPI document.
import { readDocument, referencePages } from '../../dev/reference/pages.ts';

export interface ListedPage {
  slug: string;
  title: string;
  description: string;
  operations: { id: string; method: string; path: string; summary: string }[];
}

export const listedPages = (): ListedPage[] =>
  referencePages(readDocument(process.env.OPENAPI_FILE ?? '')).map(({ slug, title, description, operations }) => ({
    slug,
    title,
    description,
    operations: operations.map(({ id, method, path, summary }) => ({ id, method, path, summary })),
  }));

import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type BrandKit, defaultBrandKit } from '../../platform/mail-document/index.ts';
import { DARK_PAGE, LIGHT_PAGE, type PageColors, pageColorsOf } from '../../platform/page-colors.ts';

/** The look of the pages that recipients see. Colors are #rrggbb. */
export interface PageLook {
  name: string;
  logoUrl: string | null;
  colors: PageColors;
  darkColors: PageColors;
  /** Empty where there is none. */
  css: string;
  imprint: string;
  privacyUrl: string | null;
  /** Where images of the project are. */
  imagesUrl: string;
}

interface LookRow {
  name: string;
  logoKey: string | null;
  color: string | null;
  css: string | null;
  imprint: string | null;
  privacyUrl: string | null;
  kit: BrandKit | null;
}

const read = statement<LookRow>(
  'pages-look',
  `select coalesce(g.sender_name, p.name) as name, g.logo_key, g.color, g.css, g.imprint, g.privacy_url, b.kit
   from projects p left join project_pages g on g.project_id = p.id left join brand_kits b on b.project_id = p.id
   where p.id = $1`,
);

/** Returns what the settings of the pages say, else the brand kit, else the service's own look. */
export async function findPageLook(
  db: Db,
  projectId: string,
  { baseUrl }: { baseUrl: string },
): Promise<PageLook | undefined> {
  const [row] = await read(db, [projectId]);
  if (!row) return undefined;
  const { name, logoKey, color, kit } = row;
  const imagesUrl = `${baseUrl}/uploads/`;
  const brand = { ...defaultBrandKit, ...kit };
  return {
    name,
    logoUrl: logoKey ? `${imagesUrl}${logoKey}` : brand.logoUrl,
    colors: color ? pageColorsOf(color, LIGHT_PAGE) : brand.colors,
    darkColors: color ? pageColorsOf(color, DARK_PAGE) : brand.darkColors,
    css: row.css ?? '',
    imprint: row.imprint ?? '',
    privacyUrl: row.privacyUrl,
    imagesUrl,
  };
}

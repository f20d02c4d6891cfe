import { useQueryClient } from '@tanstack/react-query';
import type { UploadedImage } from '../api/api-types.ts';
import { useApi } from '../api/hooks.ts';
import { upload } from '../api/upload.ts';

/** What the uploads API accepts. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export const imagesIn = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => IMAGE_TYPES.includes(type));

/** Returns a function that uploads an image and resolves to its URL. The library shows it from then on. */
export function useUploadImage(): (file: File) => Promise<string> {
  const { projectId, key } = useApi();
  const queries = useQueryClient();
  return async (file) => {
    const form = new FormData();
    form.append('image', file);
    const { url } = await upload<UploadedImage>(projectId, '/uploads/image', form, () => {});
    const library = { queryKey: key('uploads') };
    // A list that is still on its way does not contain the image.
    void queries.cancelQueries(library).then(() => queries.invalidateQueries(library));
    return url;
  };
}

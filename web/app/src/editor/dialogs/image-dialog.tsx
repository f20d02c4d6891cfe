import { Alert, Button, Checkbox, FileButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { imageAddress } from '../inspector/fields.tsx';
import { IMAGE_TYPES, useUploadImage } from '../upload.ts';
import './image-dialog.css';

export interface ImageValue {
  src: string;
  alt: string;
  decorative: boolean;
}

interface ImageDialogProps {
  opened: boolean;
  onClose(): void;
  value: ImageValue | undefined;
  /** Images that this email shows already. */
  used: string[];
  onSave(value: ImageValue): void;
}

/** Chooses an image: uploaded now, used already, or anywhere on the web. Asks what it shows. */
export function ImageDialog({ opened, onClose, value, used, onSave }: ImageDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={value?.src ? t.editor.blocks.image : t.editor.insertImage}>
      <ImageForm key={`${opened} ${value?.src}`} value={value} used={used} onSave={onSave} onClose={onClose} />
    </Dialog>
  );
}

function ImageForm({ value, used, onSave, onClose }: Omit<ImageDialogProps, 'opened'>) {
  const uploadImage = useUploadImage();
  const [src, setSrc] = useState(value?.src ?? '');
  const [alt, setAlt] = useState(value?.alt ?? '');
  const [decorative, setDecorative] = useState(value?.decorative ?? false);
  const [uploading, setUploading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const address = imageAddress(src);
  const load = async (file: File | null) => {
    if (!file) return;
    setUploading(true);
    setProblem(undefined);
    try {
      setSrc(await uploadImage(file));
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setUploading(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (address) onSave({ src: address, alt: alt.trim(), decorative });
      }}
    >
      <Stack>
        {problem && <Alert color="red">{problem}</Alert>}
        <Group align="flex-end" gap="xs">
          <FileButton accept={IMAGE_TYPES.join()} onChange={(file) => void load(file)}>
            {(props) => (
              <Button {...props} loading={uploading} leftSection={<IconUpload size={16} />} data-autofocus>
                {t.editor.upload}
              </Button>
            )}
          </FileButton>
          <Text size="xs" c="dimmed">
            {t.editor.uploadHint}
          </Text>
        </Group>
        <Images title={t.editor.usedImages} urls={used} chosen={src} onChoose={setSrc} />
        <Library chosen={src} onChoose={setSrc} />
        <TextInput
          label={t.editor.imageAddress}
          placeholder="https://"
          inputMode="url"
          autoComplete="off"
          value={src}
          onChange={(event) => setSrc(event.currentTarget.value)}
          error={src !== '' && !address ? t.editor.imageInvalid : undefined}
        />
        {address && !address.includes('{') && (
          <img src={address} alt="" className="chosen-image" referrerPolicy="no-referrer" />
        )}
        <TextInput
          label={t.editor.alt}
          description={t.editor.altHint}
          maxLength={1000}
          value={alt}
          disabled={decorative}
          onChange={(event) => setAlt(event.currentTarget.value)}
        />
        <Checkbox
          label={t.editor.decorative}
          checked={decorative}
          onChange={(event) => setDecorative(event.currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" disabled={!address || uploading}>
            {value?.src ? t.editor.apply : t.editor.insert}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ImagesProps {
  title: string;
  urls: string[];
  chosen: string;
  onChoose(url: string): void;
  children?: ReactNode;
}

function Images({ title, urls, chosen, onChoose, children }: ImagesProps) {
  if (urls.length === 0) return null;
  return (
    <Stack gap={6} role="group" aria-label={title}>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <div className="library">
        {urls.map((url, index) => (
          <button
            key={url}
            type="button"
            className="library-image"
            aria-pressed={url === chosen}
            aria-label={t.editor.useImage(index + 1)}
            onClick={() => onChoose(url)}
          >
            <img src={url} alt="" loading="lazy" referrerPolicy="no-referrer" />
          </button>
        ))}
        {children}
      </div>
    </Stack>
  );
}

/** The images that were uploaded for this project. */
function Library({ chosen, onChoose }: Pick<ImagesProps, 'chosen' | 'onChoose'>) {
  const { client, key } = useApi();
  const list = useCursorList(key('uploads'), (cursor) =>
    unwrap(client.GET('/uploads', { params: { query: { cursor, limit: 24 } } })),
  );
  const urls = list.data?.pages.flatMap(({ data }) => data.map(({ url }) => url)) ?? [];
  return (
    <Images title={t.editor.library} urls={urls} chosen={chosen} onChoose={onChoose}>
      {list.hasNextPage && (
        <Button variant="default" size="xs" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
          {t.common.loadMore}
        </Button>
      )}
    </Images>
  );
}

import { Alert, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconTrash, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { messageOf } from '../../api/problem.ts';
import { AddressField } from '../../editor/inspector/fields.tsx';
import { IMAGE_TYPES, useUploadImage } from '../../editor/upload.ts';
import { t } from '../../texts/index.ts';
import { webAddress } from './kit.ts';

/** The logo: uploaded, or anywhere on the web. */
export function LogoField({ value, onChange }: { value: string; onChange(url: string): void }) {
  const uploadImage = useUploadImage();
  const [uploading, setUploading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const load = async (file: File | null) => {
    if (!file) return;
    setUploading(true);
    setProblem(undefined);
    try {
      onChange(await uploadImage(file));
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setUploading(false);
    }
  };
  return (
    <Stack maw={520}>
      {value && <img src={value} alt={t.brand.logo} className="brand-logo" referrerPolicy="no-referrer" />}
      {problem && <Alert color="red">{problem}</Alert>}
      <Group gap="xs">
        <FileButton accept={IMAGE_TYPES.join()} onChange={(file) => void load(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={uploading} leftSection={<IconUpload size={16} />}>
              {t.editor.upload}
            </Button>
          )}
        </FileButton>
        {value && (
          <Button variant="subtle" color="gray" leftSection={<IconTrash size={16} />} onClick={() => onChange('')}>
            {t.brand.removeLogo}
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {t.editor.uploadHint}
      </Text>
      <AddressField
        label={t.editor.imageAddress}
        value={value}
        onChange={onChange}
        read={webAddress}
        error={t.editor.imageInvalid}
      />
    </Stack>
  );
}

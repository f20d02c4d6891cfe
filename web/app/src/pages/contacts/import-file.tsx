import './import-file.css';
import { Alert, Box, Button, FileButton, Stack, Text } from '@mantine/core';
import { IconFileSpreadsheet, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { type CsvHead, readHead } from './csv.ts';

const MEGABYTE = 1024 * 1024;

export const megabytes = (bytes: number): string =>
  bytes < MEGABYTE ? `${number(Math.ceil(bytes / 1024))} kB` : `${number(Math.round(bytes / MEGABYTE))} MB`;

/** Takes a file by drop or choice, and reads the names of its columns. */
export function FileStep({ onChosen }: { onChosen(file: File, head: CsvHead): void }) {
  const config = useQuery({
    queryKey: ['config'],
    queryFn: () => unwrap(accountApi.GET('/config')),
    staleTime: 600_000,
  });
  const limitOf = (data: typeof config.data) => data?.limits.importBytes ?? 100 * MEGABYTE;
  const [over, setOver] = useState(false);
  const [fault, setFault] = useState<string>();
  const choose = async (file: File | null | undefined) => {
    if (!file) return;
    // The file may be chosen before the limit is known.
    const limit = limitOf(config.data ?? (await config.refetch()).data);
    if (file.size > limit) return setFault(t.imports.tooLarge(megabytes(limit)));
    const head = await readHead(file);
    if (!head) return setFault(t.imports.notCsv);
    setFault(undefined);
    onChosen(file, head);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void choose(event.dataTransfer.files[0]);
  };
  return (
    <Stack>
      {fault && <Alert color="red">{fault}</Alert>}
      <Box
        className="drop-zone"
        data-over={over || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <IconFileSpreadsheet size={44} stroke={1.4} aria-hidden />
        <Text fw={600} size="lg">
          {t.imports.drop}
        </Text>
        <Text c="dimmed" size="sm">
          {t.imports.dropHint(megabytes(limitOf(config.data)))}
        </Text>
        <FileButton onChange={(file) => void choose(file)} accept=".csv,text/csv,text/plain">
          {(props) => (
            <Button {...props} mt="sm" leftSection={<IconUpload size={16} />}>
              {t.imports.choose}
            </Button>
          )}
        </FileButton>
      </Box>
    </Stack>
  );
}

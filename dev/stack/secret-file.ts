import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner can read, atomically. */
export function writeSecretFile(file: string, content: object): void {
  const tempFile = `${file}.new`;
  const fd = openSync(tempFile, 'w', 0o600);
  writeFileSync(fd, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(tempFile, file);
}

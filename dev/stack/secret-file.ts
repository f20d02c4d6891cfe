import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Readable by its owner alone, and at no moment half written. */
export function writeSecretFile(file: string, content: object): void {
  const beside = `${file}.new`;
  const fd = openSync(beside, 'w', 0o600);
  writeFileSync(fd, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(beside, file);
}

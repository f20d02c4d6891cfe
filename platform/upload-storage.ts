import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { S3Storage } from './s3-storage.ts';
import type { Settings } from './settings.ts';

/** Where the bytes of uploads are. Keys are ours: letters, digits and one dot. */
export interface UploadStorage {
  save(key: string, bytes: Buffer, contentType: string): Promise<void>;
  /** Undefined: it is not there. */
  read(key: string): Promise<Buffer | undefined>;
  remove(key: string): Promise<void>;
}

export const createUploadStorage = (uploads: Settings['uploads']): UploadStorage =>
  's3' in uploads ? new S3Storage(uploads.s3) : new FolderStorage(uploads.folder);

const KEY = /^[A-Za-z0-9]+\.[a-z]+$/;

class FolderStorage implements UploadStorage {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Under another name until it is whole: whoever reads it finds all of it or nothing. */
  async save(key: string, bytes: Buffer): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const unfinished = join(this.folder, `.${randomUUID()}`);
    try {
      await writeFile(unfinished, bytes, { flag: 'wx' });
      await rename(unfinished, this.path(key));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  async read(key: string): Promise<Buffer | undefined> {
    try {
      return await readFile(this.path(key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  /** Nothing that is no key of ours ever names a file. */
  private path(key: string): string {
    if (!KEY.test(key)) throw new Error('this is no key of an upload');
    return join(this.folder, key);
  }
}

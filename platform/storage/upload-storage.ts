import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Settings, Settings } from '../settings.ts';

/** Stores uploaded files. Keys consist of letters, digits and one dot. */
export interface UploadStorage {
  save(key: string, bytes: Buffer, contentType: string): Promise<void>;
  /** Returns undefined for an unknown key. */
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

  /** Writes to a temporary file first, so that readers never see a partial file. */
  async save(key: string, bytes: Buffer): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const temporary = join(this.folder, `.${randomUUID()}`);
    try {
      await writeFile(temporary, bytes, { flag: 'wx' });
      await rename(temporary, this.path(key));
    } catch (error) {
      await rm(temporary, { force: true });
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

  /** Refuses keys of any other form, which could name files outside of the folder. */
  private path(key: string): string {
    if (!KEY.test(key)) throw new Error('not a key of an upload');
    return join(this.folder, key);
  }
}

/** Stores uploads in an S3-compatible bucket. Loads the large client library only when there is a bucket. */
class S3Storage implements UploadStorage {
  private readonly settings: S3Settings;
  private connected: Promise<{ s3: S3Client; lib: typeof import('@aws-sdk/client-s3') }> | undefined;

  constructor(settings: S3Settings) {
    this.settings = settings;
  }

  async save(key: string, bytes: Buffer, contentType: string): Promise<void> {
    const { s3, lib } = await this.connection();
    const object = { ...this.location(key), Body: bytes, ContentType: contentType };
    await s3.send(new lib.PutObjectCommand(object));
  }

  async read(key: string): Promise<Buffer | undefined> {
    const { s3, lib } = await this.connection();
    try {
      const { Body } = await s3.send(new lib.GetObjectCommand(this.location(key)));
      return Body && Buffer.from(await Body.transformToByteArray());
    } catch (error) {
      if (error instanceof lib.NoSuchKey || (error as { name?: string }).name === 'NotFound') return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    const { s3, lib } = await this.connection();
    await s3.send(new lib.DeleteObjectCommand(this.location(key)));
  }

  private location(key: string) {
    return { Bucket: this.settings.bucket, Key: key };
  }

  private connection() {
    this.connected ??= this.connect();
    return this.connected;
  }

  private async connect() {
    const lib = await import('@aws-sdk/client-s3');
    const { region, endpoint, credentials } = this.settings;
    const s3 = new lib.S3Client({
      region,
      maxAttempts: 3,
      // Other providers rarely support a host name per bucket or the newer checksums of Amazon.
      ...(endpoint && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(credentials && { credentials }),
    });
    return { s3, lib };
  }
}

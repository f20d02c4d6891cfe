import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Settings } from './settings.ts';
import type { UploadStorage } from './upload-storage.ts';

/** A bucket of S3, or of whatever speaks like it. The library is large, and loaded only where there is a bucket. */
export class S3Storage implements UploadStorage {
  private readonly settings: S3Settings;
  private client: Promise<{ s3: S3Client; lib: typeof import('@aws-sdk/client-s3') }> | undefined;

  constructor(settings: S3Settings) {
    this.settings = settings;
  }

  async save(key: string, bytes: Buffer, contentType: string): Promise<void> {
    const { s3, lib } = await this.open();
    const object = { ...this.place(key), Body: bytes, ContentType: contentType };
    await s3.send(new lib.PutObjectCommand(object));
  }

  async read(key: string): Promise<Buffer | undefined> {
    const { s3, lib } = await this.open();
    try {
      const { Body } = await s3.send(new lib.GetObjectCommand(this.place(key)));
      return Body && Buffer.from(await Body.transformToByteArray());
    } catch (error) {
      if (error instanceof lib.NoSuchKey || (error as { name?: string }).name === 'NotFound') return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    const { s3, lib } = await this.open();
    await s3.send(new lib.DeleteObjectCommand(this.place(key)));
  }

  private place(key: string) {
    return { Bucket: this.settings.bucket, Key: key };
  }

  private open() {
    this.client ??= this.connect();
    return this.client;
  }

  private async connect() {
    const lib = await import('@aws-sdk/client-s3');
    const { region, endpoint, credentials } = this.settings;
    const s3 = new lib.S3Client({
      region,
      maxAttempts: 3,
      // Others than Amazon rarely have a name per bucket, and do not know its newer checksums.
      ...(endpoint && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(credentials && { credentials }),
    });
    return { s3, lib };
  }
}

// The worker of the baseline: one activity, which sends over a connection that is already open.
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createTransport } from 'nodemailer';
import { root } from '../dev/root.ts';
import { cachedBundle } from '../worker/bundle.ts';
import { receiptHtml, receiptText } from './mail-text.ts';

const { ADDRESS: address = '', NAMESPACE: namespace = '', SMTP: url = '' } = process.env;
const pool = createTransport({ pool: true, url, maxMessages: Number.POSITIVE_INFINITY } as never);

Runtime.install({ logger: new DefaultLogger('WARN') });
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue: 'bare',
  workflowBundle: await cachedBundle(join(root, 'bench/bare-workflow-code.ts')),
  activities: {
    send: async (to: string): Promise<void> => {
      const mail = {
        from: 'shop@bench.example',
        to,
        subject: 'Your receipt',
        html: receiptHtml('Ann'),
        text: receiptText('Ann'),
      };
      await pool.sendMail(mail);
    },
  },
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
await worker.run();

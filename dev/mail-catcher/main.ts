// Runs the mail catcher: node --import tsx dev/mail-catcher/main.ts <directory> <SMTP port> <HTTP port> [<port for reports>]
import { startCatcher } from './catcher.ts';

const [dir = '.everpost/mail', smtpPort = '1025', httpPort = '8025', returnedMailPort] = process.argv.slice(2);

async function main(): Promise<void> {
  const ports = { smtpPort: Number(smtpPort), httpPort: Number(httpPort) };
  const reports = returnedMailPort === undefined ? {} : { returnedMailPort: Number(returnedMailPort) };
  const catcher = await startCatcher({ dir, ...ports, ...reports });
  console.log(`catching mail on ${catcher.smtpUrl}, showing it on ${catcher.url}`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void catcher.stop().then(() => process.exit(0)));
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

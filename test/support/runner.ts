// What a mocha child asks its test runner (dev/test.ts). A mocha that was started by hand has no runner.
import type { FromChild, SharedServer, ToChild } from '../../dev/testing/messages.ts';

export const isRunnerChild: boolean = process.env.EVERPOST_TEST_CHILD !== undefined && process.send !== undefined;

export function sendToRunner(message: FromChild): void {
  process.send?.(message);
}

/** Returns the address of a server that all children share. */
export function sharedServer(server: SharedServer): Promise<string> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: ToChild) => {
      if (message.kind !== 'server' || message.server !== server) return;
      process.off('message', onMessage);
      if (message.address) resolve(message.address);
      else reject(new Error(message.error));
    };
    process.on('message', onMessage);
    sendToRunner({ kind: 'server', server });
  });
}

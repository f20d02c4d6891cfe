// Every page of the documentation, each on a new stack. `documentation.ci.ts` runs the first ones in CI.
import { pagesWithShellBlocks, startDocumentedStack } from '../support/documentation.ts';

describe('the shell blocks of a page, on a new stack', () => {
  for (const page of pagesWithShellBlocks())
    it(`succeed in ${page}`, async () => {
      const stack = await startDocumentedStack();
      try {
        await stack.run(page);
      } finally {
        await stack.stop();
      }
    });
});

// CommonJS, because mocha loads reporters with `require`.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

/**
 * The usual tree of titles, and as the last line the two numbers that CI reads. With
 * `--reporter-option result=<file>` it writes them to a file instead, and `dev/test.ts` sums them up.
 */
module.exports = class CountingSpec extends reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes: passed, failures: failed } = this.stats;
    const { result } = this.options.reporterOptions ?? {};
    if (!result) return console.log(`${passed} passed, ${failed} failed`);
    const failures = this.failures.map((test) => `${test.titlePath().join(' > ')}: ${reasonOf(test.err)}`);
    writeFileSync(result, JSON.stringify({ passed, failed, failures }));
  }
};

/** CI may show the last lines only, so they say why a test failed: with where, and what differed. */
function reasonOf(error) {
  const { message = String(error), stack = '', actual, expected } = error ?? {};
  const place = /\(?([^\s(]*\btest\/[^\s)]+:\d+:\d+)\)?/.exec(stack)?.[1] ?? 'an unknown place';
  const difference =
    actual === undefined && expected === undefined
      ? ''
      : ` [${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}]`;
  return `${message}${difference}, at ${place}`.replace(/\s+/g, ' ').slice(0, 1_000);
}

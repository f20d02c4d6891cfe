// A worker thread that asks for /health of every API again and again, so that a busy load generator does not distort the
// times. It posts the milliseconds of each probe, or those until it failed.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 100;

const probe = (url) =>
  new Promise((done) => {
    const began = performance.now();
    const finish = (isOk) => done({ ms: Math.round(performance.now() - began), isOk });
    const request = get(`${url}/health`, { timeout: TIMEOUT_MS }, (answer) => {
      answer.resume().on('end', () => finish(answer.statusCode === 200));
    });
    request.on('timeout', () => request.destroy(new Error('timeout'))).on('error', () => finish(false));
  });

async function watch(url) {
  for (;;) {
    parentPort.postMessage(await probe(url));
    await sleep(PAUSE_MS);
  }
}

for (const url of workerData) void watch(url);

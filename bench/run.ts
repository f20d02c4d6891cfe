// `npm run bench` runs all benchmarks, `npm run bench -- accept` the named ones.

import { textTable } from '../dev/text-table.ts';
import { endAll } from '../test/support/cleanup.ts';
import { acceptBench } from './accept.ts';
import { actionsBench } from './actions.ts';
import type { Bench, Measure } from './bench.ts';
import { campaignsBench } from './campaigns.ts';
import { contactsBench } from './contacts.ts';
import { deliveryBench } from './delivery.ts';
import { eventsBench } from './events.ts';
import { growthBench } from './growth.ts';
import { idleBench } from './idle.ts';
import { importBench } from './import.ts';
import { latencyBench } from './latency.ts';
import { memoryBench } from './memory.ts';
import { millionBench } from './million.ts';
import { pagesBench } from './pages.ts';
import { peersBench } from './peers.ts';
import { renderBench } from './render.ts';
import { segmentsBench } from './segments.ts';
import { topicsBench } from './topics.ts';
import { trackingBench } from './tracking.ts';
import { webhooksBench } from './webhooks.ts';
import { wholeBench } from './whole.ts';
import { workflowVersionsBench } from './workflow-versions.ts';
import { workflowsBench } from './workflows.ts';

const benches: Bench[] = [
  acceptBench,
  actionsBench,
  campaignsBench,
  contactsBench,
  deliveryBench,
  eventsBench,
  growthBench,
  idleBench,
  importBench,
  latencyBench,
  memoryBench,
  millionBench,
  pagesBench,
  peersBench,
  renderBench,
  segmentsBench,
  topicsBench,
  trackingBench,
  webhooksBench,
  wholeBench,
  workflowsBench,
  workflowVersionsBench,
];

async function run(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0)
    throw new Error(`No benchmark ${unknown.join(', ')}; there are ${benches.map((bench) => bench.name).join(', ')}.`);
  const results: Record<string, Measure[]> = {};
  const isWanted = ({ name, onlyByName }: Bench) => (wanted.length === 0 ? !onlyByName : wanted.includes(name));
  for (const bench of benches.filter(isWanted)) {
    console.error(`${bench.name}: ${bench.about}`);
    results[bench.name] = await bench.run((line) => console.error(`  ${line}`));
  }
  print(results);
  console.log(JSON.stringify({ node: process.version, arch: process.arch, results }));
}

function print(results: Record<string, Measure[]>): void {
  const header = ['benchmark', 'what', 'ours', 'baseline', 'unit', 'ratio', 'aim'];
  const rows = Object.entries(results).flatMap(([name, measures]) =>
    measures.map(({ what, ours, baseline, unit, ratio, aim }) =>
      [name, what, ours, baseline, unit, ratio, aim ?? ''].map(String),
    ),
  );
  for (const line of textTable(header, rows)) console.log(line);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAll().finally(() => process.exit(1)));

run()
  .catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(endAll);

// Ours beside the bare limits of the same machine, in turns: what docs/capacity.md calls the speed of the whole.
import type { Bench, Measure } from './bench.ts';
import { idleBench } from './idle.ts';
import { importBench } from './import.ts';
import { memoryBench } from './memory.ts';
import { wholeBench } from './whole.ts';

/** The rows of other benchmarks that count here, by the beginning of what they measure, with the aims of the whole. */
const AIMS: [what: RegExp, aim: string][] = [
  [/^campaign to \d+ through the API$/, '>= 1.35'],
  [/^mails delivered meanwhile$/, '>= 0.8'],
  [/^import of \d+ rows$/, '>= 0.5'],
  [/^API and worker, idle$/, 'ours <= baseline + 2'],
  [/^memory of the /, '<= 1.2'],
];

export const peersBench: Bench = {
  name: 'peers',
  about: 'campaign, transactional mail, import, idle cost and memory compared with the bare limits of this machine',
  onlyByName: true,
  async run(progress) {
    const measures: Measure[] = [];
    for (const bench of [wholeBench, importBench, idleBench, memoryBench])
      measures.push(...(await bench.run((line) => progress(`${bench.name}: ${line}`))));
    return AIMS.flatMap(([what, aim]) => measures.filter((row) => what.test(row.what)).map((row) => ({ ...row, aim })));
  },
};

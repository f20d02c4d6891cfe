// Finds the time-skipping test server: in a setting, in the cache, by download, or by Maven with a wrapper script.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cached } from './cache.ts';
import { accepts, freePort } from './ports.ts';
import { type ReportProgress, withProgress } from './report.ts';
import { isExecutable, onPath, runCommand } from './run.ts';
import { firstWorkingStrategy } from './strategies.ts';
import { sdkDownload } from './temporal-sdk-download.ts';

const VERSION = '1.38.0';
const CACHE_NAME = `temporal-test-server/${VERSION}-${process.platform}-${process.arch}`;
const FILE_NAME = 'temporal-test-server';

const HELP = `There is no time-skipping Temporal test server on this machine, and none could be fetched. Any one of these helps:
  - install a JDK and Maven (\`java\` and \`mvn\` on the PATH), then this command fetches the server by itself, once
  - let this machine reach https://temporal.download (x86_64 only)
  - name the binary in TEMPORAL_TEST_SERVER_PATH`;

export async function findTestServer(report: ReportProgress): Promise<string> {
  const named = process.env.TEMPORAL_TEST_SERVER_PATH;
  if (named) {
    if (!isExecutable(named)) {
      throw new Error(`TEMPORAL_TEST_SERVER_PATH names ${named}, which is not an executable file.`);
    }
    report(`Temporal test server: ${named} (TEMPORAL_TEST_SERVER_PATH)`);
    return named;
  }
  const wasCached = existsSync(join(cacheDir(), CACHE_NAME));
  if (!wasCached) report('Temporal test server: not on this machine yet');
  const dir = await cached(CACHE_NAME, report, (into) => fetchTestServer(into, report));
  const file = join(dir, FILE_NAME);
  if (wasCached) report(`Temporal test server: ${file} (from the cache)`);
  if (existsSync(join(dir, 'lib')) && !onPath('java')) {
    throw new Error(`The Temporal test server in ${dir} needs \`java\`, which is no longer on the PATH.`);
  }
  return file;
}

async function fetchTestServer(dir: string, report: ReportProgress): Promise<void> {
  const target = join(dir, FILE_NAME);
  const download = async () => {
    if (process.arch !== 'x64') throw new Error('it is offered for x86_64 only');
    await sdkDownload('test-server', target, report);
  };
  const strategies = [
    { name: "the SDK's download", run: download },
    { name: 'Maven', run: () => fetchWithMaven(dir, target, report) },
  ];
  await firstWorkingStrategy(strategies, report, HELP);
  await warmUp(target);
}

async function fetchWithMaven(dir: string, target: string, report: ReportProgress): Promise<void> {
  const mvn = onPath('mvn');
  if (!mvn || !onPath('java')) throw new Error(`${mvn ? 'java' : 'mvn'} is not on the PATH`);
  const pom = join(dir, 'pom.xml');
  writeFileSync(pom, POM);
  const goals = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(dir, 'lib')}`];
  let current = 'resolving';
  await withProgress(
    report,
    `  fetching io.temporal:temporal-test-server:${VERSION} with Maven (once; 38 MB)`,
    () =>
      runCommand(mvn, ['-B', '-f', pom, ...goals], {
        cwd: dir,
        onLine: (line) => {
          current = line.trim().slice(0, 100);
        },
      }),
    () => current,
  );
  rmSync(pom);
  writeFileSync(target, WRAPPER);
  chmodSync(target, 0o755);
}

/** Starts the server once: reading its forty jars can take longer than the five seconds that the SDK allows. */
export async function warmUp(testServer: string): Promise<void> {
  const port = await freePort();
  const server = spawn(testServer, [String(port)], { stdio: 'ignore' });
  await once(server, 'spawn');
  const ended = once(server, 'exit');
  try {
    await accepts(port, 60_000, () => server.exitCode === null && server.signalCode === null);
  } finally {
    server.kill('SIGKILL');
    await ended;
  }
}

const dependency = (group: string, artifact: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

// slf4j-nop silences the warning of SLF4J about a missing log provider.
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>everpost</groupId><artifactId>temporal-test-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${dependency('io.temporal', 'temporal-test-server', VERSION)}
    ${dependency('org.slf4j', 'slf4j-nop', '1.7.36')}
  </dependencies>
</project>
`;

const WRAPPER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd) || exit 1
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

import { spawnSync } from 'node:child_process';

/** Advisories that do not concern this program, by their id or URL, each with its reason. */
const EXPLAINED: Record<string, string> = {};

export type AuditResult = { kind: 'unreachable'; reason: string } | { kind: 'checked'; advisories: string[] };

interface AuditReport {
  message?: string;
  vulnerabilities?: Record<string, { severity: string; via: (string | { url?: string; title?: string })[] }>;
}

/** Asks the registry for known vulnerabilities of the installed packages. */
export function auditPackages(root: string): AuditResult {
  const { stdout, stderr } = spawnSync('npm', ['audit', '--json'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  return readAudit(stdout, stderr);
}

export function readAudit(stdout: string, stderr = ''): AuditResult {
  let report: AuditReport;
  try {
    report = JSON.parse(stdout) as AuditReport;
  } catch {
    return { kind: 'unreachable', reason: stderr.trim().split('\n').at(-1) ?? 'no answer' };
  }
  if (!report.vulnerabilities) return { kind: 'unreachable', reason: report.message ?? 'the answer has no result' };
  const advisories = Object.entries(report.vulnerabilities).flatMap(([name, { severity, via }]) =>
    via.flatMap((cause) => {
      // A text names the dependency that is listed itself.
      if (typeof cause === 'string' || (cause.url && cause.url in EXPLAINED)) return [];
      return [`${name} (${severity}): ${cause.title} ${cause.url}`];
    }),
  );
  return { kind: 'checked', advisories };
}

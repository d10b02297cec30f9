/** `warning`: works, but should be looked at. `problem`: does not work, or will stop working. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** What one check of `doctor` found. Contains no secret. */
export interface Finding {
  /** What was checked, in one or two words. */
  check: string;
  verdict: Verdict;
  detail: string;
  /** What to do; null when there is nothing to do. */
  next: string | null;
}

export const ok = (check: string, detail: string, next: string | null = null): Finding => ({
  check,
  verdict: 'ok',
  detail,
  next,
});
export const warning = (check: string, detail: string, next: string): Finding => ({ check, verdict: 'warning', detail, next });
export const problem = (check: string, detail: string, next: string): Finding => ({ check, verdict: 'problem', detail, next });

const MARKS: Record<Verdict, string> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' };

/** The findings as a list for people, next steps below each. */
export function describeFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map((finding) => finding.check.length));
  const indent = ' '.repeat(MARKS.ok.length + width + 4);
  const lines = findings.flatMap(({ check, verdict, detail, next }) => [
    `${MARKS[verdict]}  ${check.padEnd(width)}  ${detail.replaceAll('\n', `\n${indent}`)}`,
    ...(next === null ? [] : [`${indent}→ ${next.replaceAll('\n', `\n${indent}  `)}`]),
  ]);
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const summary =
    problems + warnings === 0
      ? 'Everything is in order.'
      : `${problems} problem${problems === 1 ? '' : 's'}, ${warnings} warning${warnings === 1 ? '' : 's'}.`;
  return [...lines, '', summary].join('\n');
}

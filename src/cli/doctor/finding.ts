import type { App } from '../../core/app.ts';
import { listSquads } from '../../domain/catalog/find-squads.ts';
import { effectiveSquads, findTrialTariff } from '../../domain/catalog/find-tariff.ts';
import { listTariffs } from '../../domain/catalog/tariffs.ts';
import { trialSquadCandidates } from '../../domain/subscriptions/rules/trial.ts';

/** `warning`: works, but should be looked at. `problem`: does not work, or will stop working. */
type Verdict = 'ok' | 'warning' | 'problem';

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

/** What the service sells, as far as the panel must have it. Lists hold squad uuids. */
export interface SaleFacts {
  /** Servers, on sale or not; 0 = the squads of the panel were never read. */
  servers: number;
  /** Names of active tariffs that give no server. */
  emptyTariffs: string[];
  activeTariffs: number;
  /** One of these is given to a trial; null = there are no trials. */
  trialSquads: string[] | null;
  /** Squads that somebody can get by a purchase or a trial. */
  usableSquads: string[];
  /** Of all tariffs, active or not. */
  externalSquads: { tariff: string; uuid: string }[];
}

/** Reads it from the database and the settings, by the rules of purchases and trials. */
export async function readSaleFacts(app: Pick<App, 'db' | 'settings'>): Promise<SaleFacts> {
  const [listed, servers, trialTariff] = await Promise.all([
    listTariffs(app, { includeInactive: true }),
    listSquads(app),
    findTrialTariff(app),
  ]);
  const active = listed.filter(({ tariff }) => tariff.isActive);
  const hasTrials = app.settings.get('TRIAL_DURATION_DAYS') > 0 && app.settings.get('TRIAL_DISABLED_FOR') !== 'all';
  const named = servers.filter(({ squadUuid }) => trialTariff?.allowedSquads.includes(squadUuid));
  const forTrials = (named.length > 0 ? named : trialSquadCandidates(servers)).map((server) => server.squadUuid);
  const trialSquads = hasTrials ? forTrials : null;
  const sold =
    app.settings.get('SALES_MODE') === 'classic'
      ? servers.filter((server) => server.isAvailable).map((server) => server.squadUuid)
      : active.flatMap(({ tariff }) => effectiveSquads(tariff, servers));
  return {
    servers: servers.length,
    emptyTariffs: active.filter(({ serversCount }) => serversCount === 0).map(({ tariff }) => tariff.name),
    activeTariffs: active.length,
    trialSquads,
    usableSquads: [...new Set([...sold, ...(trialSquads ?? [])])],
    externalSquads: listed.flatMap(({ tariff }) =>
      tariff.externalSquadUuid === null ? [] : [{ tariff: tariff.name, uuid: tariff.externalSquadUuid }],
    ),
  };
}

/** Whether each tariff and the trial give a server; without one they are not offered, and buying them is refused (08 P5). */
export function checkSales({ servers, emptyTariffs, activeTariffs, trialSquads }: SaleFacts): Finding[] {
  // Before the first start with a panel nothing can be sold yet, and nothing is wrong.
  const fault = servers === 0 ? warning : problem;
  const next = 'POST /servers/sync reads the squads of the panel; then put servers on sale, or name servers in the tariff.';
  const tariffs =
    emptyTariffs.length > 0
      ? fault('tariffs', `without any server, so they cannot be sold: ${emptyTariffs.join(', ')}`, next)
      : ok('tariffs', `${activeTariffs} active, each with servers`);
  if (trialSquads === null) return [tariffs, ok('trial', 'there are no trials')];
  const nextOfTrial =
    'Allow trials on a server, name servers in the trial tariff, or switch trials off (TRIAL_DISABLED_FOR=all).';
  return [tariffs, trialSquads.length === 0 ? fault('trial', 'gives no server', nextOfTrial) : ok('trial', 'has servers')];
}

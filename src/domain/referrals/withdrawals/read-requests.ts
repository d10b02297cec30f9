import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { findReferralUser } from '../repo.ts';
import {
  countRequests,
  findRequestDetail,
  type ListedRequest,
  listRequests,
  type RequestDetail,
  type RequestTotals,
} from './admin-repo.ts';
import { refusedToAdmin, withdrawalNotFound } from './errors.ts';
import { analysisIn, parseAnalysis } from './risk-analysis.ts';
import { type RiskLevel, riskLevel } from './risk-rules.ts';
import type { WithdrawalStatus } from './types.ts';

type WithLevel<Row> = Row & { riskLevel: RiskLevel };

/** Requests of all users, newest first (spec 03 section 6). What is pending is counted whatever the filter. */
export async function listWithdrawals(
  app: App,
  { status = null, ...slice }: { status?: WithdrawalStatus | null | undefined; limit: number; offset: number },
): Promise<RequestTotals & { items: WithLevel<ListedRequest>[] }> {
  const [items, totals] = await Promise.all([listRequests(app.db, status, slice), countRequests(app.db, status)]);
  return { ...totals, items: items.map((item) => ({ ...item, riskLevel: riskLevel(item.riskScore) })) };
}

export interface WithdrawalDetail extends Omit<WithLevel<RequestDetail>, 'riskAnalysis'> {
  /** Null where none is stored, or none that can be read. */
  riskAnalysis: Record<string, unknown> | null;
}

/** One request with its analysis. @throws AppError 404 */
export async function readWithdrawal(app: App, actor: AdminActor, id: number): Promise<WithdrawalDetail> {
  const found = await findRequestDetail(app.db, id);
  if (!found) throw await refusedToAdmin(app, actor, withdrawalNotFound);
  const analysis = parseAnalysis(found.riskAnalysis);
  const reader = await findReferralUser(app.db, actor.userId);
  const language = reader?.language ?? app.settings.get('DEFAULT_LANGUAGE');
  return { ...found, riskLevel: riskLevel(found.riskScore), riskAnalysis: analysis && analysisIn(language, analysis) };
}

import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { csvLine } from '../../../core/csv.ts';
import { refusal } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { findUserById } from '../../identity/find-user.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { text } from '../../messaging/texts.ts';
import { findUsers, openView, readUsers, type TrafficFilters, type TrafficView, type UserTraffic } from './read-traffic.ts';
import { gibOf, type RangeRequest, type RiskThresholds, riskOf } from './rules.ts';

export const noMessengerId = refusal('no_messenger_id', 400, 'Admin has no messenger ID configured');
export const exportNotSent = refusal('export_not_sent', 502, 'Failed to send CSV report. Please try again later.');

/** Bounds of a file: users, those with the most traffic first, and characters; the messenger takes 50 MB. */
const MOST_USERS = 100_000;
const MOST_CHARACTERS = 20_000_000;
const ROWS_AT_ONCE = 1_000;

const COLUMNS = [
  ...['User ID', 'Messenger ID', 'Username', 'Email', 'Full Name', 'Tariff', 'Status', 'Traffic Limit (GB)', 'Device Limit'],
  ...['Connected Devices', 'Total Spent (RUB)', 'Sub Start', 'Sub End', 'Last Node'],
];
const RISK_COLUMNS = ['Total GB/day', 'Risk Level', 'Risk Ratio', 'Risk GB/day'];

export type TrafficExport = RangeRequest & TrafficFilters & { totalThresholdGb: number | null; nodeThresholdGb: number | null };

/**
 * Sends the traffic of the users as a CSV file to the administrator's own chat (spec 06 section 5).
 * @returns the number of users in the file
 * @throws AppError 400 no messenger id, range | 502 the panel, or the messenger, gives no answer
 */
export async function exportTraffic(app: App, actor: AdminActor, request: TrafficExport): Promise<number> {
  const admin = await findUserById(app, actor.userId);
  if (!admin || admin.messengerId === null) throw noMessengerId();
  const view = await openView(app, request, null, true);
  const order = { key: 'total_bytes', isDescending: true } as const;
  const { ids, total } = await findUsers(app, view, order, { limit: MOST_USERS, offset: 0 });
  const { file, users } = await writeFile(app, view, ids, { total: request.totalThresholdGb, node: request.nodeThresholdGb });
  const stamp = app.clock.now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
  const caption = text(admin.language, 'messages.traffic_report', {
    period: view.range.label,
    users: users < total ? `${users} / ${total}` : users,
  });
  const name = `traffic_usage_${view.range.label}_${stamp}.csv`;
  try {
    const document = { name, contentType: 'text/csv', bytes: Buffer.from(file) };
    await app.ports.messenger.sendFile(admin.messengerId, 'document', document, caption);
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    app.log.warn({ failure: error.failure.kind }, 'traffic: the file could not be sent');
    throw exportNotSent({ cause: error });
  }
  app.audit?.record({ after: { users, period: view.range.label } });
  return users;
}

async function writeFile(
  app: App,
  view: TrafficView,
  ids: readonly number[],
  thresholds: RiskThresholds,
): Promise<{ file: string; users: number }> {
  const hasRisk = Boolean(thresholds.total) || Boolean(thresholds.node);
  const head = [...COLUMNS, ...view.shownNodes.map((node) => `${node.name} (bytes)`), 'Total (bytes)', 'Total (GB)'];
  const lines = [csvLine([...head, ...(hasRisk ? RISK_COLUMNS : [])])];
  let characters = lines[0]!.length;
  for (let at = 0; at < ids.length && characters < MOST_CHARACTERS; at += ROWS_AT_ONCE) {
    for (const user of await readUsers(app, view, ids.slice(at, at + ROWS_AT_ONCE))) {
      const row = csvLine([...cellsOf(user, view), ...(hasRisk ? riskCells(user, view, thresholds) : [])]);
      characters += row.length;
      lines.push(row);
    }
  }
  // The mark makes spreadsheets read UTF-8.
  return { file: `\uFEFF${lines.join('')}`, users: lines.length - 1 };
}

function cellsOf(user: UserTraffic, { shownNodes }: TrafficView): (string | number | null)[] {
  return [
    ...[user.id, user.messengerId, user.username, user.email, user.fullName, user.tariffName, user.subscriptionStatus],
    ...[user.trafficLimitGb, user.deviceLimit, user.devicesConnected, rublesOf(user.totalSpentKopeks)],
    ...[user.startDate?.toISOString() ?? null, user.endDate?.toISOString() ?? null, user.lastNodeName],
    ...shownNodes.map((node) => user.nodeTraffic[node.uuid] ?? 0),
    ...[user.totalBytes, gibOf(user.totalBytes)],
  ];
}

function riskCells(user: UserTraffic, { range }: TrafficView, thresholds: RiskThresholds): string[] {
  const risk = riskOf(user.totalBytes, Object.values(user.nodeTraffic), range.periodDays, thresholds);
  return [risk.totalGbPerDay.toFixed(4), risk.level, risk.ratio.toFixed(3), risk.gbPerDay.toFixed(4)];
}
